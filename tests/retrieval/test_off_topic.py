from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from ragchat.retrieval.off_topic import (
    load_off_topic_questions,
    off_topic_asked,
    off_topic_vectors,
    set_version,
)
from tests.doubles import WordEmbedder


class CountingEmbedder(WordEmbedder):
    questions = 0

    def embed_question_with_tokens(self, text: str):  # type: ignore[no-untyped-def]
        self.questions += 1
        return super().embed_question_with_tokens(text)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGCHAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_bundled_set_is_large_distinct_and_in_many_languages() -> None:
    questions = load_off_topic_questions()
    assert len(questions) >= 240
    assert len({question.casefold() for question in questions}) == len(questions)
    assert {"hello", "how are you?", "thanks!", "why is the sky blue"} <= set(questions)
    for script in (("а", "я"), ("あ", "ん"), ("가", "힣"), ("ء", "ي"), ("अ", "ह")):
        assert any(script[0] <= letter <= script[1] for question in questions for letter in question)
    assert sum(question.isascii() for question in questions) > len(questions) / 2


def test_comments_and_blank_lines_are_no_questions(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("# a comment\n\n  what is #1?  \n#\nend", encoding="utf-8")
    assert load_off_topic_questions(path) == ("what is #1?", "end")


def test_the_version_changes_with_any_question() -> None:
    assert set_version(["a", "b"]) == set_version(("a", "b"))
    assert len({set_version(["a", "b"]), set_version(["b", "a"]), set_version(["a"]), set_version([])}) == 4


def test_questions_are_embedded_once_for_each_embedder_and_set() -> None:
    embedder = CountingEmbedder()
    first = off_topic_vectors(embedder, ["one thing", "another"])
    again = off_topic_vectors(CountingEmbedder(), ["one thing", "another"])
    assert embedder.questions == 2
    assert np.array_equal(first, again)
    assert off_topic_vectors(embedder, ["one thing"]).shape == (1, 256)
    assert embedder.questions == 3
    other = CountingEmbedder(name="other")
    off_topic_vectors(other, ["one thing"])
    assert other.questions == 1


def test_the_cache_is_private(cache: Path) -> None:
    off_topic_vectors(WordEmbedder(), ["one thing"])
    (file,) = (cache / "off_topic").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_token_vectors_are_kept_too() -> None:
    first = off_topic_asked(WordEmbedder(), ["one thing", "another"])
    again = off_topic_asked(WordEmbedder(), ["one thing", "another"])
    assert [one.tokens.shape for one in again] == [(2, 128), (1, 128)]
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.tokens, other.tokens)


def test_an_embedder_without_token_vectors_is_kept_as_well() -> None:
    embedder = CountingEmbedder(token_dimensions=0)
    for _ in range(2):
        (one,) = off_topic_asked(embedder, ["one thing"])
        assert one.tokens.shape == (0, 0)
    assert embedder.questions == 1


@pytest.mark.parametrize("damage", [b"", b"no numpy file", None])
def test_a_damaged_cache_is_made_again(cache: Path, damage: bytes | None) -> None:
    good = off_topic_vectors(WordEmbedder(), ["one thing", "another"])
    (file,) = (cache / "off_topic").iterdir()
    if damage is None:
        with file.open("wb") as handle:
            np.save(handle, good * 3)
    else:
        file.write_bytes(damage)
    assert np.array_equal(off_topic_vectors(WordEmbedder(), ["one thing", "another"]), good)
    with np.load(file) as made:
        assert np.array_equal(made["vectors"], good)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("RAGCHAT_CACHE_DIR", str(blocked))
    assert off_topic_vectors(WordEmbedder(), ["one thing"]).shape == (1, 256)
