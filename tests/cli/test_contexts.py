"""Contextual retrieval from the command line: what it costs is said first, and nothing written is lost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ragchat
from tests.doubles import WordEmbedder
from tests.ollama_script import Break, Done, Stall, Step, Think
from tests.ollama_server import OllamaTestServer

ON = ("--set", "chunking.context=qwen3:4b")
CONTEXT = "About the dwelling in Elm Street."


@pytest.fixture
def writer(server: OllamaTestServer) -> OllamaTestServer:
    def speaks(body: Mapping[str, Any]) -> Iterator[Step]:
        yield CONTEXT
        yield Done("stop", 200, 8)

    server.speaks = speaks
    return server


def test_the_cost_is_told_first_and_nothing_happens_without_a_yes(
    ragchat: Ragchat, writer: OllamaTestServer
) -> None:
    told = ragchat("index", *ON)
    assert told.code == 3
    assert "qwen3:4b" in told.err
    assert "about 3 passages: 600 tokens read, 24 written" in told.err
    assert "ragchat index --yes" in told.err
    assert "not indexed yet" in ragchat("status", *ON).out
    # A question does not begin what was not agreed to.
    asked = ragchat("search", "rent", *ON)
    assert asked.code == 3
    assert "ragchat index" in asked.err


def test_it_is_searched_and_never_quoted(
    ragchat: Ragchat, writer: OllamaTestServer, embedder: WordEmbedder
) -> None:
    report = json.loads(ragchat("index", "--yes", "--json", *ON).out)
    assert (report["contexts"]["written"], report["contexts"]["prompt_tokens"]) == (3, 600)
    assert any(f"[Lease > Rent]\n{CONTEXT}\nThe rent" in text for text in embedder.texts_embedded)
    found = json.loads(ragchat("search", "dwelling in Elm Street", "--json", *ON).out)
    assert found["candidates"][0]["bm25_rank"] == 1
    assert CONTEXT not in json.dumps(found)
    assert "context/2=qwen3:4b" in ragchat("status", "--json", *ON).out
    # The same folder without contexts is another index.
    assert "--rebuild" in ragchat("search", "rent").err


def test_what_was_written_is_not_asked_for_again(
    ragchat: Ragchat, writer: OllamaTestServer, notes: Path
) -> None:
    ragchat("index", "--yes", *ON)
    asked = writer.count("/api/chat")
    assert asked == 3
    again = json.loads(ragchat("index", "--rebuild", "--yes", "--json", *ON).out)
    assert (again["contexts"]["written"], again["contexts"]["kept"]) == (0, 3)
    (notes / "house" / "lease.md").write_text("# Lease\n\nThe lease ends in 2031.\n", encoding="utf-8")
    ragchat("search", "lease", *ON)
    assert writer.count("/api/chat") == asked + 1


def test_a_server_that_dies_loses_nothing(ragchat: Ragchat, writer: OllamaTestServer, notes: Path) -> None:
    for number in range(4):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nThe number is {number}.\n", encoding="utf-8")
    answers: list[bool] = []

    def dies(body: Mapping[str, Any]) -> Iterator[Step]:
        answers.append(len(answers) < 4)
        if not answers[-1]:
            yield Break(reset=True)
        yield CONTEXT
        yield Done("stop", 200, 8)

    whole, writer.speaks = writer.speaks, dies
    told = ragchat("index", "--yes", *ON)
    assert told.code == 1
    (line,) = [line for line in told.out.splitlines() if "pending" in line]
    assert "no context could be written for" in line
    assert "4 written in" in told.out
    # Three in a row, and the others are not tried.
    assert answers == [True] * 4 + [False] * 3
    writer.speaks = whole
    asked = writer.count("/api/chat")
    assert ragchat("index", "--yes", *ON).code == 0
    assert writer.count("/api/chat") == asked + 3
    assert json.loads(ragchat("status", "--json", *ON).out)["chunks"] == 7


def test_a_model_that_is_not_there_is_said_before_anything_is_begun(
    ragchat: Ragchat, writer: OllamaTestServer
) -> None:
    told = ragchat("index", "--yes", "--set", "chunking.context=nobody:1b")
    assert told.code == 4
    assert "nobody:1b" in told.err


def endless(body: Mapping[str, Any]) -> Iterator[Step]:
    while True:
        yield "and so on, "


def silent(body: Mapping[str, Any]) -> Iterator[Step]:
    yield Stall()


def only_reasoning(body: Mapping[str, Any]) -> Iterator[Step]:
    yield Think("What is this passage about? " * 20)
    yield Done("length", 200, 80)


def test_a_model_that_goes_on_for_ever_is_left_and_its_beginning_taken(
    ragchat: Ragchat, writer: OllamaTestServer, embedder: WordEmbedder
) -> None:
    writer.speaks = endless
    report = json.loads(ragchat("index", "--yes", "--json", *ON).out)
    assert (report["contexts"]["written"], report["contexts"]["without"]) == (3, 0)
    assert any("[Lease > Rent]\nand so on, and so on," in text for text in embedder.texts_embedded)


@pytest.mark.parametrize("speaks", [silent, only_reasoning])
def test_a_model_that_says_nothing_is_found_out_before_anything_is_begun(
    ragchat: Ragchat, writer: OllamaTestServer, monkeypatch: pytest.MonkeyPatch, speaks: Any
) -> None:
    monkeypatch.setattr("ragchat.answering.contexts._SECONDS", 0.3)
    writer.speaks = speaks
    told = ragchat("index", "--yes", *ON)
    assert told.code == 4
    assert "qwen3:4b wrote nothing for 3 passages in a row" in told.err
    assert writer.count("/api/chat") == 3
    assert "not indexed yet" in ragchat("status", *ON).out


def test_a_passage_that_got_none_is_searched_by_its_own_words_and_told(
    ragchat: Ragchat, writer: OllamaTestServer
) -> None:
    whole = writer.speaks
    answers: list[Mapping[str, Any]] = []

    def second_fails(body: Mapping[str, Any]) -> Iterator[Step]:
        answers.append(body)
        assert whole is not None
        yield from (only_reasoning if len(answers) == 2 else whole)(body)

    writer.speaks = second_fails
    told = ragchat("index", "--yes", *ON)
    assert told.code == 0
    assert "1 passages went without one" in told.out
    assert json.loads(ragchat("status", "--json", *ON).out)["chunks"] == 3


@pytest.mark.parametrize(
    "content", [b"this is no database, whatever it is called" * 40, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_file_of_contexts_is_named_with_the_remedy(
    ragchat: Ragchat, writer: OllamaTestServer, content: bytes, tmp_path: Path
) -> None:
    ragchat("index", "--yes", *ON)
    (kept,) = tmp_path.rglob("contexts.sqlite3")
    kept.write_bytes(content)
    told = ragchat("index", "--rebuild", "--yes", *ON)
    assert told.code == 3
    assert f"{kept} are damaged" in told.err
    assert "move that file away" in told.err
    kept.unlink()
    assert ragchat("index", "--rebuild", "--yes", *ON).code == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE contexts SET context = CAST(x'ff41' AS TEXT)",  # no UTF-8
        "ALTER TABLE contexts RENAME COLUMN context TO other",
    ],
)
def test_a_file_of_contexts_that_somebody_changed_is_named_with_the_remedy(
    ragchat: Ragchat, writer: OllamaTestServer, change: str, tmp_path: Path
) -> None:
    ragchat("index", "--yes", *ON)
    (kept,) = tmp_path.rglob("contexts.sqlite3")
    with closing(sqlite3.connect(kept, isolation_level=None)) as connection:
        connection.execute(change)
    told = ragchat("index", "--rebuild", "--yes", *ON)
    assert (told.code, f"{kept} are damaged" in told.err) == (3, True)
    with closing(sqlite3.connect(kept, isolation_level=None)) as connection:
        connection.executescript(
            "DROP TABLE contexts; CREATE TABLE contexts (question TEXT PRIMARY KEY, context BLOB)"
        )
        assert ragchat("index", "--rebuild", "--yes", *ON).code == 0
        connection.execute("UPDATE contexts SET context = x'00ff'")  # bytes: written anew
    report = json.loads(ragchat("index", "--rebuild", "--yes", "--json", *ON).out)
    assert report["contexts"]["written"] == 3


def test_what_was_written_before_is_not_told_as_a_cost_again(
    ragchat: Ragchat, writer: OllamaTestServer, notes: Path
) -> None:
    sections = [f"## Part {n}\n\nPart {n} of this note is about the number {n}.\n" for n in range(12)]
    (notes / "long.md").write_text("# Long\n\n" + "\n".join(sections), encoding="utf-8")
    first = ragchat("index", *ON)
    again = ragchat("index", *ON)
    (before, after) = (int(told.err.partition("context for about ")[2].split()[0]) for told in (first, again))
    # A trial writes three and keeps them.
    assert after == before - 3
    assert writer.count("/api/chat") == 6
