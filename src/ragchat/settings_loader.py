"""Settings from their four layers: defaults < TOML file < environment < flags.

The schema is the dataclasses of `ragchat.settings` themselves: a field added there can at once be set in the
file, as `RAGCHAT_<SECTION>_<KEY>` and by a flag. What is unknown or does not fit is a UsageError that names
the place, the key and what is allowed.
"""

from __future__ import annotations

import difflib
import os
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ragchat.errors import UsageError
from ragchat.paths import config_dir
from ragchat.settings import Settings
from ragchat.settings_schema import (
    allowed_values,
    setting_range,
    setting_sections,
    setting_types,
    spelled,
    typed,
)
from ragchat.toml_file import read_toml

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 200
"""A value as a message shows it, however long or deep it is."""
_Refuse = Callable[[UsageError], None]
"""What becomes of a problem: it is raised, or kept while the rest is read."""
LARGEST = 1 << 20
"""Bytes of a settings file."""
_HINT = "ragchat config shows every setting, its value and where it comes from"


def config_file_path() -> Path:
    """The user's settings file."""
    return config_dir() / "config.toml"


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> Settings:
    """The settings in force.

    flags: "section.key" -> value; None values are flags that were not given.
    Raises UsageError: unreadable file, unknown key, value of a wrong type or out of range.
    """
    return _load(flags or {}, os.environ if environ is None else environ, config_file, _refuse)


def load_usable_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> tuple[Settings, tuple[UsageError, ...]]:
    """What can be used of file and environment, and what is wrong with the rest.

    Raises UsageError only for a flag.
    """
    problems: list[UsageError] = []
    settings = _load(flags or {}, os.environ if environ is None else environ, config_file, problems.append)
    return settings, tuple(problems)


def _refuse(problem: UsageError) -> None:
    raise problem


def _load(
    flags: Mapping[str, object], environ: Mapping[str, str], config_file: Path | None, refuse: _Refuse
) -> Settings:
    types, path = setting_types(), config_file or config_file_path()
    text, table = _read_file(path, refuse)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    layers = (
        _file_values(path, text, table, types, refuse),
        _environment(environ, types, refuse),
        _flags(flags, types),
    )
    for name, value, origin in chain.from_iterable(layers):
        values[name] = value
        origins[name] = origin
    sections = {}
    for section, kind in setting_sections().items():
        dotted = f"{section}."
        given = {name.removeprefix(dotted): values[name] for name in values if name.startswith(dotted)}
        sections[section] = kind(**given)
    return Settings(**sections, origins=origins, keys=_flat(table.get("keys", {})))


def read_setting(name: str, text: str, place: str) -> object:
    """The value that a text spells, in the type its setting has. Raises UsageError, naming `place`."""
    types = setting_types()
    if name not in types:
        raise _unknown(name, types, place)
    return _checked(name, spelled(types[name], text), text, place)


def _environment(
    environ: Mapping[str, str], types: Mapping[str, Any], refuse: _Refuse
) -> Iterator[tuple[str, object, str]]:
    if environ.get("OLLAMA_HOST", "").strip():
        yield "ollama.host", environ["OLLAMA_HOST"], "OLLAMA_HOST"
    by_variable = {f"RAGCHAT_{name.replace('.', '_').upper()}": name for name in types}
    for variable in sorted(environ):
        try:
            if variable in by_variable:
                name = by_variable[variable]
                yield name, read_setting(name, environ[variable], variable), variable
            elif variable.startswith(tuple(f"RAGCHAT_{section.upper()}_" for section in setting_sections())):
                refuse(_unknown(variable, by_variable, "the environment"))
        except UsageError as error:
            refuse(error)


def _flags(flags: Mapping[str, object], types: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    for name, value in flags.items():
        if name not in types:
            raise _unknown(name, types, "flag")
        if isinstance(value, str):
            yield name, read_setting(name, value, "flag"), "flag"
        elif value is not None:
            yield name, _checked(name, typed(types[name], value), value, "flag"), "flag"


def _read_file(path: Path, refuse: _Refuse) -> tuple[str, dict[str, object]]:
    """The settings file as text and as tables; nothing where there is none."""
    try:
        return read_toml(path, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        refuse(UsageError(f"{path} cannot be read: {error}", hint=f"mend or remove {path}"))
    return "", {}


def _flat(table: object) -> dict[str, object]:
    """`[keys.viewer] back = "q"` and `viewer.back = "q"` under [keys] are the same: viewer.back -> "q"."""
    flat: dict[str, object] = {}
    for key, value in table.items() if isinstance(table, dict) else ():
        flat.update(
            {f"{key}.{rest}": each for rest, each in value.items()}
            if isinstance(value, dict)
            else {key: value}
        )
    return flat


def _file_values(
    path: Path, text: str, table: Mapping[str, object], types: Mapping[str, Any], refuse: _Refuse
) -> Iterator[tuple[str, object, str]]:
    for section, content in table.items():
        if section not in setting_sections() and section != "keys":
            refuse(_unknown(section, setting_sections(), _place(path, text, section)))
        elif not isinstance(content, dict):
            place = _place(path, text, "", section)
            refuse(UsageError(f"{place}: {section} is a section: write [{section}]", hint=_HINT))
        elif section != "keys":  # which the screen alone knows
            for key, value in content.items():
                name, place = f"{section}.{key}", _place(path, text, section, key)
                try:
                    if name not in types:
                        raise _unknown(name, types, place)
                    yield name, _checked(name, typed(types[name], value), value, place), str(path)
                except UsageError as error:
                    refuse(error)


def _place(path: Path, text: str, section: str, key: str = "") -> str:
    """The file with the line where an entry stands, as far as it is written in the usual way.

    section: "" for a key before any section.
    """
    entry = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    dotted = re.compile(rf"\s*{re.escape(section)}\s*\.\s*{re.escape(key)}\s*=")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*([^\]]*?)\s*\]", line)
        current = header[1] if header else current
        if header and not key and current == section:
            return f"{path}, line {number}"
        if key and (entry.match(line) if current == section else not current and dotted.match(line)):
            return f"{path}, line {number}"
    return str(path)


def _checked(name: str, fitted: object | None, given: object, place: str) -> object:
    low, high = setting_range(name)
    in_range = not isinstance(fitted, int | float) or isinstance(fitted, bool) or low <= fitted <= high
    if name == "index.backend" and _has_password(str(fitted)):
        raise UsageError(
            f"{place}: index.backend carries a password in clear",
            hint="leave it out, and put it into ~/.pgpass or a service file: see docs/shared-library.md",
        )
    if fitted is None or not in_range:
        raise UsageError(
            f"{place}: {name} = {_SHORT.repr(given)} does not fit: it is {allowed_values(name)}", hint=_HINT
        )
    return fitted


def _has_password(url: str) -> bool:
    """Whether a database address holds what would stand in a file, in `ragchat config` and on the screen."""
    parts = urlsplit(url)
    return bool(parts.password) or "password" in parse_qs(parts.query)


def _unknown(name: str, known: Mapping[str, Any], place: str) -> UsageError:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else ""
    return UsageError(f"{place}: there is no setting {name}{meant}", hint=_HINT)
