"""HTML as readable text: what a reader of the page sees, with its headings as sections.

The canonical text is built here, so the index must keep it. Scripts, styles, navigation, hidden parts and
comments are left out; nothing is fetched and no entity of a document type is expanded. The tree is walked
without recursion, because pages nest thousands deep.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.labels import plain_label
from ragchat.documents.page import Page
from ragchat.documents.reading import Reading, UnreadableError
from ragchat.documents.tables import naming_rows

EXTRACTOR = "html/2"

_REPAIR = "open it in a browser and save it again, or as text"

_DECLARED = re.compile(
    rb"<\?xml[^<>]*?encoding\s*=\s*[\"']([\w.:-]+)|<meta[^<>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)",
    re.IGNORECASE,
)
_LOOK_FOR_DECLARATION = 65_536
# In XHTML an empty element may close itself; the HTML parser would take the rest of the page as its content.
_CLOSES_ITSELF = re.compile(
    r"<(a|div|iframe|p|script|span|style|textarea|title)\b((?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*?)/>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*+)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>")
# libxml2 compares every attribute of a tag with every other.
_GIANT_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9]*+)[^<>]{65536,}+>")
_DATA_ADDRESS = re.compile(r"\bdata:[^\"'<>\s]{1000,}+")
_DOCUMENT_TYPE = re.compile(r"<!DOCTYPE[^<>\[]*+(?:\[[^\]]*+\]\s*+)?>", re.IGNORECASE)
# Written as words, because the formatter would give each name a line of its own.
_LEFT_OUT = frozenset(
    "script style head noscript template iframe object embed svg canvas audio video nav "  # noqa: SIM905
    "button select textarea input datalist annotation".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt "  # noqa: SIM905
    "fieldset figcaption figure footer form header hgroup hr legend li main ol p pre section summary "
    "table tbody td tfoot th thead tr ul h1 h2 h3 h4 h5 h6".split()
)
_FLAT = frozenset(["p", "br", "script", "style", "title", "html", "head"])
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NO_DATA_TABLE = ("table", "ul", "ol", "pre", "blockquote", *_HEADINGS)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def parse(data: bytes, name: str, digest: str, _reading: Reading) -> Document | FailedDocument:
    """An HTML file as a document of readable text, or why it is none."""
    decoded = decode(data, declared=_declared_encoding(data))
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    page = Page()
    title = put_html(decoded.text, page)
    return page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=title, encoding=decoded.encoding)


def put_html(source: str, page: Page) -> str:
    """Put what a reader of the HTML sees into the page; returns its title, "" for none.

    Raises UnreadableError for what is nested too deep.
    """
    root = _tree(source)
    if root is None:
        return ""
    _walk(root, page)
    return _title(root)


def _declared_encoding(data: bytes) -> str:
    found = _DECLARED.search(data, 0, _LOOK_FOR_DECLARATION)
    return (found.group(1) or found.group(2)).decode("ascii", "replace") if found else ""


def _tree(source: str) -> Any:
    """The page's root element, or None for a page without any. Raises UnreadableError."""
    source = _DOCUMENT_TYPE.sub("", source, count=1)
    source = _GIANT_TAG.sub(r"<\1>", _DATA_ADDRESS.sub("data:", source))
    if "http://www.w3.org/1999/xhtml" in source[:4096]:
        source = _CLOSES_ITSELF.sub(r"<\1\2></\1>", source)
    root, whole = _parsed(source)
    if whole:
        return root
    # libxml2 gives up at 2,048 levels; a page that deep says nothing with them.
    root, whole = _parsed(_TAG.sub(_flat, source))
    if not whole:
        raise UnreadableError("its HTML is nested too deep to be read", _REPAIR)
    return root


def _parsed(source: str) -> tuple[Any, bool]:
    """The root element, and whether the page was read to its end."""
    # libxml2 ends a page at its first zero.
    data = source.replace("\0", "\ufffd").encode("utf-8")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, recover=True)
    try:
        root = etree.fromstring(data, parser) if data.strip() else None
    except etree.XMLSyntaxError:
        root = None  # only comments or a document type
    fatal = parser.error_log.filter_from_fatals()
    return root, all(entry.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in fatal)


def _flat(tag: re.Match[str]) -> str:
    """A tag as it is where it matters and cannot nest, a new paragraph for a block, nothing for the rest."""
    name = tag.group(1).lower()
    if name in _HEADINGS or name in _FLAT:
        return tag.group()
    return "<p>" if name in _BLOCKS else ""


def _title(root: Any) -> str:
    found = None if root is None else root.find("head/title")
    return plain_label("".join(found.itertext())) if found is not None else ""


def _walk(root: Any, page: Page) -> None:
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if _is_left_out(element) or _took_whole(element, page):
                walker.skip_subtree()
                continue
            _start(element, tag, page)
            page.add(element.text or "")
        elif event == "end" and not _is_left_out(element):
            _end(tag, page)
        if event != "start":
            page.add(element.tail or "")


def _is_left_out(element: Any) -> bool:
    if element.tag in _LEFT_OUT:
        return True
    if element.tag in {"html", "body", "main"}:
        return False  # a script shows these once the page is there
    attributes = element.attrib
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(attributes.get("style", "")))
    )


def _took_whole(element: Any, page: Page) -> bool:
    """Take a table of data row by row; any other element is walked into."""
    if element.tag != "table" or not _holds_data(element):
        return False
    caption = element.find("caption")
    rows = [row for row in element.iter("tr") if not _is_left_out(row)]
    cells = [[cell for cell in row if cell.tag in {"td", "th"} and not _is_left_out(cell)] for row in rows]
    named = bool(cells) and bool(cells[0]) and all(cell.tag == "th" for cell in cells[0])
    words = [[_words(cell) for cell in row] for row in cells]
    page.add_table(
        words,
        naming_rows=1 if named else naming_rows(words),
        caption="" if caption is None else _words(caption),
    )
    return True


def _holds_data(table: Any) -> bool:
    """Whether rows and columns mean something; many pages use tables only to place things."""
    if next(table.iterdescendants(*_NO_DATA_TABLE), None) is not None:
        return False
    return any(sum(cell.tag in {"td", "th"} for cell in row) > 1 for row in table.iter("tr"))


def _words(element: Any) -> str:
    """The visible text inside an element, on one line."""
    parts = [element.text or ""]
    walker = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, inner in walker:
        if inner is element:
            continue
        if event == "start":
            if _is_left_out(inner):
                walker.skip_subtree()
                continue
            parts.append(" " if inner.tag == "br" or inner.tag in _BLOCKS else "")
            parts.append(inner.get("alt", "") if inner.tag == "img" else inner.text or "")
        else:
            parts.append(" " if event == "end" and inner.tag in _BLOCKS else "")
            parts.append(inner.tail or "")
    return " ".join("".join(parts).split())


def _start(element: Any, tag: str, page: Page) -> None:
    if tag in _BLOCKS:
        page.end_block()
    if tag in _HEADINGS:
        page.begin_heading(_HEADINGS[tag])
    elif tag == "pre":
        page.begin_verbatim()
    elif tag in {"ul", "ol"}:
        page.begin_list(first_number=_first_number(element) if tag == "ol" else None)
    elif tag == "li":
        page.begin_item()
    elif tag == "blockquote":
        page.begin_quote()
    elif tag == "br":
        page.break_line()
    elif tag == "img":
        page.add(element.get("alt") or "")


def _first_number(element: Any) -> int:
    given = element.get("start") or ""
    return int(given) if re.fullmatch(r"\d{1,9}", given, re.ASCII) else 1


def _end(tag: str, page: Page) -> None:
    if tag in _BLOCKS:
        page.end_block()
    if tag in {"ul", "ol"}:
        page.end_list()
    elif tag in {"li", "blockquote"}:
        page.end_container()
