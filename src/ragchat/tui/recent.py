"""What the screen remembers between runs: the folders that were opened lately, how fast it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragchat import paths

if TYPE_CHECKING:
    from ragchat.index.progress import IndexReport

_KEPT = 12
_MEASURES = 50
"""A run that embeds fewer passages spends its time on other things."""


def _file() -> Path:
    return paths.data_dir() / "recent_folders.json"


def is_first_start() -> bool:
    """Whether no folder was ever opened here, nor the welcome seen."""
    return not (paths.data_dir() / "welcomed").exists() and not recent_folders()


def remember_welcome() -> None:
    """It is shown once."""
    try:
        (paths.make_private_dir(paths.data_dir()) / "welcomed").touch()
    except OSError:
        return


def remembered_rate() -> float:
    """Passages embedded in a second when many were last; 0 when none were yet."""
    try:
        rate = float((paths.data_dir() / "passages_a_second").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0.0
    return rate if 0 < rate < 1e6 else 0.0


def remember_rate(report: IndexReport) -> None:
    """What a run of some length measured, reading included."""
    if report.chunks_embedded >= _MEASURES and report.seconds > 0:
        try:
            rate = f"{report.chunks_embedded / report.seconds:.2f}"
            (paths.make_private_dir(paths.data_dir()) / "passages_a_second").write_text(
                rate, encoding="utf-8"
            )
        except OSError:
            return


def recent_folders() -> list[Path]:
    """Those that are still there, the latest first; a damaged file is an empty list."""
    import json

    try:
        names = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(names, list):
        return []
    folders = [Path(name) for name in names if isinstance(name, str) and "\0" not in name]
    return [folder for folder in folders if folder.is_dir()]


def remember_folder(folder: Path) -> None:
    """Put the folder first; not being able to is no reason to bother anyone."""
    import json  # not for the first frame, which asks for the theme alone

    resolved = folder.expanduser().resolve()
    others = [each for each in recent_folders() if each != resolved]
    try:
        paths.make_private_dir(paths.data_dir())
        _file().write_text(json.dumps([str(each) for each in (resolved, *others)][:_KEPT]), encoding="utf-8")
    except (OSError, UnicodeError):
        return
