"""What must hold for every document, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ragchat.documents.document import Block, Document, Section, Span
from ragchat.documents.reader import parse_document


def read(source: str | bytes, name: str = "note.md") -> Document:
    """The document of a file that must be readable."""
    # A mark in front: four bytes with a zero among them may as well be UTF-16, which is not the point here.
    data = source.encode("utf-8-sig") if isinstance(source, str) else source
    document = parse_document(data, name)
    assert isinstance(document, Document), document
    return document


def words(document: Document, part: Span | Block | Section) -> str:
    return document.text[part.start : part.end]


def check_laws(document: Document) -> None:
    length = len(document.text)
    for ranges in (document.blocks, document.sections, document.silent, document.excluded):
        _check_order(ranges, length)
    _check_partition(document)
    _check_nothing_lost(document)
    for block in document.blocks:
        assert words(document, block) == words(document, block).strip() != ""
        assert any(section.start <= block.start and block.end <= section.end for section in document.sections)
    code = [Span(block.start, block.end) for block in document.blocks if block.kind == "code"]
    _check_order(sorted([*document.silent, *code, *document.excluded]), length)
    document.text.encode("utf-8")
    document.title.encode("utf-8")
    for label in (document.title, *(label for section in document.sections for label in section.path)):
        assert label == " ".join(label.split()) != ""
        assert label.isprintable() or "\u200c" in label or "\u200d" in label


def _check_order(ranges: Sequence[Span | Block | Section], length: int) -> None:
    at = 0
    for part in ranges:
        assert at <= part.start < part.end <= length, part
        at = part.end


def _check_partition(document: Document) -> None:
    """The sections make up the body without a gap; the body is all but the front matter."""
    if not document.sections:
        assert not document.text or document.excluded[0].end == len(document.text)
        return
    start = document.sections[0].start
    assert start == 0 or document.excluded[0].start == 0 <= start <= document.excluded[0].end
    for section, following in zip(document.sections, document.sections[1:], strict=False):
        assert section.end == following.start
    assert document.sections[-1].end == len(document.text)
    assert all(section.start <= section.body_start <= section.end for section in document.sections)


def _check_nothing_lost(document: Document) -> None:
    """Every character that is no blank lies in exactly one block or excluded range."""
    kept = sorted([(block.start, block.end) for block in document.blocks])
    kept = sorted([*kept, *((span.start, span.end) for span in document.excluded)])
    at = 0
    for start, end in kept:
        assert at <= start, (at, start)
        assert not document.text[at:start].strip(), document.text[at:start]
        at = end
    assert not document.text[at:].strip(), document.text[at:]


_FRAGMENTS = (
    "# Heading",
    "## Second *level* ##",
    "Setext\n===",
    "two lines\nabove a rule\n---",
    "#",
    "plain words of a paragraph. And a second sentence.",
    "- item\n  - inner item\n\n    more of it\n- last",
    "1. one\n2. two",
    "> quoted\n>\n> # not a section\n> - item",
    "| a | b |\n|---|:-:|\n| 1 | 2 |",
    "```python\n# no heading\n[a](b)\n```",
    "~~~\nunclosed",
    "    # indented code",
    "<div>\n<p>html</p>\n</div>",
    "<!-- a comment\n\n# in it -->",
    "<!-- only -->",
    "[ref]: https://example.org 'title'",
    'see [ref], [label](target "t"), ![alt](i.png), [[Page|shown]] and <https://a.b>',
    '{{< figure src="a" >}} {% raw %} text',
    "**bold** `code [x](y)` \\[no](link) ~~gone~~",
    "---",
    "***",
    "+++",
    "---\ntitle: A\n# comment\nkey: 1\n---",
    "-",
    ">",
    "[^1]: a footnote\n\n    its second paragraph",
    "data:image/png;base64," + "iVBORw0KGgo" * 30,
    "日本語の段落。二つ目の文。",
    "\x0b\x0c\u2028\x85 odd \0 breaks \x1b[2J",
    "\t- tab\n\t\t- tabs",
    "",
)

markdown_texts = st.lists(
    st.one_of(
        st.sampled_from(_FRAGMENTS), st.text(st.sampled_from("#-=>*_`[]()!<>{}%|\\~+: \n\tab1é語\0\u2028"))
    ),
    max_size=12,
).flatmap(lambda parts: st.sampled_from(["\n", "\n\n"]).map(lambda joint: joint.join(parts)))
"""Texts made of everything Markdown has, well formed and not; lines end in LF."""
