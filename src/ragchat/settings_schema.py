"""What can be set: the schema is the dataclasses of `ragchat.settings` themselves.

A field added there has at once a kind, a range in words, its docstring as its meaning, and a row on the
screen of settings and in the documentation.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from ragchat import settings
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

_EFFECT = {
    "notes.folder": "at the next start",
    "chunking": "every passage is cut and embedded anew",
    "embedding": "every passage is embedded anew",
    "embedding.threads": "when the folder is opened",
    "embedding.question_prompt": "every passage is embedded anew",
    "screen": "at once",
    "screen.mouse": "at the next start",
}


class SettingRow(NamedTuple):
    """One setting for people. meaning: one line. effect: when a change takes hold. choices: () for any."""

    name: str
    kind: str
    default: object
    meaning: str
    effect: str
    choices: tuple[str, ...]


def setting_rows() -> Iterator[SettingRow]:
    """Every setting in the order of the schema."""
    meanings, types, defaults = _meanings(), setting_types(), Settings()
    for name, kind in types.items():
        section, _, key = name.partition(".")
        effect = _EFFECT.get(name, _EFFECT.get(section, "when the folder is opened"))
        default = getattr(getattr(defaults, section), key)
        yield SettingRow(name, allowed_values(name), default, meanings[name], effect, _choices(kind))


def needs_new_vectors(name: str) -> bool:
    """Whether a change of this setting makes the index stale."""
    return "anew" in _EFFECT.get(name, _EFFECT.get(name.partition(".")[0], ""))


@cache
def _meanings() -> dict[str, str]:
    """The docstring under each field, in one line; Python keeps none of them."""
    found: dict[str, str] = {}
    classes = {kind.__name__: section for section, kind in setting_sections().items()}
    for node in ast.parse(inspect.getsource(settings)).body:
        if not isinstance(node, ast.ClassDef) or node.name not in classes:
            continue
        name = ""
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                name = f"{classes[node.name]}.{part.target.id}"
                found[name] = ""
            elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and name:
                found[name] = " ".join(str(part.value.value).split())
    return found


def _choices(kind: Any) -> tuple[str, ...]:
    if kind is bool:
        return ("true", "false")
    return tuple(str(each) for each in get_args(kind)) if get_origin(kind) is Literal else ()


@cache
def setting_types() -> dict[str, Any]:
    """Every setting, "section.key", with the type its value must have, in the order of the schema."""
    return {
        f"{section}.{key}": hint
        for section, kind in setting_sections().items()
        for key, hint in get_type_hints(kind).items()
        if key in {field.name for field in fields(kind)}
    }


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


@cache
def setting_sections() -> dict[str, Any]:
    """The sections with the dataclass of each."""
    hints = get_type_hints(Settings)
    return {
        field.name: hints[field.name] for field in fields(Settings) if field.name not in ("origins", "keys")
    }


def typed(kind: Any, value: object) -> object | None:
    """The value where it is of this type (a whole number also serves as a number), else None."""
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else None
    if get_origin(kind) is tuple:
        fits = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        return tuple(value) if fits and isinstance(value, list | tuple) else None
    if get_args(kind):
        return _first(typed(alternative, value) for alternative in get_args(kind))
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    return value if type(value) is kind else None


def spelled(kind: Any, text: str) -> object | None:
    """The value of this type that a text spells, or None. A list is a:b, as PATH is, or ["a", "b"]."""
    if get_origin(kind) is Literal or kind is str:
        return typed(kind, text)
    if get_origin(kind) is tuple:
        listed = _listed(text)
        return tuple(item for item in text.split(os.pathsep) if item) if listed is None else listed
    if get_args(kind):
        return _first(spelled(alternative, text) for alternative in get_args(kind))
    if kind is bool:
        word = text.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    try:
        return typed(kind, kind(text))
    except ValueError:
        return None


def _listed(text: str) -> tuple[str, ...] | None:
    """A list as the file has it, [] too; None for anything else, such as the pattern [ab]*.md."""
    try:
        value = tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else None


def _first(fitted: Iterator[object | None]) -> object | None:
    return next((value for value in fitted if value is not None), None)


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(repr(choice) for choice in get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of texts"
    if get_args(kind):
        return " or ".join(_words(alternative) for alternative in get_args(kind))
    return {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}[kind]
