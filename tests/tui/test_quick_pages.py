"""A page whose thread ends at once shows all that it read.

Textual measures a widget once for each layout that was asked for. What a page is told after the first layout,
but before its widgets have been idle, asks for none of its own: the widget keeps the height of "reading …".
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.widget import Widget

from ragchat.tui.screens import calibration
from ragchat.tui.session import Session
from tests.tui.key_effects import LEASE
from tests.tui.stage import Stage, on_stage
from tests.tui.test_calibration import ENOUGH, examined


async def _settled(stage: Stage) -> str:
    """What stands there after every widget was measured anew."""
    for node in stage.app.screen.walk_children(Widget, with_self=True):
        node.refresh(layout=True)
        node._layout_updates += 1
    await stage.pilot.pause(0.1)
    return stage.text()


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("alt+1",), "✓ exact"),
        (("alt+1", "i"), "no longer there"),
        (("f3",), "3 indexed"),
        (("f6",), "threshold 0.520"),
        (("f5",), LEASE),
        (("ctrl+l",), "gemma3:4b"),
    ],
    ids=["viewer", "facts", "index", "calibration", "conversations", "models"],
)
async def test_what_is_read_at_once_is_seen(
    keys: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "examine_folder", lambda *_: examined(ENOUGH))

    def at_once(_session: Session, work: Callable[[], None]) -> None:
        work()

    async with on_stage(size=(120, 22)) as stage:
        await stage.opened()
        await stage.ask(LEASE)
        monkeypatch.setattr(Session, "start", at_once)
        for key in keys:
            await stage.pilot.press(key)
            await stage.pilot.pause(0.2)
        seen = stage.text()
        assert told in seen
        assert seen == await _settled(stage)
