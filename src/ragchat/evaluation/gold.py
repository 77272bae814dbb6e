"""Find every gold span in the note it names, or say why it cannot be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ragchat.documents.document import Document, FailedDocument
from ragchat.evaluation.question_file import Record, Span, read_records
from ragchat.evaluation.questions import Gold, Problem, Question, QuestionSet
from ragchat.retrieval.filters import nearest

DocumentReader = Callable[[str], Document | FailedDocument]


def load_questions(paths: Sequence[Path], names: Iterable[str], read: DocumentReader) -> QuestionSet:
    """The questions of all files, their gold looked up in the notes.

    names: of the notes in the folder. read: gives one of them as it stands now.
    Raises UsageError for a file that holds no questions at all; one bad record is a `Problem`.
    """
    notes = _Notes(names, read)
    questions: list[Question] = []
    problems: list[Problem] = []
    digests = []
    for path in paths:
        file = read_records(path)
        digests.append(file.digest)
        found = list(file.problems)
        # Two files may use the same ids.
        prefix = f"{path.stem}:" if len(paths) > 1 else ""
        for record in file.records:
            try:
                golds = tuple(notes.gold(span) for span in record.spans)
            except _NotFound as error:
                found.append(Problem(record.place, str(error)))
                continue
            questions.extend(_phrasings(record, golds, prefix))
        problems += sorted(found, key=lambda problem: file.places.index(problem.place))
    return QuestionSet(tuple(questions), tuple(problems), " ".join(digests))


def _phrasings(record: Record, golds: tuple[Gold, ...], prefix: str) -> Iterable[Question]:
    for number, text in enumerate(record.phrasings, start=1):
        identity = f"{prefix}{record.id}" + (f"/{number}" if number > 1 else "")
        yield Question(identity, text, golds, f"{prefix}{record.group}", record.kind)


class _NotFound(Exception):
    """A span has no place in its note; says why."""


class _Notes:
    def __init__(self, names: Iterable[str], read: DocumentReader) -> None:
        self._names: Mapping[str, str] = {_folded(name): name for name in names}
        self._read = read
        self._documents: dict[str, Document | FailedDocument] = {}

    def gold(self, span: Span) -> Gold:
        document = self._document(span.document)
        start, end = _place(document.text, span)
        for section in document.sections:
            if section.path and section.start <= start and end <= section.body_start:
                raise _NotFound(f"{span.document}: {_shown(span)} is a heading, which is no evidence")
        return Gold(document.name, start, end)

    def _document(self, name: str) -> Document:
        known = self._names.get(_folded(name.removeprefix("./")))
        if known is None:
            near = nearest(name, self._names.values())
            meant = f"; did you mean {near[0]}?" if near else ""
            raise _NotFound(f"there is no note {name!r} in the folder{meant}")
        if known not in self._documents:
            self._documents[known] = self._read(known)
        document = self._documents[known]
        if isinstance(document, FailedDocument):
            raise _NotFound(f"{name} could not be read: {document.reason}")
        return document


def _folded(name: str) -> str:
    """File systems differ in how they compose an accent."""
    return unicodedata.normalize("NFC", name)


def _place(text: str, span: Span) -> tuple[int, int]:
    """Where the span stands: by its range if the words are there, else where the words stand once."""
    if span.start is not None and span.end is not None:
        inside = span.end <= len(text)
        if inside and span.evidence in (None, text[span.start : span.end]):
            return span.start, span.end
        if span.evidence is None:
            raise _NotFound(f"{span.document}: the range ends at {span.end}, the note at {len(text)}")
    evidence = span.evidence or ""
    places = _occurrences(text, evidence)
    if len(places) == 1:
        return places[0]
    shown = _shown(span)
    if not places:
        raise _NotFound(f"{span.document}: {shown} does not stand in it; copy the words from the note")
    raise _NotFound(f"{span.document}: {shown} stands in it {len(places)} times; give from and to")


def _occurrences(text: str, evidence: str) -> list[tuple[int, int]]:
    """Word for word, overlapping ones too; else with other white space between the words."""
    exact = [match.start() for match in re.finditer(f"(?={re.escape(evidence)})", text)]
    if exact:
        return [(start, start + len(evidence)) for start in exact]
    words = r"\s+".join(map(re.escape, evidence.split()))
    return [match.span() for match in re.finditer(words, text)] if words else []


def _shown(span: Span) -> str:
    words = " ".join((span.evidence or "").split())
    return f"“{words[:60]}…”" if len(words) > 60 else f"“{words}”" if words else f"{span.start}-{span.end}"
