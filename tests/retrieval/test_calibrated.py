"""What the user's own questions moved: a shift that outlives the automatic threshold it was measured on."""

from __future__ import annotations

import json

import pytest

from ragchat.retrieval.adaptive import FolderGate, Usual
from ragchat.retrieval.calibrated import Calibration, keep_calibration, kept_calibration, moved
from ragchat.retrieval.threshold import current_threshold
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemoryIndex, MemorySnapshot, passage

MOVED = Calibration(-0.05, "40 questions: 3 % lost")


def an_index() -> MemoryIndex:
    return MemoryIndex(MemorySnapshot([passage("The lease ends in March.")], WordEmbedder()))


def test_the_threshold_and_what_adapts_it_move_together() -> None:
    gate = FolderGate("late", 0.6, 0.6, 2.0, Usual(0.7, 0.0, 0.1), {}, 0.9, reach=0.7)
    auto = Threshold(0.6, "auto", "5 %", (gate,))
    told = moved(auto, MOVED)
    assert (told.value, told.origin, told.detail) == (0.55, "calibrated", MOVED.detail)
    assert [(one.base, one.reach) for one in told.gates] == [(0.55, 0.7)]
    (wider,) = moved(auto, Calibration(0.05, "")).gates
    assert (wider.base, wider.reach) == (0.65, 0.75)
    assert moved(auto, None) is auto
    assert moved(Threshold(0.6, "default"), Calibration(-9, "")).value == 0.0


def test_it_is_kept_with_the_index_and_can_be_dropped() -> None:
    index = an_index()
    assert kept_calibration(index) is None
    keep_calibration(index, MOVED)
    assert kept_calibration(index) == MOVED
    keep_calibration(index, None)
    assert kept_calibration(index) is None


def test_before_anything_is_indexed_nothing_is_kept() -> None:
    index = MemoryIndex()
    keep_calibration(index, MOVED)
    assert kept_calibration(index) is None
    assert index.values == {}


@pytest.mark.parametrize("damaged", ["{", "[]", '{"shift": "x"}', '{"shift": NaN, "detail": ""}'])
def test_a_damaged_one_moves_nothing(damaged: str) -> None:
    index = an_index()
    keep_calibration(index, MOVED)
    (key,) = index.values
    index.values[key] = damaged
    assert kept_calibration(index) is None


def test_a_number_in_the_settings_is_obeyed_as_it_stands() -> None:
    index = an_index()
    keep_calibration(index, MOVED)
    told = current_threshold(index, RetrievalSettings(threshold=0.5))
    assert told is not None
    assert (told.value, told.origin) == (0.5, "setting")
    assert json.loads(next(iter(index.values.values())))["shift"] == -0.05
