"""The bundled questions that no folder of notes is expected to answer.

They calibrate the automatic threshold (`retrieval/`), and they are the texts from whose token vectors the
projection of `token_vectors` is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ragchat.paths import off_topic_questions_path


def load_off_topic_questions(path: Path | None = None) -> tuple[str, ...]:
    """The questions, one a line, in order; blank lines and lines that begin with `#` are none.

    path: another file of the same form; None reads the bundled one.
    """
    lines = (path or off_topic_questions_path()).read_text(encoding="utf-8").splitlines()
    questions = (line.strip() for line in lines)
    return tuple(question for question in questions if question and not question.startswith("#"))


def set_version(questions: Sequence[str]) -> str:
    """A short digest that changes when a question does."""
    return hashlib.sha256("\n".join(questions).encode()).hexdigest()[:16]
