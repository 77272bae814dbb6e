"""Notebooks, subtitles, reStructuredText, Org, LaTeX, code: the file's own text, sections, places."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document
from tests.chunking.test_laws import COUNTERS
from tests.documents.laws import check_laws


def read(source: str, name: str) -> Document:
    document = parse_document(source.encode(), name)
    assert isinstance(document, Document), document
    check_laws(document)
    if not name.endswith(".ipynb"):
        assert document.text == source
    return document


def paths(document: Document) -> list[tuple[str, ...]]:
    return [section.path for section in document.sections]


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def spoken(document: Document) -> str:
    return "\n".join(
        chunk.text for chunk in chunk_document(document, ChunkOptions(header=False), COUNTERS[0])
    )


def cell(kind: str, source: str, *outputs: object) -> dict[str, object]:
    return {"cell_type": kind, "source": source.splitlines(keepends=True), "outputs": list(outputs)}


def test_a_notebook_has_cells_sections_code_and_outputs() -> None:
    shown = {"output_type": "execute_result", "data": {"text/plain": ["42"], "image/png": "iVBOR" * 99}}
    cells = [
        cell("markdown", "# Rents\n\nAll of *2027*."),
        cell("code", "print(6 * 7)", shown),
        cell("raw", ""),
    ]
    cells.append(cell("markdown", "## Sum\n\nIt is right."))
    document = read(json.dumps({"cells": cells}), "a.ipynb")
    assert paths(document) == [("Rents",), ("Rents", "Sum")]
    assert [each.value for each in document.locators] == ["1", "2", "4"]
    assert ("code", "print(6 * 7)\n\n42") in kinds(document)
    assert document.title == "Rents"


@pytest.mark.parametrize("source", ["", "{", "[]", '{"a": 1}', '{"cells": [1]}', "[" * 100_000])
def test_a_broken_notebook_says_so(source: str) -> None:
    failed = parse_document(source.encode(), "a.ipynb")
    assert isinstance(failed, FailedDocument)
    assert "reader failed" not in failed.reason


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_subtitles_have_their_times(newline: str) -> None:
    source = newline.join(
        [
            "1",
            "00:00:01,500 --> 00:00:04,000",
            "The lease ends",
            "",
            "2",
            "01:00:05,000 --> 01:00:06,250",
            "<i>in March</i>.",
        ]
    )
    document = read(source, "a.srt")
    assert [(each.kind, each.value) for each in document.locators] == [("t", "1.5,4"), ("t", "3605,3606.25")]
    [chunk] = chunk_document(document, ChunkOptions(header=False), COUNTERS[0])
    assert chunk.locator == "t=1.5,3606.25"
    assert chunk.text == "The lease ends\nin March."


def test_web_subtitles() -> None:
    source = (
        "WEBVTT\n\nNOTE made by hand\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
        "<v Anna>The rent is 300.\n"
    )
    document = read(source, "a.vtt")
    assert [each.value for each in document.locators] == ["1,2"]
    assert spoken(document) == "The rent is 300."


def test_restructured_text() -> None:
    source = (
        "=====\nLease\n=====\n\nIt ends in :ref:`March <march>`. Thus::\n\n"
        "    code here\n\nTerm\n----\n\n- one\n- two\n\n"
        ".. a comment\n   of two lines\n\n.. _target:\n\n.. note::\n\n   Mind the rent.\n"
        "\n.. code-block:: python\n\n   x = 1\n"
    )
    document = read(source, "a.rst")
    assert paths(document) == [("Lease",), ("Lease", "Term")]
    assert ("code", "code here") in kinds(document)
    assert ("list_item", "- two") in kinds(document)
    words = spoken(document)
    assert "It ends in March. Thus" in words
    assert "Mind the rent." in words
    assert "comment" not in words
    assert "target" not in words


def test_a_table_of_restructured_text_has_its_names() -> None:
    source = "=====  =====\nRoom   Rent\n=====  =====\nBath   80\nSauna  90\n=====  =====\n"
    [block] = read(source, "a.rst").blocks
    assert block.header is not None
    assert source[block.header.start : block.header.end] == "Room   Rent"


def test_org() -> None:
    source = (
        "#+TITLE: Home\n* TODO [#A] Lease :house:\n:PROPERTIES:\n:ID: 7\n:END:\n"
        "It ends in [[https://a.b][March]].\n"
        "** Term\n| Room | Rent |\n|------+------|\n| Bath | 80 |\n#+begin_src sh\n"
        ",* no heading\n#+end_src\n# a comment\n"
    )
    document = read(source, "a.org")
    assert document.title == "Home"
    assert paths(document) == [(), ("Lease",), ("Lease", "Term")]
    assert ("code", "#+begin_src sh\n,* no heading\n#+end_src") in kinds(document)
    [table] = [block for block in document.blocks if block.kind == "table"]
    assert table.header is not None
    assert source[table.header.start : table.header.end] == "| Room | Rent |"
    words = spoken(document)
    assert "It ends in March." in words
    assert "ID" not in words
    assert "comment" not in words


def test_latex() -> None:
    source = (
        "\\documentclass{article}\n\\title{The \\emph{Lease}}\n\\begin{document}\n"
        "\\section{Term}\\label{sec:term}\n"
        "It ends in \\textbf{March}. % not so\n\\subsection*{Rent}\n\\begin{itemize}\n"
        "\\item The rent is $300 \\pm 5$.\n"
        "\\end{itemize}\n\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\end{document}\n"
    )
    document = read(source, "a.tex")
    assert document.title == "The Lease"
    assert paths(document)[-2:] == [("Term",), ("Term", "Rent")]
    words = spoken(document)
    assert "It ends in March." in words
    assert "The rent is $300 \\pm 5$." in words
    assert "documentclass" not in words
    assert "not so" not in words
    assert ("code", "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}") in kinds(document)


def test_code_is_cut_where_a_function_begins() -> None:
    source = (
        "import os\n\n# Adds.\ndef add(a, b):\n    c = a + b\n\n    return c\n\n\n"
        "@cached\ndef other(\n    a,\n):\n    pass\n"
    )
    document = read(source, "calc.py")
    assert document.title == "calc.py"
    assert [text.splitlines()[0] for _, text in kinds(document)] == ["import os", "# Adds.", "@cached"]
    assert {kind for kind, _ in kinds(document)} == {"code"}


def test_data_is_cut_at_its_entries() -> None:
    source = json.dumps({"rooms": [{"name": "bath"}], "rent": {"eur": 80}}, indent=2)
    assert [text.split(":")[0] for _, text in kinds(read(source, "a.json"))] == ["{", '"rooms"', '"rent"']
    yaml = "rooms:\n  - bath\n  - kitchen\nrent:\n  eur: 80\ncity: x\n"
    assert len(kinds(read(yaml, "a.yaml"))) == 3


FRAGMENTS = st.sampled_from(
    """Title~=====~-----~.. note::~.. x~   in~::~* A~** B~:P:~:END:~#+begin_src~#+end_src~\\section{A}
    ~\\begin{document}~\\begin{verbatim}~% c~{~}~~~\t~# k~1~00:00:01,000 --> 00:00:02,000~<i>w</i>~WEBVTT
    ~- item~def f():~    x~`a <b>`_~[[a][b]]~é\0~| a | b |~|--+--|""".replace("\n    ", "").split("~")
)


@settings(deadline=None)
@given(
    st.lists(FRAGMENTS, max_size=14),
    st.sampled_from([".rst", ".org", ".tex", ".srt", ".vtt", ".py", ".json"]),
)
def test_any_text_obeys_the_laws(lines: list[str], suffix: str) -> None:
    for newline in ("\n", "\r\n"):
        document = parse_document(newline.join(lines).encode("utf-8-sig"), "a" + suffix)
        assert isinstance(document, Document), document
        check_laws(document)
