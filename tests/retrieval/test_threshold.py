from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from ragchat.embedding.embedder import Embedder
from ragchat.errors import IndexMissing, IndexStale, StorageFailed
from ragchat.index.protocol import Index
from ragchat.retrieval.threshold import (
    current_threshold,
    is_outdated,
    needs_refresh,
    refresh_threshold,
    renew_threshold,
)
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemoryIndex, MemorySnapshot, passage

AUTO = RetrievalSettings()
FIXED = RetrievalSettings(threshold=0.42)
EMBEDDER = WordEmbedder()


class Untouchable:
    """An embedder that must not be loaded."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the embedder's {name} was asked for")


UNTOUCHABLE = cast("Embedder", Untouchable())


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    # One cache for the module, so that the questions are embedded once.
    shared: Path = tmp_path_factory.getbasetemp() / "thresholds"
    monkeypatch.setenv("RAGCHAT_CACHE_DIR", str(shared))


def of(count: int, embedder: WordEmbedder = EMBEDDER) -> MemorySnapshot:
    notes = [f"what is the number {n} of a shed, and how do I see it?" for n in range(count)]
    return MemorySnapshot([passage(note, f"{n}.md") for n, note in enumerate(notes)], embedder)


def indexed(count: int) -> tuple[Index, MemoryIndex]:
    memory = MemoryIndex(of(count))
    return cast("Index", memory), memory


def test_a_fixed_number_wins_and_needs_nothing() -> None:
    index, _ = indexed(60)
    expected = Threshold(0.42, "setting", "fixed at 0.420 in the settings")
    assert current_threshold(index, FIXED) == expected
    assert refresh_threshold(index, UNTOUCHABLE, FIXED) == expected
    assert not needs_refresh(index, FIXED)


def test_the_automatic_one_is_kept_and_needs_no_model_afterwards() -> None:
    index, _ = indexed(60)
    assert current_threshold(index, AUTO) is None
    assert needs_refresh(index, AUTO)
    made = refresh_threshold(index, EMBEDDER, AUTO)
    assert made.origin == "auto"
    assert made.detail
    assert current_threshold(index, AUTO) == made
    assert not needs_refresh(index, AUTO)
    assert refresh_threshold(index, UNTOUCHABLE, AUTO) == made


def test_a_threshold_that_cannot_be_kept_is_used_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk must not stop a question over an index that is whole."""
    index, memory = indexed(60)
    made = refresh_threshold(index, EMBEDDER, AUTO)
    index, memory = indexed(60)

    def full(key: str, value: str) -> None:
        raise StorageFailed("no space is left")

    monkeypatch.setattr(memory, "write_value", full)
    assert refresh_threshold(index, EMBEDDER, AUTO) == made
    assert needs_refresh(index, AUTO)


@pytest.mark.parametrize(
    ("before", "after", "anew"),
    [
        (100, 119, False),
        (100, 120, True),
        (100, 81, False),
        (100, 80, True),
        (4, 5, True),  # enough to calibrate now
        (5, 4, True),
        (0, 1, True),
        (20, 20, False),
    ],
)
def test_a_question_waits_for_another_when_the_folder_has_changed_by_a_fifth(
    before: int, after: int, anew: bool
) -> None:
    index, memory = indexed(before)
    kept = refresh_threshold(index, EMBEDDER, AUTO)
    memory.current = of(after)
    assert needs_refresh(index, AUTO) == anew
    assert current_threshold(index, AUTO) == kept  # shown until it has been made anew
    refresh_threshold(index, EMBEDDER if anew else UNTOUCHABLE, AUTO)
    assert not needs_refresh(index, AUTO)


def test_an_update_measures_anew_whatever_has_changed() -> None:
    index, memory = indexed(60)
    assert is_outdated(index, AUTO)
    assert not is_outdated(index, FIXED)
    renew_threshold(index, EMBEDDER, AUTO)
    assert not is_outdated(index, AUTO)
    memory.current = of(60)  # as many passages, but others
    assert not needs_refresh(index, AUTO)
    assert is_outdated(index, AUTO)
    renew_threshold(index, EMBEDDER, AUTO)
    assert not is_outdated(index, AUTO)


@pytest.mark.parametrize(("after", "anew"), [(100, False), (104, False), (105, True), (95, True)])
def test_a_large_folder_is_measured_anew_by_the_twentieth(
    monkeypatch: pytest.MonkeyPatch, after: int, anew: bool
) -> None:
    monkeypatch.setattr("ragchat.retrieval.threshold.MEASURED_EACH_TIME", 80)
    index, memory = indexed(100)
    renew_threshold(index, EMBEDDER, AUTO)
    memory.current = of(after)
    assert is_outdated(index, AUTO) == anew


def test_each_stamp_keeps_its_own() -> None:
    index, memory = indexed(60)
    ours = refresh_threshold(index, EMBEDDER, AUTO)
    other = WordEmbedder(name="other", dimensions=64)
    memory.current = of(60, other)
    assert current_threshold(index, AUTO) is None
    theirs = refresh_threshold(index, other, AUTO)
    assert theirs != ours
    memory.current = of(60)
    assert refresh_threshold(index, UNTOUCHABLE, AUTO) == ours


def test_another_set_of_questions_makes_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, _ = indexed(60)
    refresh_threshold(index, EMBEDDER, AUTO)
    fewer = tmp_path / "fewer.txt"
    fewer.write_text("\n".join(f"what is the colour of thing {n}?" for n in range(40)), encoding="utf-8")
    monkeypatch.setattr("ragchat.embedding.bundled_questions.off_topic_questions_path", lambda: fewer)
    assert needs_refresh(index, AUTO)
    assert "40 off-topic" in refresh_threshold(index, EMBEDDER, AUTO).detail


@pytest.mark.parametrize("kept", ["", "null", "[]", "{}", '{"value": "near"}', "\x00"])
def test_a_damaged_value_is_made_again(kept: str) -> None:
    index, memory = indexed(20)
    made = refresh_threshold(index, EMBEDDER, AUTO)
    (key,) = memory.values
    memory.values[key] = kept
    assert current_threshold(index, AUTO) is None
    assert refresh_threshold(index, EMBEDDER, AUTO) == made


def test_before_anything_was_indexed() -> None:
    index = cast("Index", MemoryIndex())
    assert current_threshold(index, AUTO) is None
    assert not needs_refresh(index, AUTO)
    with pytest.raises(IndexMissing):
        refresh_threshold(index, EMBEDDER, AUTO)


def test_another_embedder_never_calibrates_this_index() -> None:
    index, memory = indexed(60)
    with pytest.raises(IndexStale, match=r"words.*other"):
        refresh_threshold(index, WordEmbedder(name="other"), AUTO)
    assert memory.values == {}
