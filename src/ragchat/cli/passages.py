"""`show`: what a citation points to."""

from __future__ import annotations

import difflib
import re
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from ragchat.answering.escape import escape_control, escape_line
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import is_terminal, linked, note, readable, say, say_json, styled
from ragchat.cli.evidence import escaped_lines, file_address
from ragchat.cli.opening import open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.documents.lines import Lines
from ragchat.documents.locators import place_of
from ragchat.errors import IndexMissing, UsageError
from ragchat.index.scan import note_path

if TYPE_CHECKING:
    from ragchat.answering.verification import VerifiedSpan

_CITED = re.compile(r"#char=(?P<range>\d+,\d+)(?=&|\Z)")
_AT_LINES = re.compile(r"(?::|#L)(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?\Z")
_RANGE = re.compile(r"(\d{1,18}),(\d{1,18})")
_SHOWN = 240
_ALIKE = 0.85
"""So like is a name that was mistyped; less like are two notes of one series, one of them deleted."""
_USE = "ragchat show house/lease.md --chars 1204,1690"


@click.command()
@click.argument("document")
@click.option("--chars", metavar="A,B", help="Characters A up to, not including, B; as in #char=A,B.")
@folder_option
@json_option
def show(
    document: str, chars: str | None, folder: Path | None, assignments: tuple[str, ...], as_json: bool
) -> int:
    """Print the text that a citation points to, as it was when DOCUMENT was indexed.

    DOCUMENT is a name as `search` prints it, also with its range: house/lease.md#char=1204,1690, or with a
    line: house/lease.md:13, house/lease.md#L13-L15. A whole path below the folder will do. A pipe gets
    exactly that text, without a newline of ours; a terminal sees control characters written out.
    """
    workspace = open_workspace(folder, settings_of(assignments))
    document = readable(document)
    _require_index(workspace, named=folder is not None)
    lines = None
    if chars is None:
        document, chars, lines = _cited(workspace, document)
    elif workspace.index().document_text(document) is None:
        document = _below(workspace.folder, document)
    text = _text(workspace, document)
    start, end = _range(chars, document, len(text)) if lines is None else _of_lines(lines, document, text)
    span = workspace.verify(document, start, end, text[start:end])
    if as_json:
        place = place_of(workspace.index().document_locators(document), start, end)
        locator = f"#char={start},{end}" + (f"&{place}" if place else "")
        told = {"document": document, "locator": locator, "start": start, "end": end, "text": text[start:end]}
        say_json({**told, **_now(span)})
    elif is_terminal():
        say("\n".join(escaped_lines(text[start:end])))
        place = escape_line(f"{document}#char={start},{end}")
        say(styled(linked(place, file_address(workspace.folder, document, start, end)), "2"))
    else:
        say(text[start:end], end="")
    _tell_if_changed(document, span)
    return 0


def _require_index(workspace: Workspace, *, named: bool) -> None:
    """named: whether the folder was; else it is the one that happens to be the current one."""
    if not workspace.has_index():
        command = f"ragchat index -f {shlex.quote(str(workspace.folder))}"
        raise IndexMissing(
            f"{workspace.folder} has no index yet",
            hint=command if named else f"name the folder of the notes: -f FOLDER; or {command}",
        )


class _Cited(NamedTuple):
    """What was written, taken apart. lines: the first and the last, from 1."""

    document: str
    chars: str | None = None
    lines: tuple[int, int] | None = None


def _cited(workspace: Workspace, written: str) -> _Cited:
    """Name and range of what was written; a file or a sheet may be named like a range itself."""
    readings = [_Cited(written)]
    readings += [_Cited(written[: found.start()], found["range"]) for found in _CITED.finditer(written)]
    if found := _AT_LINES.search(written):
        lines = int(found["first"]), int(found["last"] or found["first"])
        readings.append(_Cited(written[: found.start()], lines=lines))
    readings += [each._replace(document=_below(workspace.folder, each.document)) for each in readings]
    known = (each for each in readings if workspace.index().document_text(each.document) is not None)
    return next(known, readings[-1])


def _below(folder: Path, document: str) -> str:
    """The name of a note that was written with its whole path; else as it was written."""
    path = Path(document).expanduser()
    for root in (folder, folder.resolve()):
        if path.is_absolute() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return document


def _text(workspace: Workspace, document: str) -> str:
    text = workspace.index().document_text(document)
    if text is None:
        if note_path(workspace.folder, document).is_file():
            hint = f"ragchat index -f {shlex.quote(str(workspace.folder))}"
            raise UsageError(f"{document} is not in the index", hint=hint)
        near = difflib.get_close_matches(document, list(workspace.index().sources()), n=1, cutoff=_ALIKE)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"there is no note {document} (any more) in {workspace.folder}{meant}",
            hint="names begin at the notes folder; another one: -f FOLDER",
        )
    return text


def _range(chars: str | None, document: str, length: int) -> tuple[int, int]:
    if chars is None:
        return 0, length
    given = _RANGE.fullmatch(chars.strip())
    if given is None:
        shown = chars if len(chars) <= _SHOWN else f"{chars[:_SHOWN]} …"
        raise UsageError(f"--chars {shown}: write two numbers, A,B", hint=_USE)
    start, end = int(given[1]), int(given[2])
    if not start <= end <= length:
        raise UsageError(
            f"--chars {start},{end}: {document} has {length} characters", hint="0 <= A <= B <= characters"
        )
    return start, end


def _of_lines(lines: tuple[int, int], document: str, text: str) -> tuple[int, int]:
    """The characters of these lines, without the last line break."""
    found, (first, last) = Lines(text), lines
    if not 1 <= first <= last <= len(found):
        asked = f"{first}" if first == last else f"{first}-{last}"
        raise UsageError(f"line {asked}: {document} has {len(found):,} lines", hint="they count from 1")
    return found.start(first - 1), found.end(last - 1)


def _tell_if_changed(document: str, span: VerifiedSpan) -> None:
    """The range holds in the text as indexed; the file may have moved on."""
    name = escape_line(document)
    match span.standing:
        case "gone":
            note(f"note: {name} is no longer there; this is its text as it was indexed")
        case "moved":
            note(f"note: {name} has changed since; these words stand at #char={span.start},{span.end} now")
        case "changed":
            note(f"note: {name} has changed since; this is its text as it was indexed")
            shown = textwrap.shorten(escape_control(span.now), _SHOWN, placeholder=" …")
            note(f"  at #char={span.start},{span.end} now: {shown or 'nothing'}")


def _now(span: VerifiedSpan) -> dict[str, object]:
    """What became of it, for --json; nothing where it stands as it was indexed."""
    if span.standing == "exact":
        return {}
    if span.standing == "gone":
        return {"standing": "gone"}
    return {"standing": span.standing, "now": {"start": span.start, "end": span.end, "text": span.now}}
