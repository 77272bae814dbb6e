"""A folder of new notes, opened and asked at once: until the first frame, and until the first gated answer.

The question is typed with its enter as soon as the first frame is there, as somebody in a hurry does. The
model is exported; without a model server the answer is a quotation. Every round begins without an index.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Series
from benchmarks.synthetic import blocks
from benchmarks.terminal import Terminal

SUBJECT = "new"

_NOTES = 2_000
_PASSAGES = 3
"""A note has some thousand characters."""
_ASKED = 1_500
_SIGN = "searched "
"""Stands in every answer and refusal over a part of the notes: searched 1,510 of 2,000 notes."""
_BOUND = 5.0


def measure(plan: Plan) -> list[Row]:
    """Both from the start of the program."""
    home = plan.work / "new"
    notes = home / "notes"
    question = _write(notes)
    environment = plan.environment(home)
    frames, answers = [], []
    for _ in range(1 + max(3, plan.rounds // 4)):  # the first exports the model where that was not done yet
        for name in ("data", "config"):
            shutil.rmtree(home / name, ignore_errors=True)
        with Terminal([sys.executable, "-m", "ragchat", str(notes)], environment) as terminal:
            frames.append(terminal.wait_for("Ask your notes") - terminal.started)
            terminal.press(f"{question}\r")
            answers.append(terminal.wait_for(_SIGN) - terminal.started)
    case = f"{_NOTES:,} new notes"
    first = Series(tuple(answers[1:]))
    return [
        row_of(SUBJECT, case, "ragchat's first frame", Series(tuple(frames[1:]))),
        row_of(SUBJECT, case, "its first answer", first, goal=f"{_BOUND:.0f} s", met=first.median <= _BOUND),
    ]


def _write(folder: Path) -> str:
    """The notes, if they are not there yet; a question that one of them answers."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [text for block in blocks(_NOTES * _PASSAGES) for text in block.texts]
    for number in range(_NOTES):
        text = "\n\n".join(texts[number * _PASSAGES : (number + 1) * _PASSAGES])
        (folder / f"note-{number:05d}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")
    return " ".join(texts[_ASKED * _PASSAGES].split()[:6])
