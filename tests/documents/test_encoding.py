"""Every usual encoding is read as it was written, and what is no text says so."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.documents.encoding import Decoded, Undecodable, decode

SHORT_NOTES = {
    "cp1252": [
        "Meeting notes — buy milk",
        "wait—what",
        "it’s fine",
        "He said “no” and left",
        "café",
        "Größe: 10 µm",
        "½ cup of sugar",
        "10 € fee",
        "£5",
        "À bientôt, ça va très bien",
        "El niño está aquí",
        "São Paulo é grande",
        "smörgåsbord",
    ],
    "mac_roman": ["Jürgen Müller fährt nach Köln und trinkt größere Biere"],
    "cp1250": ["Příliš žluťoučký kůň úpěl ďábelské ódy", "Łódź jest piękna", "Győr és Pécs fűtött főtér"],
    "iso8859_2": ["Zażółć gęślą jaźń i śpiewaj"],
    "cp1251": ["Привет, как дела?", "Молоко", "Київ — столиця України"],
    "koi8_r": ["Встреча в понедельник"],
    "cp866": ["Встреча в понедельник, купить хлеб и молоко"],
    "iso8859_5": ["Привет, как дела сегодня?"],
    "cp1253": ["Καλημέρα, τι κάνεις;"],
    "cp1254": ["Türkiye'nin başkenti Ankara'dır", "ışık ve gölge"],
    "cp1255": ["שלום עולם, מה שלומך היום"],
    "cp1256": ["السلام عليكم ورحمة الله"],
    "cp874": ["สวัสดีครับ วันนี้อากาศดี"],
    "cp932": ["牛乳を買う", "会議は月曜日", "テスト", "iPhoneの充電器を買う", "①会議 ㈱田中"],
    "euc_jp": ["牛乳を買う", "会議は月曜日です"],
    "gb18030": ["今天天气很好，我们去公园吧。", "会议在星期一"],
    "big5": ["今天天氣很好，我們去公園吧。"],
    "cp949": ["회의는 월요일입니다", "우유를 사다"],
    "iso2022_jp": ["牛乳を買う"],
    "iso2022_kr": ["안녕하세요 세계"],
    "utf-16-le": ["Hello world", "牛乳を買う\nパン\n", "Привет\r\n"],
    "utf-16-be": ["Hello world", "牛乳を買う\nパン\n", "Привет\r\n"],
    "utf-32-le": ["Hello world", "牛乳を買う\n"],
    "utf-32-be": ["Hello world", "牛乳を買う\n"],
    "utf-8": ["Hello", "牛乳", "a\0b", "café — “no”"],
    "cp500": ["Meeting notes of monday: buy milk and bread for the party."],
    "cp437": ["╔══════════╗\n║ Menu     ║\n╚══════════╝\n"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in SHORT_NOTES.items() for text in texts]
)
def test_a_short_note_is_read_as_it_was_written(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    decoded = decode(data)
    assert isinstance(decoded, Decoded), decoded
    assert decoded.text == text
    assert data.decode(decoded.encoding) == text


@given(st.text(), st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_byte_order_mark_decides_and_is_dropped(text: str, encoding: str) -> None:
    text = "".join(character for character in text if not "\ud800" <= character <= "\udfff")
    data = text.encode(encoding)
    if encoding == "utf-16" and text.startswith("\0"):
        return  # FF FE 00 00 is the mark of UTF-32
    decoded = decode(data)
    assert isinstance(decoded, Decoded)
    assert decoded.text == text


def test_newlines_stay_as_they_are() -> None:
    assert decode(b"a\r\nb\rc\nd\x0be") == Decoded("a\r\nb\rc\nd\x0be", "utf-8")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7 text", "PDF"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"{\\rtf1 text}", "RTF"),
        (b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8" + b"\0" * 50, "binary"),
        (bytes(range(256)) * 20, "binary"),
        ("これは短いメモです。".encode()[:-1], "UTF-8, but for the byte 0xe3 on line 1"),
        (
            "müde\r\nschön\rgrün\nfür äußere \x97 Öfen".encode().replace(b"\xc2\x97", b"\x97"),
            "0x97 on line 4",
        ),
        (b"\xff\xfea\0b", "UTF-16, but byte 4 does not fit"),
        (b"\xff\xfe\x00\xd8", "UTF-16"),
        (b"\xef\xbb\xbfcaf\xe9", "UTF-8, but byte 6 does not fit"),
    ],
)
def test_what_is_no_text_fails_with_a_true_reason(data: bytes, reason: str) -> None:
    decoded = decode(data)
    assert isinstance(decoded, Undecodable)
    assert reason in decoded.reason
    assert decoded.hint


def test_random_bytes_are_no_text() -> None:
    high = bytes(0x80 | byte for byte in os.urandom(2_000))
    for data in (os.urandom(5_000), high):
        assert isinstance(decode(data), Undecodable)


def test_terminal_control_characters_stay_in_a_note() -> None:
    data = b"hello \x1b[2J\x1b]0;title\x07 \x00 there"
    assert decode(data) == Decoded(data.decode(), "utf-8")


@pytest.mark.parametrize(
    ("declared", "text", "encoding"),
    [("shift_jis", "①田中㈱ abc", "cp932"), ("iso-8859-1", "it’s", "cp1252"), ("nonsense", "café", "cp1252")],
)
def test_a_declared_encoding_means_what_programs_mean_by_it(declared: str, text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), declared=declared) == Decoded(text, encoding)


@pytest.mark.parametrize("declared", ["unicode_escape", "rot13", "idna", "utf-16", "\0", "utf-7", ""])
def test_a_declaration_that_names_no_character_set_is_ignored(declared: str) -> None:
    assert decode(b"caf\xe9 \\ud800", declared=declared) == Decoded("café \\ud800", "cp1252")


def test_lines_of_ebcdic_may_end_in_its_own_line_break() -> None:
    data = "Buy milk\nand bread\nfor the party\n".encode("cp500").replace(b"\x25", b"\x15") * 3
    assert decode(data) == Decoded(data.decode("cp500"), "cp500")


def test_a_wrong_declaration_does_not_win() -> None:
    text = "Привет, как дела? Встреча в понедельник."
    assert decode(text.encode("cp1251"), declared="iso-8859-1") == Decoded(text, "cp1251")


@pytest.mark.parametrize("line_end", ["\n", " "])
@pytest.mark.parametrize("encoding", ["cp1252", "cp932", "utf-16-le"])
def test_a_large_file_is_read_fast(encoding: str, line_end: str) -> None:
    line = "Ein schöner Tag für große Bären." if encoding == "cp1252" else "これは短いメモです。牛乳を買う。"
    text = (line + line_end) * 30_000 + "\n"
    begin = time.process_time()
    decoded = decode(text.encode(encoding))
    assert isinstance(decoded, Decoded)
    assert decoded.text == text
    assert time.process_time() - begin < 3
