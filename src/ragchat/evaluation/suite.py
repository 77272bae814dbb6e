"""A folder of question sets: most with their own notes, some with none, which no notes answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragchat.errors import UsageError
from ragchat.evaluation.question_file import read_records
from ragchat.index.protocol import Snapshot
from ragchat.retrieval.calibration import speaks_the_folders_language

_QUESTIONS = ("questions.jsonl", "questions.toml")
_NOTES = "corpus"
_SAMPLE = 100


@dataclass(frozen=True, slots=True)
class SharedSet:
    """One folder of notes with the questions to ask of it."""

    name: str
    notes: Path
    questions: Path


@dataclass(frozen=True, slots=True)
class Suite:
    """sets: notes with questions. strangers: question files without notes, which no notes answer.

    unasked: names of folders with notes and no questions.
    """

    sets: tuple[SharedSet, ...]
    strangers: tuple[Path, ...]
    unasked: tuple[str, ...] = ()


def find_suite(root: Path) -> Suite:
    """Every folder below `root` that holds a question file; its notes lie beside it in `corpus`.

    Raises UsageError where there is none.
    """
    sets: list[SharedSet] = []
    strangers: list[Path] = []
    unasked: list[str] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else ():
        questions = next((folder / name for name in _QUESTIONS if (folder / name).is_file()), None)
        if questions is None:
            unasked += [folder.name] if (folder / _NOTES).is_dir() else []
            continue
        if (folder / _NOTES).is_dir():
            sets.append(SharedSet(folder.name, folder / _NOTES, questions))
        else:
            strangers.append(questions)
    if not sets:
        raise UsageError(
            f"{root} holds no question set: no folder with {_NOTES}/ and {_QUESTIONS[0]}",
            hint="docs/evaluation.md shows how a question set is laid out",
        )
    return Suite(tuple(sets), tuple(strangers), tuple(unasked))


def in_the_notes_language(questions: Sequence[Path], snapshot: Snapshot) -> list[Path]:
    """The files whose questions are mostly in the language of these notes: of others, far ones say nothing.

    A question in another language lies far from everything, so that refusing it is no merit.
    """
    kept = []
    for path in questions:
        texts = [record.phrasings[0] for record in read_records(path).records[:_SAMPLE]]
        spoken = sum(speaks_the_folders_language(snapshot, text) for text in texts)
        if 2 * spoken >= len(texts):
            kept.append(path)
    return kept
