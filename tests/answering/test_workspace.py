"""One folder's parts together, with a stand-in for the embedding model and a counting model server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragchat.answering
from ragchat import paths
from ragchat.answering.events import Answer
from ragchat.answering.report import answer_json, search_json, status_json
from ragchat.answering.workspace import Workspace
from ragchat.embedding import registry
from ragchat.errors import FolderMissing, IndexMissing, IndexStale
from ragchat.index.progress import IndexProgress
from ragchat.index.protocol import Coverage
from ragchat.retrieval.filters import Filters
from ragchat.settings import EmbeddingSettings, OllamaSettings, RetrievalSettings, Settings
from tests.answering.making import the_answer
from tests.doubles import WordEmbedder
from tests.ollama_server import OllamaTestServer

LEASE = (
    "# Lease\n\n## Term\n\nThe lease ends on 31 March 2027.\n\n## Rent\n\nThe rent is 900 euros a month.\n"
)
GARDEN = "# Garden\n\nTomatoes need six hours of sun.\n"
ASKED = "When does the lease end? The lease ends on 31 March 2027."


@pytest.fixture
def embedders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[WordEmbedder]:
    """Every embedder that was opened; the folders of the user are away from the real ones."""
    opened: list[WordEmbedder] = []

    def open_words(settings: EmbeddingSettings, **options: Any) -> WordEmbedder:
        opened.append(WordEmbedder(name=settings.model))
        return opened[-1]

    def stamp_of_words(settings: EmbeddingSettings, **options: Any) -> Any:
        return WordEmbedder(name=settings.model).stamp

    monkeypatch.setattr(registry, "open_embedder", open_words)
    monkeypatch.setattr(registry, "expected_stamp", stamp_of_words)
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"RAGCHAT_{name}_DIR", str(tmp_path / name))
    return opened


@pytest.fixture
def server() -> Iterator[OllamaTestServer]:
    with OllamaTestServer(answer="It ends on 31 March 2027 [1].") as listening:
        yield listening


@pytest.fixture
def settings(server: OllamaTestServer) -> Settings:
    return Settings(
        ollama=OllamaSettings(host=server.url),
        retrieval=RetrievalSettings(threshold=0.6),
        embedding=EmbeddingSettings(model="words"),
    )


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "house").mkdir(parents=True)
    (folder / "house" / "lease.md").write_text(LEASE)
    (folder / "garden.md").write_text(GARDEN)
    (folder / ".hidden.md").write_text("secret")
    return folder


@pytest.fixture
def workspace(notes: Path, settings: Settings, embedders: list[WordEmbedder]) -> Iterator[Workspace]:
    opened = Workspace(notes, settings)
    yield opened
    opened.close()


def test_index_ask_cite_and_slice(workspace: Workspace, notes: Path) -> None:
    seen: list[IndexProgress] = []
    report = workspace.update(on_progress=seen.append)
    assert (report.indexed, report.complete) == (2, True)
    assert seen[-1].phase == "done"
    printed = answer_json(the_answer(list(workspace.assistant().ask(ASKED))))
    json.dumps(printed)
    first = printed["sources"][0]
    assert printed["answer"] == "It ends on 31 March 2027 [1]."
    assert printed["answered_by"] == "model"
    assert (first["n"], first["document"], first["section"]) == (1, "house/lease.md", "Lease > Term")
    assert first["cited"]
    text = (notes / first["document"]).read_text()
    assert text[first["start"] : first["end"]] == first["quote"]
    assert first["locator"] == f"#char={first['start']},{first['end']}"
    assert printed["threshold_from"] == "setting"


def test_an_off_topic_question_after_an_on_topic_one_sends_nothing(
    workspace: Workspace, server: OllamaTestServer
) -> None:
    workspace.update()
    assistant = workspace.assistant()
    workspace.conversation().keep(the_answer(list(assistant.ask(ASKED))))
    before = len(server.requests)
    for question in ("why is the sky blue", "hello", "name a prime number", "xqzt vrrk"):
        answer = the_answer(list(assistant.ask(question)))
        printed = answer_json(answer)
        assert answer.outcome == "refused"
        assert printed["message"] == f'NO ANSWER: nothing under cosine distance 0.600 for "{question}"'
        assert (printed["answer"], printed["sources"], printed["refused"]) == (None, [], True)
        assert {candidate["verdict"] for candidate in printed["candidates"]} <= {"too far"}
        workspace.conversation().keep(answer)
    assert len(server.requests) == before
    assert len(workspace.conversation().turns()) == 5


def test_a_scope_keeps_the_threshold(workspace: Workspace, server: OllamaTestServer) -> None:
    workspace.update()
    trace = workspace.assistant().retrieve(ASKED, filters=Filters(within=("garden",)))
    assert trace.refused
    assert {candidate.chunk.document for candidate in trace.candidates} <= {"garden.md"}
    assert search_json(trace)["sources"] == []


def test_a_question_without_an_index_names_the_command(workspace: Workspace) -> None:
    with pytest.raises(IndexMissing) as caught:
        list(workspace.assistant().ask("x"))
    assert caught.value.hint.startswith("ragchat index")
    assert not paths.data_dir().exists()


def test_a_missing_folder_is_said_but_its_index_still_answers(workspace: Workspace, notes: Path) -> None:
    workspace.update()
    notes.rename(notes.with_name("away"))
    assert workspace.status().indexed == 2
    assert the_answer(list(workspace.assistant().ask(ASKED))).cited == {1}
    with pytest.raises(FolderMissing):
        workspace.update()


def test_a_folder_that_never_was_is_missing(tmp_path: Path, embedders: object) -> None:
    nowhere = Workspace(tmp_path / "nowhere", Settings())
    for call in (nowhere.survey, nowhere.status, nowhere.update, lambda: list(nowhere.assistant().ask("x"))):
        with pytest.raises(FolderMissing):
            call()


def test_status_counts_what_is(
    workspace: Workspace, notes: Path, embedders: list[WordEmbedder], settings: Settings
) -> None:
    before = workspace.status()
    assert (before.indexed, before.chunks, before.stamp, before.threshold) == (0, 0, None, None)
    workspace.update()
    opened = len(embedders)
    fresh = status_json(workspace.status())
    assert fresh["documents"] == {"indexed": 2, "failed": 0, "skipped": 1, "stale": 0}
    assert fresh["stamp"]["embedder"] == "words"
    assert fresh["threshold"] == 0.6
    (notes / "garden.md").write_text(GARDEN + "\nWater them.\n")
    assert status_json(workspace.status())["documents"] == {
        "indexed": 1,
        "failed": 0,
        "skipped": 1,
        "stale": 1,
    }
    other = replace(settings, embedding=EmbeddingSettings(model="other"))
    assert Workspace(notes, other).status().stale == 2
    assert len(embedders) == opened  # no model was loaded for it


def test_another_embedder_makes_the_index_stale(
    workspace: Workspace, notes: Path, settings: Settings
) -> None:
    workspace.update()
    other = Workspace(notes, replace(settings, embedding=EmbeddingSettings(model="other")))
    with pytest.raises(IndexStale, match=r"words.*other"):
        list(other.assistant().ask(ASKED))
    assert other.update(rebuild=True).indexed == 2
    assert the_answer(list(other.assistant().ask(ASKED))).outcome == "answered"
    other.close()


def test_rebuilding_mends_an_index_that_cannot_be_opened(workspace: Workspace, notes: Path) -> None:
    data = paths.folder_data_dir(notes)
    data.mkdir(parents=True)
    (data / "index.sqlite3").write_bytes(b"this is no database" * 100)
    assert workspace.update(rebuild=True).indexed == 2


def test_rebuilding_mends_an_index_that_opens_and_is_damaged_inside(
    workspace: Workspace, notes: Path
) -> None:
    for number in range(60):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\n{'Tomatoes need sun. ' * 40}\n")
    whole = workspace.update()
    workspace.close()
    file = paths.folder_data_dir(notes) / "index.sqlite3"
    content = bytearray(file.read_bytes())
    content[-3 * 4096 : -2 * 4096] = b"\xff" * 4096
    file.write_bytes(content)
    mended = workspace.update(rebuild=True)
    assert (mended.complete, mended.indexed, mended.chunks) == (True, whole.indexed, whole.chunks)
    workspace.close()


def test_the_model_is_remembered_for_the_folder(
    workspace: Workspace, notes: Path, settings: Settings
) -> None:
    assert workspace.model() == ""
    workspace.remember_model("llama3.2:3b")
    workspace.update()
    configured = replace(settings, ollama=replace(settings.ollama, model="qwen3:4b"))
    assert Workspace(notes, configured).model() == "llama3.2:3b"
    kept = json.loads((paths.folder_data_dir(notes) / "folder.json").read_text())
    assert kept == {"path": str(notes.resolve()), "model": "llama3.2:3b"}


def test_forget_leaves_nothing_behind_but_the_notes(workspace: Workspace, notes: Path) -> None:
    workspace.update()
    workspace.conversation().keep(the_answer(list(workspace.assistant().ask(ASKED))))
    workspace.forget()
    assert not paths.folder_data_dir(notes).exists()
    assert (notes / "garden.md").read_text() == GARDEN
    assert workspace.update().indexed == 2


@pytest.mark.parametrize("deed", ["forgotten", "made anew", "made anew in its place"])
def test_an_index_that_another_program_took_away_is_opened_anew(
    workspace: Workspace, notes: Path, settings: Settings, deed: str
) -> None:
    """The screen stays open while `ragchat forget` or `index --rebuild` runs in another terminal."""
    workspace.update()
    held = workspace.retriever()
    other = Workspace(notes, settings)
    if deed == "forgotten":
        other.forget()
        assert not workspace.has_index()
        with pytest.raises(IndexMissing):
            workspace.retriever()
    else:
        file = paths.folder_data_dir(notes) / "index.sqlite3"
        if deed == "made anew":
            file.unlink()  # the one that is held stays as it is
            file.write_bytes(b"damaged" * 1000)
            other.update(rebuild=True)
        else:
            other.forget()
            other.update()
        other.close()
    assert held.retrieve(ASKED).sources, "a question that has begun is answered"
    (notes / "garden.md").write_text("# Garden\n\nPears need nine hours of sun.\n")
    assert workspace.update().indexed == 2
    found = workspace.retriever().retrieve("Pears need nine hours of sun.").sources
    assert [source.chunk.document for source in found][:1] == ["garden.md"]
    workspace.close()


def test_the_servers_health_is_told_even_for_a_host_that_is_none(
    workspace: Workspace, server: OllamaTestServer, notes: Path
) -> None:
    health = workspace.server_health()
    assert (health.reachable, health.loopback) == (True, True)
    assert [model.name for model in health.models] == ["qwen3:4b"]
    assert server.count("/api/chat") == 0
    wrong = Workspace(notes, Settings(ollama=OllamaSettings(host="ftp://x")))
    assert not wrong.server_health().reachable
    assert wrong.server_health().problem


def test_asking_while_indexing_uses_what_is_there(workspace: Workspace, notes: Path) -> None:
    workspace.update()
    for number in range(60):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nSome words about topic {number}.\n")
    answers: list[Answer] = []

    def ask_once(progress: IndexProgress) -> None:
        if progress.phase == "indexing" and not answers:
            answers.append(the_answer(list(workspace.assistant().ask(ASKED))))

    assert workspace.update(on_progress=ask_once).complete
    assert answers[0].cited == {1}


def test_a_question_while_indexing_is_judged_by_what_is_indexed(
    embedders: object, notes: Path, settings: Settings
) -> None:
    """The threshold of the first few passages would let too much pass in the hundred that are there now."""
    workspace = Workspace(notes, replace(settings, retrieval=RetrievalSettings()))
    workspace.update()
    for number in range(400):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nSome words about topic {number}.\n")
    thresholds = []

    def ask_late(progress: IndexProgress) -> None:
        if progress.phase == "indexing" and progress.documents_done > 100:
            thresholds.append(workspace.assistant().retrieve(ASKED).threshold)

    of_few = workspace.assistant().retrieve(ASKED).threshold
    assert workspace.update(on_progress=ask_late).complete
    of_all = workspace.assistant().retrieve(ASKED).threshold
    assert (of_few.origin, of_all.origin) == ("default", "auto")
    assert {threshold.origin for threshold in thresholds} == {"provisional", "auto"}
    # A question may move its own threshold; the one it is moved from must be of all that is there.
    folders = [threshold.folders or threshold.value for threshold in thresholds]
    assert max(folders) < of_few.value
    workspace.close()


def test_before_anything_is_read_there_is_no_answer_to_refuse(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over no documents at all, NO ANSWER would be a lie; over documents without vectors there is one."""
    monkeypatch.setattr("ragchat.answering.at_once.READING_SECONDS", 0.0)
    found: dict[str, Coverage] = {}

    def ask_at_once(progress: IndexProgress) -> None:
        if progress.documents_read == 0:
            with pytest.raises(IndexMissing):
                workspace.assistant().retrieve(ASKED)
        elif progress.phase == "loading model":
            trace = workspace.assistant().retrieve(ASKED)
            assert trace.sources[0].chunk.document == "house/lease.md"
            found[progress.phase] = trace.coverage

    workspace.update(on_progress=ask_at_once)
    assert found == {"loading model": Coverage(0, 0, 0, pending=2, by_words=2)}
    assert workspace.assistant().retrieve(ASKED).coverage == Coverage(2, 0, 0)


def test_every_answer_says_what_of_the_folder_it_was_not_searched_in(
    workspace: Workspace, notes: Path, settings: Settings
) -> None:
    (notes / "broken.md").write_bytes(b"\x00\x01\x02\xff" * 500)
    workspace.update()
    assert workspace.assistant().retrieve(ASKED).coverage == Coverage(2, 1, 0)
    (notes / "garden.md").write_text(GARDEN + "\nWater them.\n")
    (notes / "new.md").write_text("# New\n\nNot known yet.\n")
    (notes / "house" / "lease.md").unlink()
    later = Workspace(notes, settings)  # as `--no-update` does
    trace = later.assistant().retrieve("why is the sky blue")
    assert trace.coverage == Coverage(2, 1, 0, changed=2, pending=1)
    answer = the_answer(list(later.assistant().ask("why is the sky blue")))
    printed = answer_json(answer)["coverage"]
    assert printed == {"indexed": 2, "failed": 1, "stale": 2, "pending": 1, "by_words": 0}
    assert answer.message == (
        'NOT FOUND SO FAR: nothing under cosine distance 0.600 for "why is the sky blue"'
    )
    later.update()
    assert later.assistant().retrieve(ASKED).coverage == Coverage(2, 1, 0)
    later.close()


def test_a_model_of_a_flag_or_the_environment_beats_the_remembered_one(
    workspace: Workspace, notes: Path, settings: Settings
) -> None:
    workspace.remember_model("llama3.2:3b")
    named = replace(settings.ollama, model="qwen3:4b")
    for origin, model in (
        ("flag", "qwen3:4b"),
        ("RAGCHAT_OLLAMA_MODEL", "qwen3:4b"),
        ("/home/ada/config.toml", "llama3.2:3b"),
    ):
        asked = Workspace(notes, replace(settings, ollama=named, origins={"ollama.model": origin}))
        assert asked.model() == model, origin


def test_importing_the_room_loads_nothing_heavy() -> None:
    heavy = ["torch", "sentence_transformers", "onnxruntime", "ollama", "httpx", "markdown_it"]
    modules = sorted(path.stem for path in Path(ragchat.answering.__file__).parent.glob("[a-z]*.py"))
    assert "workspace" in modules
    imports = "\n".join(f"import ragchat.answering.{name}" for name in modules)
    program = f"{imports}\nimport sys\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]"
