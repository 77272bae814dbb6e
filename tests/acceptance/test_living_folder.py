"""A few hundred notes indexed, edited under the open screen, and searched: the same as a fresh index."""

from __future__ import annotations

import os
import random
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ragchat.answering.workspace import Workspace
from ragchat.embedding import registry
from ragchat.embedding.bundled_questions import load_off_topic_questions
from ragchat.index.progress import IndexProgress
from ragchat.settings import EmbeddingSettings, OllamaSettings, RetrievalSettings, Settings
from ragchat.tui.app import RagchatApp
from tests.doubles import WordEmbedder

SETTINGS = Settings(
    embedding=EmbeddingSettings(model="words"),
    ollama=OllamaSettings(host="http://127.0.0.1:9"),
    retrieval=RetrievalSettings(),
)
WORDS = ["lease", "rent", "boiler", "tomato", "school", "dentist", "train", "recipe", "tax", "garden"]
WORDS += ["bicycle", "piano", "visa", "loan", "cat", "roof"]
FAR = ["sky", "who painted the ceiling of the chapel", "quantum numbers of neutrons"]
NOTES = 300


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def open_words(settings: EmbeddingSettings, **options: Any) -> WordEmbedder:
        return WordEmbedder(name=settings.model)

    monkeypatch.setattr(registry, "open_embedder", open_words)
    monkeypatch.setattr(registry, "expected_stamp", lambda settings, **options: open_words(settings).stamp)
    fewer = tmp_path / "fewer.txt"
    fewer.write_text("\n".join(load_off_topic_questions()[::6]), encoding="utf-8")
    monkeypatch.setattr("ragchat.embedding.bundled_questions.off_topic_questions_path", lambda: fewer)
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"RAGCHAT_{name}_DIR", str(tmp_path / name))


def note(chance: random.Random, number: int) -> str:
    words = [" ".join(chance.choices(WORDS, k=12)) for _ in range(3)]
    parts = [f"## Part {part}\n\n{words[part]} n{number}p{part}." for part in range(3)]
    return "\n\n".join([f"# Note {number}", *parts]) + "\n"


def searched(workspace: Workspace, questions: list[str]) -> list[Any]:
    """All that a question is told, but for ids, times and the last bits of a float."""
    found: list[Any] = [workspace.status().threshold]
    for question in questions:
        trace = workspace.assistant().retrieve(question)
        candidates = [
            (
                each.chunk,
                round(each.distance, 6),
                (each.dense_rank, each.bm25_rank, each.fused_rank),
                None if each.bm25_score is None else round(each.bm25_score, 9),
                None if each.rerank_score is None else round(each.rerank_score, 5),
                (each.verdict, each.number, each.also_in),
            )
            for each in trace.candidates
        ]
        offered = trace.literal and (trace.literal.term, trace.literal.candidate.chunk)
        found.append((trace.refused, trace.threshold, trace.coverage, candidates, offered))
    return found


def edit(folder: Path, chance: random.Random, step: int) -> None:
    """One of what people and programs do to notes."""
    paths = sorted(folder.rglob("*.md"))
    match step % 6:
        case 0:
            path = chance.choice(paths)
            path.write_text(path.read_text().replace("Part 1", f"Part one, edited {step}"))
        case 1:
            path = chance.choice(paths)
            temporary = path.with_name(f".{path.name}.tmp")
            temporary.write_text(note(chance, 1000 + step))
            temporary.replace(path)
        case 2:
            chance.choice(paths).unlink()
        case 3:
            (folder / f"moved-{step}").mkdir()
            for path in chance.sample(paths, 3):
                path.rename(folder / f"moved-{step}" / path.name)
        case 4:
            (folder / f"new-{step}.md").write_text(note(chance, 2000 + step))
        case _:
            path = chance.choice(paths)
            before = path.stat()
            path.write_text(path.read_text().replace("a", "e"))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


async def test_a_folder_edited_under_the_open_screen_is_searched_as_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(11)
    folder = tmp_path / "notes"
    for number in range(NOTES):
        path = folder / f"{number % 7}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(chance, number))
    app = RagchatApp(folder, SETTINGS, open_workspace=Workspace)
    async with app.run_test(size=(120, 36)) as pilot:

        async def fresh() -> None:
            """Until the header says so, and has said so for a while."""
            quiet = 0
            for _ in range(1500):
                await pilot.pause(0.02)
                session = app.session
                settled = session is not None and session.is_open and not session.indexing
                told = app.chat.header.facts.indexed.word == "fresh"
                quiet = quiet + 1 if settled and told else 0
                if quiet > 60:
                    return
            raise AssertionError(f"not fresh: {app.chat.header.facts.indexed}")

        await fresh()
        for step in range(18):
            edit(folder, chance, step)
            if step % 5 == 4:
                await fresh()
        await fresh()
        assert app.session is not None
        open_one = app.session.workspace
        names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
        assert open_one.index().sources().keys() == names
        questions = [" ".join(chance.choices(WORDS, k=3)) for _ in range(8)] + ["n12p1", "n2004p0", *FAR]
        under_the_screen = searched(open_one, questions)
        monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "other"))
        anew = Workspace(folder, SETTINGS)
        assert anew.update().complete
        assert under_the_screen == searched(anew, questions)
        assert {told[1].origin for told in under_the_screen[1:]} == {"auto"}
        assert {told[0] for told in under_the_screen[1:]} == {True, False}
        anew.close()


def test_a_folder_whose_updates_were_broken_off_is_searched_as_a_fresh_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(12)
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"{number}.md").write_text(note(chance, number))
    workspace = Workspace(folder, SETTINGS)
    assert workspace.update().complete
    for step in range(12):
        edit(folder, chance, step)
        if step % 2:
            cancel = threading.Event()
            workspace.update(cancel=cancel, on_progress=partial(_stop_at_one, cancel))
        else:  # it dies when all is indexed, before the threshold is measured
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr("ragchat.retrieval.threshold.renew_threshold", _dies)
                with pytest.raises(KeyboardInterrupt):
                    workspace.update()
    assert workspace.update().complete
    questions = [" ".join(chance.choices(WORDS, k=3)) for _ in range(8)] + ["n12p1", *FAR]
    broken_off = searched(workspace, questions)
    workspace.close()
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "other"))
    anew = Workspace(folder, SETTINGS)
    assert anew.update().complete
    assert broken_off == searched(anew, questions)
    anew.close()


def _stop_at_one(cancel: threading.Event, told: IndexProgress) -> None:
    if told.documents_done:
        cancel.set()


def _dies(*_arguments: object) -> None:
    raise KeyboardInterrupt
