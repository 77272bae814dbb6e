"""E-mail: who wrote to whom and when, then the words; attachments are named and counted, not read."""

from __future__ import annotations

import dataclasses
import email
import email.policy
import email.utils
import re
from email.message import Message
from typing import Any, cast

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.html import put_html
from ragchat.documents.page import Page
from ragchat.documents.reading import Reading, UnreadableError

EXTRACTOR = "eml/2"

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_DEEPEST = 20
_PARAGRAPHS = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:(?:\r\n|\r|\n)[^\S\r\n]*)+")
_ENCRYPTED = {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}
_RESAVE = "save it from your mail program again, then: ragchat index --retry"


def parse(data: bytes, name: str, digest: str, _reading: Reading) -> Document | FailedDocument:
    """A message as a document, or why it is none."""
    source = _as_ascii_based(data)
    message = email.message_from_bytes(source, policy=email.policy.default)
    if message.get_content_type() in _ENCRYPTED and "signed" not in str(message.get("Content-Type", "")):
        reason = "it is encrypted (S/MIME or PGP)"
        return FailedDocument(name, reason, "save it decrypted from your mail program", digest, EXTRACTOR)
    if not message.keys():
        return FailedDocument(name, "it has no headers: it is no message", _RESAVE, digest, EXTRACTOR)
    page = Page()
    attachments: list[str] = []
    _put_message(message, page, attachments, 0)
    if attachments:
        page.put_block("paragraph", f"{_counted(len(attachments))}, not read: {', '.join(attachments)}")
    made = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=_header(message, "Subject"))
    return dataclasses.replace(made, dated=_day(_header(message, "Date")))


def _day(written: str) -> str:
    """When it was sent, "2025-01-31"; "" where that cannot be read."""
    try:
        return email.utils.parsedate_to_datetime(written).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _as_ascii_based(data: bytes) -> bytes:
    """A message saved as UTF-16 is none to a mail program; its text is."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:200]:
        decoded = decode(data)
        if not isinstance(decoded, Undecodable):
            return decoded.text.encode()
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()


def _counted(count: int) -> str:
    return "1 attachment" if count == 1 else f"{count} attachments"


def _put_message(message: Message, page: Page, attachments: list[str], depth: int) -> None:
    lines = [f"{field}: {value}" for field in _SHOWN if (value := _header(message, field))]
    if lines:
        page.put_block("paragraph", "\n".join(lines))
    _put_part(message, page, attachments, depth)


def _header(message: Message, name: str) -> str:
    """One line; "" where it is absent or cannot be read at all."""
    try:
        value = message.get(name)
        return " ".join(str(value).split()).encode("utf-8", "replace").decode() if value is not None else ""
    except (ValueError, LookupError, IndexError, AttributeError, TypeError):  # of the header's own parser
        return ""


def _put_part(part: Message, page: Page, attachments: list[str], depth: int) -> None:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or depth > _DEEPEST:
        attachments.append(_file_name(part))
    elif kind == "message/rfc822" and part.is_multipart():
        inner = cast(Message, part.get_payload(0))
        page.put_block("heading", _header(inner, "Subject") or "Forwarded message", level=1)
        _put_message(inner, page, attachments, depth + 1)
    elif kind == "multipart/alternative":
        best = _best(part)
        if best is not None:
            _put_part(best, page, attachments, depth + 1)
    elif part.is_multipart():
        for inner_part in cast(list[Message], part.get_payload()):
            _put_part(inner_part, page, attachments, depth + 1)
    elif kind == "text/html":
        _put_html(part, page)
    elif kind.startswith("text/") and kind != "text/calendar":
        _put_plain(_text(part), page)
    else:
        attachments.append(_file_name(part))


def _best(part: Message) -> Message | None:
    """Of the same words in several forms the plain one, unless it is empty."""
    forms = [form for form in cast(list[Message], part.get_payload()) if isinstance(form, Message)]
    plain = [form for form in forms if form.get_content_type() == "text/plain" and _text(form).strip()]
    others = [form for form in forms if form.get_content_type() != "text/plain"]
    return next(iter([*plain, *others, *forms]), None)


def _text(part: Message) -> str:
    payload: Any = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else str(payload or "").encode("utf-8", "replace")
    decoded = decode(data, declared=part.get_content_charset("") or "")
    if isinstance(decoded, Undecodable):
        return data.decode("latin-1") if data.isascii() else ""
    return decoded.text


def _put_html(part: Message, page: Page) -> None:
    source = _text(part)
    try:
        put_html(source, page)
    except UnreadableError:
        _put_plain(re.sub(r"<[^<>]*>", " ", source), page)


def _put_plain(text: str, page: Page) -> None:
    for paragraph in _PARAGRAPHS.split(text):
        words = "\n".join(line.rstrip() for line in re.split(r"\r\n|\r|\n", paragraph)).strip()
        if words:
            page.put_block("quote" if words.startswith(">") else "paragraph", words)


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError):
        name = None
    return " ".join((name or part.get_content_type()).split()).encode("utf-8", "replace").decode()
