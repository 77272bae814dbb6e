"""Tags and dates of a note: front matter, hashtags, Org, mail, file names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.documents.dates import date_in_name, written_date
from ragchat.documents.document import Document
from ragchat.documents.front_matter import front_matter
from ragchat.documents.markdown import parse as parse_markdown
from ragchat.documents.org import parse as parse_org
from ragchat.documents.reader import open_reader
from ragchat.settings import NotesSettings


def markdown(text: str) -> Document:
    document = parse_markdown(text.encode(), "a.md", "d" * 64)
    assert isinstance(document, Document)
    return document


@pytest.mark.parametrize(
    ("lines", "tags"),
    [
        ("tags: [tax, 'two words', \"a, b\"] # three", ("tax", "two words", "a, b")),
        ('tags:\n  - tax\n  - "house/rent" # why', ("tax", "house/rent")),
        ("tags:\n- tax\n- '#work'\ntitle: T", ("tax", "work")),
        ("tags: [\n  tax,\n  work\n]", ("tax", "work")),
        ("tags: tax, two words", ("tax", "two words")),
        ("tags: tax work", ("tax", "work")),
        ("Tags: Tax\ntag: tax", ("Tax",)),
        ("keywords: income tax", ("income tax",)),
        ("tags:", ()),
        ("tags: []", ()),
        ("tags: ~", ()),
        ("title: tags: none", ()),
        ("nested:\n  tags: [no]", ()),
        ("tags: [税金, e\u0301te\u0301]", ("税金", "\xe9t\xe9")),
        ("tags: [\"\\u001b[2J\", 'a\x07b']", ("u001b[2J", "ab")),
    ],
)
def test_what_the_front_matter_lists(lines: str, tags: tuple[str, ...]) -> None:
    assert markdown(f"---\n{lines}\n---\n\nwords\n").tags == tags
    assert markdown(f"---\n{lines}\n---\n\nwords\n".replace("\n", "\r\n")).tags == tags


def test_toml_front_matter() -> None:
    found = front_matter('+++\ntags = ["tax", "rent"]\ndate = 2025-01-31\n[taxonomies]\n+++\nwords')
    assert found is not None
    assert (found.tags, found.dated) == (("tax", "rent"), "2025-01-31")


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("On #tax and (#work/2025), #Tax again.", ("tax", "work/2025")),
        ("#tag at the beginning\n\n- #listed\n> #quoted", ("tag", "listed", "quoted")),
        ("## A heading #done\n\ntext", ("done",)),
        ("| #cell | b |\n|---|---|\n| c | #other |", ("cell", "other")),
        ("C# and a#b and issue #12, `#code` and ``#`more``", ()),
        ("[words](#anchor) and [x](page.html#part) https://e.org/#top", ()),
        ("```c\n#include <a>\n```\n\n    #indented", ()),
        ('<div id="#no">\n<p>#html</p>\n</div>', ()),
        ("#税金 #дом #é", ("税金", "дом", "é")),
        ("#trailing- #slash/ #_", ("trailing", "slash")),
    ],
)
def test_hashtags_are_words_of_the_text(body: str, tags: tuple[str, ...]) -> None:
    assert markdown(f"{body}\n").tags == tags


@given(st.text(alphabet="#ab`[]()<> \n-12\\\"'", max_size=80))
def test_any_text_has_tidy_tags(text: str) -> None:
    for tag in markdown(text).tags:
        assert tag == tag.strip()
        assert not tag.startswith("#")
        assert "\n" not in tag


def test_a_list_without_end_is_cut() -> None:
    tags = ", ".join(f"tag{number}" for number in range(1_000))
    assert len(markdown(f"---\ntags: [{tags}, {'x' * 500}]\n---\nwords").tags) == 200


def test_org_has_the_files_tags_and_the_headings() -> None:
    source = "#+TITLE: T\n#+FILETAGS: :tax:rent:\n#+DATE: <2025-01-31 Fri>\n* Heading :work:tax:\nwords\n"
    document = parse_org(source.encode(), "a.org", "d" * 64)
    assert isinstance(document, Document)
    assert (document.tags, document.dated) == (("tax", "rent", "work"), "2025-01-31")
    assert document.sections[-1].path == ("Heading",)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2025-01-31", "2025-01-31"),
        ("2025-01-31T23:30:00-08:00", "2025-01-31"),
        ("'2025/01/31 10:00'", "2025-01-31"),
        ("20250131", "2025-01-31"),
        ("[2025-01-31 Fri]", "2025-01-31"),
        ("2025-01", "2025-01-01"),
        ("2025", "2025-01-01"),
        ("2025-02-30", ""),
        ("31.01.2025", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_as_metadata_writes_them(written: str, day: str) -> None:
    assert written_date(written) == day


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2025-01-31.md", "2025-01-31"),
        ("journal/2025-01-31 Tax.md", "2025-01-31"),
        ("tax_2025_01_31.md", "2025-01-31"),
        ("20250131-tax.md", "2025-01-31"),
        ("202501311200 zettel.md", "2025-01-31"),
        ("20250131120059.md", "2025-01-31"),
        ("mail/2025-03.md", "2025-03-01"),
        ("2025-01-31/note.md", ""),
        ("2025.md", ""),
        ("1234567890.md", ""),
        ("E2025-13-01.md", ""),
        ("note.md", ""),
    ],
)
def test_dates_in_names(name: str, day: str) -> None:
    assert date_in_name(name) == day


@given(st.text(max_size=60))
def test_any_name_has_a_day_or_none(name: str) -> None:
    assert len(date_in_name(name)) in (0, 10)
    assert len(written_date(name)) in (0, 10)


def test_mail_is_of_the_day_it_was_sent(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(
        b"From: a@b.org\r\nDate: Fri, 31 Jan 2025 23:30:00 -0800\r\nSubject: T\r\n\r\nwords\r\n"
    )
    (tmp_path / "b.eml").write_bytes(b"From: a@b.org\r\nDate: some day\r\nSubject: T\r\n\r\nwords\r\n")
    with open_reader(NotesSettings()) as read:
        documents = [read(tmp_path / name, name, max_bytes=10**6) for name in ("a.eml", "b.eml")]
    assert [each.dated for each in documents if isinstance(each, Document)] == ["2025-01-31", ""]
