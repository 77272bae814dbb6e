"""Laws of documents, over generated Markdown, text and pages, and over arbitrary bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.documents.document import Document
from ragchat.documents.reader import parse_document
from tests.documents.laws import check_laws, markdown_texts, read


@given(markdown_texts)
@settings(max_examples=150, deadline=None)
def test_every_markdown_text_obeys_the_laws(text: str) -> None:
    document = read(text)
    assert document.text == text
    check_laws(document)


@given(markdown_texts)
@settings(max_examples=120, deadline=None)
def test_cr_lf_and_crlf_give_the_same_sections_and_blocks(text: str) -> None:
    shapes = []
    for line_end in ("\n", "\r", "\r\n"):
        document = read(text.replace("\n", line_end))
        shapes.append(
            (
                document.title,
                [section.path for section in document.sections],
                [
                    (block.kind, document.text[block.start : block.end].replace(line_end, "\n"))
                    for block in document.blocks
                ],
                [document.text[span.start : span.end].replace(line_end, "\n") for span in document.silent],
            )
        )
    assert shapes[0] == shapes[1] == shapes[2]


@given(markdown_texts, st.sampled_from(["note.txt", "page.html"]))
@settings(max_examples=120, deadline=None)
def test_text_and_pages_obey_the_laws(text: str, name: str) -> None:
    check_laws(read(text, name))


_TAGS = st.sampled_from(
    "p div h1 h3 ul ol li table tr td th pre b a "  # noqa: SIM905 - the formatter gives a list a line a tag
    "blockquote script title head body br img nav span".split()
)
_MARKUP = st.lists(
    st.one_of(
        _TAGS.map("<{}>".format),
        _TAGS.map("</{}>".format),
        st.sampled_from(
            ["words ", "\n", "&amp;", "&nbsp;", "<!-- c -->", "<", "\0", "é", "<td hidden>", "<?pi?>"]
        ),
    ),
    max_size=40,
).map("".join)


@given(_MARKUP)
@settings(max_examples=150, deadline=None)
def test_every_page_however_broken_obeys_the_laws(markup: str) -> None:
    document = read(markup, "page.html")
    assert document.stored
    check_laws(document)


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.txt", "a.html", "a"]))
@settings(max_examples=150, deadline=None)
def test_any_bytes_give_a_document_or_a_reason(data: bytes, name: str) -> None:
    document = parse_document(data, name)
    if isinstance(document, Document):
        check_laws(document)
        if not document.stored:
            assert data.decode(document.encoding).removeprefix("\ufeff") == document.text
    else:
        assert "failed on it" not in document.reason
        assert document.reason
        assert document.hint


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n", "\ufeff"])
def test_an_empty_file_is_an_empty_document(name: str, text: str) -> None:
    document = read(text.encode(), name)
    assert document.blocks == ()
    assert document.title == "a"
