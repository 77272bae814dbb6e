from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.embedding.embedder import Matrix
from ragchat.index.protocol import Scope
from ragchat.index.tokens import tokenize
from ragchat.retrieval.calibration import (
    FEWEST_CHUNKS,
    PASSING,
    Passages,
    calibrate,
    folder_scripts,
    off_topic_signals,
    off_topic_subjects,
    passing_point,
    speaks_the_folders_language,
    strong_evidence,
    unrelated_distance,
)
from ragchat.retrieval.legibility import script_of
from ragchat.retrieval.off_topic import load_off_topic_questions
from ragchat.retrieval.search import Asked, asked_with, closeness_of, find
from ragchat.retrieval.signals import late_signals, plain_signals
from ragchat.retrieval.words import common_words
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

AUTO = RetrievalSettings()
EMBEDDER = WordEmbedder()
QUESTIONS = load_off_topic_questions()
COMMON = common_words(QUESTIONS)
ENGLISH = "what is the best way to do it, and how many are in a {} or for the {} of {}? I can see why you do."
TOPICS = ["shed", "canoe", "violin", "ledger", "kiln", "beehive", "sextant", "loom", "anvil", "trellis"]


@functools.cache
def asked_of(questions: tuple[str, ...] = QUESTIONS[::4]) -> list[Asked]:
    return [asked_with(EMBEDDER, question) for question in questions]


def vectors_of(asked: list[Asked]) -> Matrix:
    return np.stack([one.vector for one in asked])


def folder(count: int, *notes: str) -> MemorySnapshot:
    """Passages of ordinary English on topics of their own, then the notes."""
    texts = [
        ENGLISH.format(f"{TOPICS[n % 10]}{n}", TOPICS[n % 7], f"{TOPICS[n % 3]}{n}") for n in range(count)
    ]
    return MemorySnapshot([passage(text, f"{n}.md") for n, text in enumerate([*texts, *notes])], EMBEDDER)


distances = st.lists(st.floats(0, 2, width=32), min_size=1, max_size=400).map(
    lambda values: np.array(values, dtype=np.float64)
)


@given(distances)
def test_at_most_one_in_twenty_passes_and_one_more_would_be_too_many(values) -> None:  # type: ignore[no-untyped-def]
    point = passing_point(values)
    allowed = PASSING * len(values) + 1e-9
    assert np.count_nonzero(values <= point) <= allowed
    assert np.count_nonzero(values <= point + 0.00101) > allowed


@given(distances)
def test_what_is_shown_is_what_holds(values) -> None:  # type: ignore[no-untyped-def]
    point = passing_point(values)
    assert float(f"{point:.3f}") == point


def test_thirteen_of_two_hundred_and_sixty_are_five_percent() -> None:
    values = np.linspace(0.1, 0.9, 260)
    assert np.count_nonzero(values <= passing_point(values)) == 13


def test_a_folder_of_five_passages_is_calibrated_and_a_smaller_one_is_not() -> None:
    vectors = vectors_of(asked_of())
    small = calibrate(folder(FEWEST_CHUNKS - 1), asked_of(), AUTO)
    assert small.origin == "default"
    assert small.value == pytest.approx(0.70 * unrelated_distance(vectors), abs=0.002)
    assert "fewer than 5 passages" in small.detail
    large = calibrate(folder(FEWEST_CHUNKS), asked_of(), AUTO)
    assert large.origin == "auto"


def test_the_automatic_threshold_says_how_many_questions_pass_where() -> None:
    snapshot = folder(60)
    threshold = calibrate(snapshot, asked_of(), AUTO)
    assert threshold.detail.startswith("5 % of ")
    assert "off-topic questions pass at 0." in threshold.detail


@pytest.mark.parametrize(("share", "name"), [(0.40, "floor"), (0.75, "ceiling")])
def test_floor_and_ceiling_follow_the_scale_of_the_embedder(share: float, name: str) -> None:
    vectors = vectors_of(asked_of())
    # Passages exactly where sixty questions lie, or at right angles to all of them.
    beyond = np.linalg.svd(vectors)[2][-1:]
    placed = vectors[:60] if name == "floor" else np.repeat(beyond, 60, axis=0)
    notes = [passage(f"qzx{n} vbn{n}", f"{n}.md") for n in range(60)]
    threshold = calibrate(MemorySnapshot(notes, EMBEDDER, placed), asked_of(), AUTO)
    assert threshold.origin == "auto"
    assert threshold.value == pytest.approx(share * unrelated_distance(vectors), abs=0.002)
    assert f"; {name} {threshold.value:.3f}" in threshold.detail


@pytest.mark.parametrize("count", [20, 60])
def test_an_embedder_with_a_smaller_scale_gets_a_threshold_of_its_scale(count: int) -> None:
    # A component that all texts share makes every distance 1 / (1 + c²) of what it was, as in the E5 models.
    def narrowed(vectors: Matrix) -> Matrix:
        shared = np.full((len(vectors), 1), 2.0, dtype=np.float32)
        wider = np.hstack([vectors, shared])
        unit: Matrix = wider / np.linalg.norm(wider, axis=1, keepdims=True)
        return unit

    questions, snapshot = asked_of(), folder(count)
    passages = snapshot.vectors(snapshot.ids)
    chunks = snapshot.chunks(snapshot.ids)
    plain = calibrate(snapshot, questions, AUTO)
    narrow_vectors = narrowed(vectors_of(questions))
    narrow_questions = [
        replace(one, vector=vector) for one, vector in zip(questions, narrow_vectors, strict=True)
    ]
    narrow = calibrate(MemorySnapshot(chunks, EMBEDDER, narrowed(passages)), narrow_questions, AUTO)
    assert narrow.origin == plain.origin
    assert narrow.value == pytest.approx(plain.value / 5, abs=0.002)


def test_a_cooking_folder_is_not_calibrated_by_the_cooking_questions() -> None:
    notes = ["Boil the egg for seven minutes. Egg sizes vary.", "Prune the roses in March."]
    snapshot = folder(60, *notes)
    assert strong_evidence(
        snapshot,
        "How long should I boil an egg?",
        COMMON,
        Passages(snapshot, asked_of(("How long should I boil an egg?",))),
    )
    assert strong_evidence(
        snapshot,
        "When should I prune roses?",
        COMMON,
        Passages(snapshot, asked_of(("When should I prune roses?",))),
    )
    assert not strong_evidence(
        snapshot,
        "Which cheese goes with pears?",
        COMMON,
        Passages(snapshot, asked_of(("Which cheese goes with pears?",))),
    )


@pytest.mark.parametrize(
    "question",
    [
        "how are you?",  # nothing but words that every question has
        "hello",
        "How long should I boil cabbage?",  # one of two telling words
        "Does an egg float on mercury?",
        "",
    ],
)
def test_a_word_or_two_in_common_is_no_strong_evidence(question: str) -> None:
    snapshot = folder(60, "Boil the egg for seven minutes, hello.", "How are you? Fine, and you?")
    assert not strong_evidence(snapshot, question, COMMON, Passages(snapshot, asked_of((question,))))


def test_words_scattered_over_the_folder_are_no_strong_evidence() -> None:
    snapshot = folder(60, "Boil the water.", "An egg a day.")
    assert not strong_evidence(
        snapshot,
        "How long should I boil an egg?",
        COMMON,
        Passages(snapshot, asked_of(("How long should I boil an egg?",))),
    )


def test_an_english_folder_is_calibrated_by_english_questions() -> None:
    snapshot = folder(100)
    kept = [question for question in QUESTIONS if speaks_the_folders_language(snapshot, question)]
    assert "How do magnets work".lower() in [question.lower() for question in kept]
    assert not [question for question in kept if any(letter >= "\u0400" for letter in question)]
    assert "Warum ist der Himmel blau?" not in kept
    assert len(kept) > 150


def test_one_japanese_note_does_not_bring_the_japanese_questions_in() -> None:
    note = "空はなぜ青いのですか。明日の天気を教えてください。日本で一番高い山は何ですか。"
    without, mixed = folder(250), folder(250, note, note)
    asked = [question for question in QUESTIONS if any("\u3040" <= letter <= "\u30ff" for letter in question)]
    assert asked
    assert not [question for question in asked if speaks_the_folders_language(without, question)]
    assert not [question for question in asked if speaks_the_folders_language(mixed, question)]


def test_a_folder_in_a_language_without_questions_still_gets_a_threshold() -> None:
    icelandic = [passage(f"Hvað er þetta númer {n} á borðinu", f"{n}.md") for n in range(60)]
    assert calibrate(MemorySnapshot(icelandic, EMBEDDER), asked_of(), AUTO).origin == "auto"


JAPANESE = "装置{n}の設定はこの章で説明する。電源を入れたあとに青い印を押すと、画面が開く。"
CHINESE = "第{n}台设备的设置在本章说明。打开电源后按蓝色按钮，屏幕就会打开。"
RUSSIAN = "Настройка прибора номер {n} описана в этой главе: сперва кнопка, потом экран."


@pytest.mark.parametrize(("text", "script"), [(JAPANESE, "KANA"), (CHINESE, "CJK"), (RUSSIAN, "CYRILLIC")])
def test_a_few_passages_in_another_script_are_measured_with_questions_in_it(text: str, script: str) -> None:
    notes = [passage(text.format(n=n), f"{n}.md") for n in range(FEWEST_CHUNKS)]
    used = off_topic_subjects(MemorySnapshot(notes, EMBEDDER), asked_of(QUESTIONS))
    assert len(used) >= 20
    assert {script_of(one.text) for one in used} == {script}


def test_a_few_german_passages_are_measured_with_questions_that_share_a_word_with_them() -> None:
    german = ["Die Pumpe wird im Mai gereinigt.", "Es wurde am Montag gekauft.", "Hunde sind nicht erlaubt."]
    german += ["Die Frist ist ein Monat.", "Tomaten werden im März gesät."]
    notes = [passage(text, f"{n}.md") for n, text in enumerate(german)]
    used = [one.text for one in off_topic_subjects(MemorySnapshot(notes, EMBEDDER), asked_of(QUESTIONS))]
    assert 10 <= len(used) < 100
    assert "Wie wird das Wetter am Wochenende?" in used
    assert "why is the sky blue" not in used


def test_a_note_in_another_script_among_many_does_not_count() -> None:
    ten = [*[passage(ENGLISH.format("a", "b", "c"), f"{n}.md") for n in range(9)], passage(JAPANESE, "j.md")]
    assert folder_scripts(MemorySnapshot(ten, EMBEDDER), asked_of()[0]) == frozenset()
    three = [*ten, passage(JAPANESE, "k.md"), passage(JAPANESE, "l.md")]
    assert folder_scripts(MemorySnapshot(three, EMBEDDER), asked_of()[0]) == {"KANA"}


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("What is it?", ""),
        ("42!", ""),
        ("漢字とかな", "KANA"),
        ("日本人口統計調査の結果", "KANA"),
        ("漢字", "CJK"),
        ("ёлка and", "CYRILLIC"),
        ("한국어 abc가", "HANGUL"),
    ],
)
def test_the_script_of_a_text(text: str, script: str) -> None:
    assert script_of(text) == script


def test_a_folder_about_everything_gets_the_default() -> None:
    asked = tuple(f"where do marmots{n} hide walnuts{n}" for n in range(60))
    snapshot = MemorySnapshot([passage(question, f"{n}.md") for n, question in enumerate(asked)], EMBEDDER)
    threshold = calibrate(snapshot, asked_of(asked), AUTO)
    assert threshold.origin == "default"
    assert "0 off-topic questions" in threshold.detail


def test_signals_of_all_questions_together_are_those_that_a_search_for_each_gives() -> None:
    snapshot, asked = folder(90), asked_of()
    together = off_topic_signals(snapshot, asked, 40)
    for at, one in enumerate(asked):
        found = find(snapshot, one, 40, Scope())
        first = found.candidates[:25]
        met = closeness_of(
            snapshot, one, [each.chunk_id for each in first], [each.chunk.header_tokens for each in first]
        )
        assert met is not None
        assert together["late"][at] == late_signals(one.text, found.dense, met)
        held = [set(tokenize(each.chunk.text)) for each in first[:10]]
        assert together["plain"][at] == plain_signals(one.text, found.dense, held, snapshot)
