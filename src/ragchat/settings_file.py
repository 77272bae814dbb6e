"""Change the settings file: one entry at a time, comments and everything else kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragchat.errors import StorageFailed, UsageError
from ragchat.paths import make_private_dir
from ragchat.settings_loader import LARGEST, config_file_path
from ragchat.toml_file import read_toml

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def write_entry(name: str, value: object) -> Path:
    """Set "section.key" (or "keys.place.action") in the file; returns the file.

    value: as the settings have it. Raises UsageError where the file is no TOML, StorageFailed.
    """

    def put(document: TOMLDocument) -> None:
        import tomlkit

        table: Any = document
        *tables, key = name.split(".")
        for each in tables:
            table = table.setdefault(each, tomlkit.table())
        table[key] = list(value) if isinstance(value, tuple) else value

    return _changed(put)


def remove_entry(name: str) -> Path:
    """Take an entry out of the file, so that the default (or the environment) holds; returns the file."""

    def take(document: TOMLDocument) -> None:
        table: Any = document
        *tables, key = name.split(".")
        for each in tables:
            table = table.get(each, {})
        if key in table:
            del table[key]

    return _changed(take)


def _changed(change: Callable[[TOMLDocument], None]) -> Path:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = config_file_path()
    try:
        text = read_toml(path, LARGEST)[0] if path.exists() else ""
        document = tomlkit.parse(text)
        change(document)
        _write(path, tomlkit.dumps(document))
    except OSError as error:
        raise StorageFailed(
            f"{path} cannot be written: {error.strerror or error}", hint="ragchat paths"
        ) from error
    except (TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} cannot be changed: a value stands where a table should", hint=f"mend or remove {path}"
        ) from error
    except (TOMLKitError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=f"mend or remove {path}") from error
    return path


def _write(path: Path, text: str) -> None:
    """All or nothing: a full disk must not cost the settings. A file that is linked to stays linked."""
    path = path.resolve()
    make_private_dir(path.parent)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=".config-", delete=False
    ) as new:
        try:
            new.write(text)
            new.close()
            Path(new.name).replace(path)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
