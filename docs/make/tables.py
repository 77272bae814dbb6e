"""The pages that are made of the program's own tables: every key, every setting."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragchat.settings_schema import setting_rows
from ragchat.tui.keymap import key_rows

DOCS = Path(__file__).resolve().parent.parent

_KEYS = """# Keys

Made by `python -m docs.make tables` from the program; `F1` shows the same with your own changes, those of the focused pane first. `ragchat config keys` prints it.

`^e` means `ctrl+e`. Where an action has a name, its keys can be changed in `config.toml`:

```toml
[keys]
chat.inspect = "f12"
viewer.back = "x, q, escape"
```

An entry replaces the default keys of its action: name those that shall stay, as `escape` here. An entry that cannot be taken costs one line when the screen opens, and the default stays.
"""  # noqa: E501 -- a line of Markdown is a paragraph

_SETTINGS = """# Settings

Made by `python -m docs.make tables` from the program; `ragchat config` prints every value with where it comes from.

A setting is given in four places; the later ones win: the default, `config.toml` (`ragchat config path` tells where it lies), the environment (`RAGCHAT_RETRIEVAL_THRESHOLD=0.5`, a list written `a:b` or `["a", "b"]`, empty `[]`), and for one run `--set retrieval.threshold=0.5`. `ragchat config set retrieval.threshold 0.5` writes the file and keeps its comments:

```toml
[retrieval]
threshold = 0.5
```

A theme chosen with `ctrl+t` or by its name in `ctrl+p` is written there too, as `screen.theme`. Where the environment or `--set` names one, it is on until you leave.

A name that does not exist, or a value that does not fit, is told with its line and what would fit.
"""  # noqa: E501 -- a line of Markdown is a paragraph


def pages() -> dict[Path, str]:
    """Each page with what it must hold."""
    return {DOCS / "keys.md": keys_page(), DOCS / "settings.md": settings_page()}


def keys_page() -> str:
    """Every key in the order of the help."""
    parts = [_KEYS]
    for place, rows in itertools.groupby(key_rows(), lambda row: row.place):
        cells = [(_codes(row.keys), _code(row.action), row.description) for row in rows]
        parts.append(f"\n## {place}\n\n" + _table(("key", "does", "name"), ((k, d, a) for k, a, d in cells)))
    return "".join(parts)


def settings_page() -> str:
    """Every setting in the order of the schema."""
    parts = [_SETTINGS]
    for section, rows in itertools.groupby(setting_rows(), lambda row: row.name.partition(".")[0]):
        cells = [(_code(row.name), _default(row.default), row.kind, row.meaning, row.effect) for row in rows]
        parts.append(
            f"\n## [{section}]\n\n" + _table(("name", "default", "may be", "meaning", "holds"), cells)
        )
    return "".join(parts)


def _default(value: object) -> str:
    """As the settings file writes it."""
    if isinstance(value, bool):
        return _code(str(value).lower())
    if isinstance(value, tuple):
        return _code(json.dumps(value))
    return _code(json.dumps(value) if isinstance(value, str) else f"{value}")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _codes(texts: Iterable[str]) -> str:
    return " ".join(_code(text) for text in texts)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""
