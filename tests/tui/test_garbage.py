"""Old garbage is collected at a moment when nobody types, and at last also when somebody does."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator

import pytest
from textual.events import Key, Mount

from ragchat.tui.garbage import Housekeeping
from tests.tui.stage import on_stage


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> Iterator[Housekeeping]:
    """Begun, with a clock that stands still at 100 s."""
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    keeping = Housekeeping()
    keeping.begin()
    yield keeping
    keeping.end()


def _old_garbage() -> weakref.ref[_Cycle]:
    """A cycle that survived the collections of young objects before it was dropped."""
    cycle = _Cycle()
    gc.collect(1)
    gc.collect(1)
    return weakref.ref(cycle)


def _collections(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, number))


def test_garbage_is_collected_when_there_is_some_and_nobody_types(
    keeping: Housekeeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = _old_garbage()
    _collections(monkeypatch, 9)
    keeping.tend()
    assert dropped() is not None
    _collections(monkeypatch, 10)
    keeping.tend()
    assert dropped() is None


def test_a_key_puts_it_off_but_not_for_ever(keeping: Housekeeping, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = _old_garbage()
    keeping.note(Mount())
    keeping.note(Key("a", "a"))
    _collections(monkeypatch, 199)
    keeping.tend()
    assert dropped() is not None
    _collections(monkeypatch, 200)
    keeping.tend()
    assert dropped() is None


def test_a_second_after_the_last_key_it_is_quiet(
    keeping: Housekeeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = _old_garbage()
    keeping.note(Key("a", "a"))
    _collections(monkeypatch, 10)
    monkeypatch.setattr(time, "monotonic", lambda: 101.0)
    keeping.tend()
    assert dropped() is None


async def test_the_interpreter_s_own_rule_holds_again_after_the_screen() -> None:
    before = gc.get_threshold()
    async with on_stage() as stage:
        await stage.opened()
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold()[1] == before[1]
        assert gc.get_threshold()[2] > 1000 * before[2]
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


async def test_mounting_a_widget_styles_no_widget_beside_it_anew() -> None:
    """A universal selector with `:last-child` once made every mount style all that was there."""
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        styled_by_order = [widget for widget in stage.app.screen.walk_children() if widget._has_order_style]
        assert styled_by_order == []


def test_what_waits_for_a_key_is_done_behind_it_once(keeping: Housekeeping) -> None:
    async def draw() -> None: ...

    keeping.do_behind_key(draw)
    keeping.note(Key("a", "a"))
    assert keeping.behind_key() is draw
    assert keeping.behind_key() is None


def test_a_key_that_is_held_down_leaves_no_time(
    keeping: Housekeeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def draw() -> None: ...

    keeping.do_behind_key(draw)
    keeping.note(Key("a", "a"))
    keeping.note(Key("a", "a"))
    assert keeping.behind_key() is None
    monkeypatch.setattr(time, "monotonic", lambda: 100.1)
    keeping.note(Key("a", "a"))
    assert keeping.behind_key() is draw
