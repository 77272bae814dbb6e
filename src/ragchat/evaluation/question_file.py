"""Read question files: JSONL, one question a line, and TOML for people.

Both have the same fields, one record a question:

    question    the words, or a list of phrasings of the same question
    answerable  false: it must be refused (then no document is named, or none counts)
    document    the note, relative to the folder
    evidence    the words that answer, as they stand in the note; with from, to: the range, where they stand
                more than once. Half-open code points of the note's text, newlines as they are, no BOM counted
    also        further spans of the same answer, each with document (else the same note), evidence, from, to
    id, kind, group   optional: a name; why it must be refused ("near miss …"); one name for all phrasings

Other fields are left alone. In TOML each record is a [[question]].
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from ragchat.errors import UsageError
from ragchat.evaluation.questions import Problem

_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*question[ \t]*\]\]", re.MULTILINE)
_FIELDS = {"question", "answerable", "document", "evidence", "from", "to", "also", "id", "kind", "group"}
_HINT = "docs/evaluation.md shows how a question file looks"


@dataclass(frozen=True, slots=True)
class Span:
    """A span as the file gives it: words, a range, or both."""

    document: str
    evidence: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Record:
    """One record, in the right types, its spans not looked up yet. place: "file:line"."""

    place: str
    id: str
    phrasings: tuple[str, ...]
    spans: tuple[Span, ...]
    kind: str
    group: str


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The records of a file, what was wrong with others, and the sha256 of its bytes.

    places: of both, in the order of the file.
    """

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    places: tuple[str, ...]
    digest: str


def read_records(path: Path) -> RecordFile:
    """Every record of a .toml or .jsonl file. Raises UsageError for a file that is none at all."""
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror or error}{_meant(path)}",
            hint="name a question file, .jsonl or .toml; a path begins at the folder you are in",
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}", hint="save it as UTF-8") from error
    tables = _toml_tables(path, text) if path.suffix.lower() == ".toml" else _json_lines(path, text)
    records: list[Record] = []
    problems: list[Problem] = []
    places: dict[str, str] = {}
    order: list[str] = []
    for place, table in tables:
        order.append(place)
        try:
            record = _record(place, table)
        except _Unusable as error:
            problems.append(Problem(place, str(error)))
            continue
        if record.id in places:
            problems.append(Problem(place, f"the id {record.id!r} is that of {places[record.id]} already"))
            continue
        places[record.id] = place
        records.append(record)
    if not records and not problems:
        raise UsageError(f"{path} holds no question", hint=_HINT)
    return RecordFile(tuple(records), tuple(problems), tuple(order), sha256(data).hexdigest())


class _Unusable(Exception):
    """A record cannot be used; says why."""


def _json_lines(path: Path, text: str) -> Iterator[tuple[str, object]]:
    # Not splitlines: U+2028 within a JSON string ends no line.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path.name}:{number}"
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield place, _Unusable(f"it is no JSON: {error}")


def _toml_tables(path: Path, text: str) -> Iterator[tuple[str, object]]:
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise UsageError(f"{path} is no TOML: {error}", hint=_HINT) from error
    tables = content.get("question", [])
    if "question" not in content and (near := _resembling("question", content)):
        raise UsageError(f"{path} holds [[{near}]]: write [[question]]", hint=_HINT)
    if not isinstance(tables, list):
        raise UsageError(f"{path}: write each question under [[question]]", hint=_HINT)
    lines = [text.count("\n", 0, match.start()) + 1 for match in _TABLE.finditer(text)]
    # Inline tables (question = [{…}]) have no heading each: they are counted instead.
    named = [f":{line}" for line in lines] if len(lines) == len(tables) else []
    for number, table in enumerate(tables):
        yield path.name + (named[number] if named else f", question {number + 1}"), table


def _record(place: str, table: object) -> Record:
    if isinstance(table, _Unusable):
        raise table
    if not isinstance(table, dict):
        raise _Unusable('it is no record: write {"question": "…", …}')
    phrasings = _phrasings(table)
    answerable = table.get("answerable", True)
    if not isinstance(answerable, bool):
        raise _Unusable("answerable is true or false")
    spans: tuple[Span, ...] = ()
    if answerable:
        document = _text(table, "document") or _missing(
            table, "document", "the note that answers, or answerable: false"
        )
        also = table.get("also") or []
        if not isinstance(also, list) or not all(isinstance(span, dict) for span in also):
            raise _Unusable("also is a list of spans, each with evidence")
        spans = tuple(_span(fields, document) for fields in (table, *also))
    identity = str(table.get("id") or place)
    return Record(
        place=place,
        id=identity,
        phrasings=phrasings,
        spans=spans,
        kind=_text(table, "kind") if not answerable else "",
        group=_text(table, "group") or identity,
    )


def _phrasings(table: Mapping[str, Any]) -> tuple[str, ...]:
    value = table.get("question")
    phrasings = tuple(value) if isinstance(value, list) else (value,)
    if not phrasings or not all(isinstance(text, str) and text.strip() for text in phrasings):
        _missing(table, "question", "its words, or a list of phrasings")
    return phrasings


def _span(fields: Mapping[str, Any], document: str) -> Span:
    evidence = _text(fields, "evidence")
    start, end = fields.get("from"), fields.get("to")
    if (start is None) != (end is None):
        raise _Unusable("from and to belong together")
    if start is not None and not (type(start) is int and type(end) is int and 0 <= start < end):
        raise _Unusable(f"from {start!r}, to {end!r} is no range: 0 <= from < to, in characters")
    if not evidence and start is None:
        _missing(fields, "evidence", "the words that answer, as they stand in the note")
    return Span(_text(fields, "document") or document, evidence or None, start, end)


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise _Unusable(f"{name} is a text, not {value!r:.40}")
    return value or ""


def _missing(table: Mapping[str, Any], name: str, what: str) -> NoReturn:
    misspelt = [(field, _resembling(field, set(table) - _FIELDS)) for field in (name, "answerable")]
    meant = [f"; {written!r:.40} stands there, write {field}" for field, written in misspelt if written]
    raise _Unusable(f"{name} is missing: {what}{''.join(meant)}")


def _resembling(name: str, written: Iterable[str]) -> str:
    """The one of what was written that is a misspelt name; "" for none."""
    near = difflib.get_close_matches(name, written, n=1, cutoff=0.75)
    return near[0] if near else ""


def _meant(path: Path) -> str:
    """The question file beside a missing one whose name is nearest."""
    try:
        others = [each.name for each in path.parent.iterdir() if each.suffix.lower() in (".jsonl", ".toml")]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, others, n=1)
    return f"; did you mean {path.with_name(near[0])}?" if near else ""
