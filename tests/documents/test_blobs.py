"""Data is found wherever it stands in a note; long words, addresses and other scripts are not data."""

from __future__ import annotations

import base64
import random
import time

import pytest

from ragchat.documents.blobs import data_blobs
from tests.documents.laws import check_laws, read, words

_DATA = base64.b64encode(random.Random(7).randbytes(3_000)).decode()
_ADDRESS = f"data:image/png;base64,{_DATA}"
_LINES = "\n".join(_DATA[at : at + 76] for at in range(0, len(_DATA), 76))


@pytest.mark.parametrize(
    ("source", "blob"),
    [
        (f"a ![alt]({_ADDRESS}) b", f"]({_ADDRESS})"),
        (f'a ![alt](<{_ADDRESS}> "title") b', f']({"<" + _ADDRESS + ">"} "title")'),
        (f'a <img alt="x" src="{_ADDRESS}" width=3> b', f'<img alt="x" src="{_ADDRESS}" width=3>'),
        (f"a\n\n[image1]: <{_ADDRESS}>\n", f"[image1]: <{_ADDRESS}>"),
        (f"a {_DATA} b", _DATA),
        (f"key: '{_DATA}'", _DATA),
        (f"a\n{_LINES}\nb", _LINES),
        ("a\n" + _LINES.replace("\n", "\r\n") + "\r\nb", _LINES.replace("\n", "\r\n")),
        ("a\r" + _LINES.replace("\n", "\r") + "\rb", _LINES.replace("\n", "\r")),
        (f"a\r\r[image1]: <{_ADDRESS}>\r", f"[image1]: <{_ADDRESS}>"),
        ("hash " + "0123456789abcdef" * 40 + " end", "0123456789abcdef" * 40),
    ],
)
def test_data_is_found(source: str, blob: str) -> None:
    assert [source[span.start : span.end].strip() for span in data_blobs(source)] == [blob]


@pytest.mark.parametrize(
    "source",
    [
        "日本語の文章には空白がありません。" * 100,
        "https://example.org/a/very/long/path?" + "&".join(f"key{n}=Value{n}" for n in range(100)),
        "Donaudampfschifffahrtsgesellschaft" * 30,
        "-" * 1000,
        "=" * 1000,
        "_" * 1000,
        "0" * 1000,
        "/usr/local/share/Some-Folder/with_9_parts" * 20,
        "\n".join(["0123456789abcdef" * 4] * 20),
        "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
        "The data: what follows; base64, is explained here. " * 20,
        "Word1 and Word2 stand on ordinary lines of prose that are as long as lines of data are.\n" * 20,
    ],
)
def test_prose_is_no_data(source: str) -> None:
    assert data_blobs(source) == []


def test_a_note_with_a_large_picture_keeps_its_words_and_is_read_fast() -> None:
    address = "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(1_900_000)).decode()
    begin = time.process_time()
    document = read(f"# Title\n\nbefore ![alt words]({address}) after\n\n- last\n")
    assert time.process_time() - begin < 2
    assert [words(document, block) for block in document.blocks] == [
        "# Title",
        "before ![alt words",
        "after",
        "- last",
    ]
    check_laws(document)


def test_code_around_data_stays() -> None:
    document = read(f"```\n{_DATA}\n```\n\n# After\n")
    assert [words(document, block) for block in document.blocks] == ["```", "```", "# After"]
    assert document.sections[-1].path == ("After",)
