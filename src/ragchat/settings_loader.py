"""Settings from their four layers: defaults < TOML file < environment < flags.

The schema is the dataclasses of `ragchat.settings` themselves: a field added there can at once be set in the
file, as `RAGCHAT_<SECTION>_<KEY>` and by a flag. What is unknown or does not fit is a UsageError that names
the place, the key and what is allowed.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import parse_qs, urlsplit

from ragchat.errors import UsageError
from ragchat.paths import config_dir
from ragchat.settings import Settings

_RANGES: dict[str, tuple[float, float]] = {
    "notes.max_file_mb": (0.001, 10_000),
    "notes.confirm_files": (1, 10_000_000),
    "notes.confirm_mb": (0.001, 10_000_000),
    "notes.reader_seconds": (0.1, 86_400),
    "notes.reader_memory_mb": (256, 1_000_000),
    "notes.ocr_confidence": (0, 100),
    "chunking.size": (40, 20_000),
    "chunking.overlap": (0, 10_000),
    "embedding.threads": (0, 1_024),
    "retrieval.threshold": (0, 2),
    "retrieval.sources": (1, 50),
    "retrieval.candidates": (1, 1_000),
    "ollama.temperature": (0, 5),
    "ollama.seed": (0, 2**31 - 1),
    "ollama.answer_tokens": (1, 1_000_000),
    "ollama.context_tokens": (512, 10_000_000),
}
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_HINT = "ragchat config shows every setting, its value and where it comes from"


def config_file_path() -> Path:
    """The user's settings file."""
    return config_dir() / "config.toml"


def setting_types() -> dict[str, Any]:
    """Every setting, "section.key", with the type its value must have, in the order of the schema."""
    return {
        f"{section}.{key}": hint
        for section, kind in _sections().items()
        for key, hint in get_type_hints(kind).items()
        if key in {field.name for field in fields(kind)}
    }


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
    types = setting_types()
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name, value, origin in _layers(
        types, flags or {}, os.environ if environ is None else environ, config_file
    ):
        values[name] = value
        origins[name] = origin
    sections = {}
    for section, kind in _sections().items():
        dotted = f"{section}."
        given = {name.removeprefix(dotted): values[name] for name in values if name.startswith(dotted)}
        sections[section] = kind(**given)
    keys = _flat(_table(config_file or config_file_path()).get("keys", {}))
    return Settings(**sections, origins=origins, keys=keys)


def read_setting(name: str, text: str, place: str) -> object:
    """The value that a text spells, in the type its setting has. Raises UsageError, naming `place`."""
    types = setting_types()
    if name not in types:
        raise _unknown(name, types, place)
    return _checked(name, _spelled(types[name], text), text, place)


def allowed_values(name: str) -> str:
    """What a setting may be, in words."""
    kind = setting_types()[name]
    words = _words(kind)
    if name in _RANGES:
        low, high = _RANGES[name]
        words = words.replace("number", f"number from {low:.10g} to {high:.10g}")
    return words


def setting_range(name: str) -> tuple[float, float]:
    """The least and the greatest number a setting may be; infinite where nothing bounds it."""
    return _RANGES.get(name, (-math.inf, math.inf))


def _layers(
    types: Mapping[str, Any],
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    config_file: Path | None,
) -> Iterator[tuple[str, object, str]]:
    path = config_file or config_file_path()
    for name, value in _file_values(path, types):
        yield name, _checked(name, _typed(types[name], value), value, str(path)), str(path)
    if environ.get("OLLAMA_HOST", "").strip():
        yield "ollama.host", environ["OLLAMA_HOST"], "OLLAMA_HOST"
    by_variable = {f"RAGCHAT_{name.replace('.', '_').upper()}": name for name in types}
    for variable in sorted(environ):
        if variable in by_variable:
            name = by_variable[variable]
            yield name, read_setting(name, environ[variable], variable), variable
        elif variable.startswith(tuple(f"RAGCHAT_{section.upper()}_" for section in _sections())):
            raise _unknown(variable, by_variable, "the environment")
    for name, value in flags.items():
        if name not in types:
            raise _unknown(name, types, "flag")
        if isinstance(value, str):
            yield name, read_setting(name, value, "flag"), "flag"
        elif value is not None:
            yield name, _checked(name, _typed(types[name], value), value, "flag"), "flag"


def _table(path: Path) -> dict[str, object]:
    """The settings file as it stands; nothing where there is none. Raises UsageError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=f"mend or remove {path}") from error


def _flat(table: object) -> dict[str, object]:
    """`[keys.viewer] back = "q"` and `viewer.back = "q"` under [keys] are the same: viewer.back -> "q"."""
    flat: dict[str, object] = {}
    for key, value in table.items() if isinstance(table, dict) else ():
        inner = {f"{key}.{rest}": each for rest, each in _flat(value).items()}
        flat.update(inner if isinstance(value, dict) else {key: value})
    return flat


def _file_values(path: Path, types: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for section, content in _table(path).items():
        if section not in _sections() and section != "keys":
            raise _unknown(section, _sections(), str(path))
        if not isinstance(content, dict):
            raise UsageError(f"{path}: {section} is a section: write [{section}]", hint=_HINT)
        if section == "keys":  # of the screen, which alone knows them
            continue
        for key, value in content.items():
            if f"{section}.{key}" not in types:
                raise _unknown(f"{section}.{key}", types, str(path))
            yield f"{section}.{key}", value


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
            f"{place}: {name} = {given!r} does not fit: it is {allowed_values(name)}", hint=_HINT
        )
    return fitted


def _has_password(url: str) -> bool:
    """Whether a database address holds what would stand in a file, in `ragchat config` and on the screen."""
    parts = urlsplit(url)
    return bool(parts.password) or "password" in parse_qs(parts.query)


def _typed(kind: Any, value: object) -> object | None:
    """The value where it is of this type (a whole number also serves as a number), else None."""
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else None
    if get_origin(kind) is tuple:
        fits = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        return tuple(value) if fits and isinstance(value, list | tuple) else None
    if get_args(kind):
        return _first(_typed(alternative, value) for alternative in get_args(kind))
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    return value if type(value) is kind else None


def _spelled(kind: Any, text: str) -> object | None:
    """The value of this type that a text spells, or None. A list is written a:b, as PATH is."""
    if get_origin(kind) is Literal or kind is str:
        return _typed(kind, text)
    if get_origin(kind) is tuple:
        return tuple(item for item in text.split(os.pathsep) if item)
    if get_args(kind):
        return _first(_spelled(alternative, text) for alternative in get_args(kind))
    if kind is bool:
        word = text.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    try:
        return _typed(kind, kind(text))
    except ValueError:
        return None


def _first(fitted: Iterator[object | None]) -> object | None:
    return next((value for value in fitted if value is not None), None)


def _sections() -> dict[str, Any]:
    hints = get_type_hints(Settings)
    return {
        field.name: hints[field.name] for field in fields(Settings) if field.name not in ("origins", "keys")
    }


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(repr(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    if get_args(kind):
        return " or ".join(_words(alternative) for alternative in get_args(kind))
    return {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}[kind]


def _unknown(name: str, known: Mapping[str, Any], place: str) -> UsageError:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else ""
    return UsageError(f"{place}: there is no setting {name}{meant}", hint=_HINT)
