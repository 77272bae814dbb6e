"""The laws over every file of the shared corpora, and the published answers behind every encoding."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import open_reader, read_document, supported
from ragchat.settings import NotesSettings
from tests.documents.laws import check_laws

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
pytestmark = [
    pytest.mark.corpora,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="the shared corpora are not here"),
]
NAMES = [
    "chunking-eval-split",
    "clapnq",
    "debimate-notes",
    "encodings",
    "jsquad-ja",
    "nasty-text",
    "xquad-en",
]


def documents(corpus: str) -> list[Document | FailedDocument]:
    root = CORPORA / corpus / "corpus"
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and supported(path.name)]
    assert files
    # Without Tesseract: what it reads is tested with pages made for it, and takes seconds a page.
    with open_reader(NotesSettings(ocr_languages="")) as read:
        return [read(path, path.relative_to(root).as_posix(), max_bytes=10**8) for path in files]


FAILING = {
    "nasty-pdf": (
        "opens only with its password",
        "is damaged",
        "holds no text",
        "it is a picture, and pictures are not read",
        "fonts do not tell which letters they draw",
    ),
    "nasty-text": ("opens only with its password",),
}
"""The reasons for which files of these folders may fail."""


@pytest.mark.parametrize("corpus", [*NAMES, "nasty-pdf"])
def test_every_file_is_read_or_fails_with_a_true_reason_and_obeys_the_laws(corpus: str) -> None:
    for document in documents(corpus):
        if isinstance(document, Document):
            check_laws(document)
        else:
            assert any(reason in document.reason for reason in FAILING.get(corpus, ())), document
            assert document.hint


@pytest.mark.parametrize("corpus", [name for name in NAMES if name not in {"debimate-notes", "nasty-text"}])
def test_every_gold_span_is_where_it_is_said_to_be(corpus: str) -> None:
    texts = {document.name: document.text for document in documents(corpus) if isinstance(document, Document)}
    questions = [
        json.loads(line) for line in (CORPORA / corpus / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    spans = [
        (question["document"], span)
        for question in questions
        if question.get("evidence")
        for span in (question, *(question.get("also") or ()))
    ]
    assert spans
    for name, span in spans:
        assert texts[span.get("document", name)][span["from"] : span["to"]] == span["evidence"], (name, span)


def test_every_encoding_is_told() -> None:
    with (CORPORA / "encodings" / "ENCODINGS.tsv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    for row in rows:
        path = CORPORA / "encodings" / "corpus" / row["file"]
        if path.exists():
            document = read_document(path, row["file"], max_bytes=10**8)
            assert isinstance(document, Document)
            assert document.text == path.read_bytes().decode(row["encoding"]).removeprefix("\ufeff"), row


@pytest.mark.parametrize(
    ("name", "encoding", "words"),
    [
        ("charset_normalizer/sample-turkish.txt", "cp1254", "İstanbul, Türkiye'nin en kalabalık"),
        ("charset_normalizer/sample-russian.txt", "mac_cyrillic", "В гимназии он не был в числе первых"),
        ("charset_normalizer/sample-arabic.txt", "utf-8", ""),
        ("tika/multi-language.txt", "cp1252", "español ABC adhoc prácticas"),
        ("tika/testArabicMisleadingCharset.html", "cp1256", "اللغة العربية هي واحدة"),
        ("tika/testHTMLNoisyMetaEncoding_1.html", "iso8859_6", "وأعرب الاتحاد الجزائري"),
        ("tika/testHTML_charset_utf16le.html", "utf-16-le", "This is a sample text"),
        ("tika/big-preamble.html", "cp1251", "Аренда квартир в Москве"),
        ("aozora2html/chukiichiran_kinyurei.html", "cp932", "ルビ"),
    ],
)
def test_nasty_files_are_read_right(name: str, encoding: str, words: str) -> None:
    document = read_document(CORPORA / "nasty-text" / "corpus" / name, name, max_bytes=10**8)
    assert isinstance(document, Document)
    assert document.encoding == encoding
    assert words in document.text
