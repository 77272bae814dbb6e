"""E-mail: headers, words and the names of attachments; in any encoding, however broken."""

from __future__ import annotations

from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document
from tests.documents.laws import check_laws


def read(source: bytes | EmailMessage) -> Document:
    data = source if isinstance(source, bytes) else source.as_bytes()
    document = parse_document(data, "a.eml")
    assert isinstance(document, Document), document
    check_laws(document)
    return document


def message(body: str = "", subject: str = "Lease") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Anna <anna@example.org>", "bert@example.org", subject
    made.set_content(body)
    return made


def test_a_message_has_its_headers_and_words() -> None:
    document = read(message("It ends in March.\n\n> When does it end?\n"))
    assert document.title == "Lease"
    assert document.text == (
        "From: Anna <anna@example.org>\nTo: bert@example.org\nSubject: Lease\n\n"
        "It ends in March.\n\n> When does it end?"
    )
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph", "quote"]


def test_attachments_are_named_and_counted() -> None:
    made = message("See below.")
    made.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="lease.pdf")
    made.add_attachment("words", filename="note.txt")
    assert read(made).text.endswith("See below.\n\n2 attachments, not read: lease.pdf, note.txt")


def test_of_two_forms_the_plain_one_is_taken_unless_it_is_empty() -> None:
    made = message("Plain words.")
    made.add_alternative("<p>Rich <b>words</b>.</p>", subtype="html")
    text = read(made).text
    assert "Plain words." in text
    assert "Rich" not in text
    empty = message("\n")
    empty.add_alternative("<p>Rich <b>words</b>.</p>", subtype="html")
    assert read(empty).text.endswith("Rich words.")


def test_a_forwarded_message_is_a_section() -> None:
    made = message("See the message.")
    made.add_attachment(message("The rent is 300.", "Rent"))
    outer = read(made)
    assert "1 attachment" in outer.text or [section.path for section in outer.sections][-1] == ("Rent",)


@pytest.mark.parametrize(
    ("encoding", "words"), [("iso-2022-jp", "家賃は三月に上がる。"), ("koi8-r", "Аренда кончается в марте.")]
)
def test_words_in_any_encoding(encoding: str, words: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={encoding}\nContent-Transfer-Encoding: 8bit\n\n"
    assert words in read(head.encode() + words.encode(encoding)).text


def test_a_subject_in_another_script() -> None:
    assert read(message("x", "家賃について 🏠")).title == "家賃について 🏠"


def test_a_message_saved_as_utf_16() -> None:
    assert "It ends in March." in read(message("It ends in March.").as_string().encode("utf-16")).text


def test_what_is_encrypted_or_no_message_fails() -> None:
    locked = b"Subject: x\nContent-Type: multipart/encrypted; boundary=a\n\n--a\n\nVersion: 1\n--a--\n"
    for data, reason in ((locked, "encrypted"), (b"", "no message"), (b"just words here", "no message")):
        failed = parse_document(data, "a.eml")
        assert isinstance(failed, FailedDocument)
        assert reason in failed.reason


def test_parts_within_parts_without_end() -> None:
    head = b"Subject: deep\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000)
    )
    result = parse_document(head + b"\nwords", "a.eml")
    assert isinstance(result, Document) or result.hint


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_fail(data: bytes) -> None:
    result = parse_document(b"Subject: x\nContent-Type: text/html; charset=\xff\n" + data, "a.eml")
    if isinstance(result, Document):
        check_laws(result)
    else:
        assert "reader failed" not in result.reason
