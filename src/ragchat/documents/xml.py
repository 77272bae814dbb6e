"""XML of office documents and books, parsed without entities, without a network, and not nested endlessly."""

from __future__ import annotations

from typing import Any

from lxml import etree

from ragchat.documents.reading import UnreadableError


def parsed(data: bytes, what: str) -> Any:
    """The root element. what: names the part for the user. Raises UnreadableError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if error.code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
            deep = "depth" in str(error)
            why = (
                "is nested too deep"
                if deep
                else "has a piece of text of over ten million characters, too long"
            )
            raise UnreadableError(f"it {why} to be read") from error
        raise UnreadableError(f"{what} is no proper XML ({' '.join(str(error).split())[:120]})") from error


def local_name(element: Any) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
