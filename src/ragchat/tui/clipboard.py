"""Copy, and say truthfully what was done.

The native clipboard is tried first. OSC 52 asks the terminal to copy, and no terminal answers whether it did.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from textual.app import App


def _native_is_ours() -> bool:
    """Over ssh the native clipboard is the other machine's, which is not what the user means."""
    return not (os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


_warned: WeakSet[App[int]] = WeakSet()
"""Apps that have told what OSC 52 means: once is enough."""


def copy(app: App[int], text: str, what: str) -> None:
    """Copy `text` and tell the user by which way it went."""
    import pyperclip

    size = f"{what}, {len(text):,} characters"
    if _native_is_ours():
        try:
            pyperclip.copy(text)
        except (pyperclip.PyperclipException, OSError):
            pass
        else:
            app.notify(f"Copied {size}.", markup=False)
            return
    app.copy_to_clipboard(text)
    hint = "" if app in _warned else " (OSC 52). If nothing arrives, it does not allow that"
    _warned.add(app)
    app.notify(f"Asked the terminal to copy {size}{hint}.", markup=False)
