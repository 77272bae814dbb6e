"""Which words ask."""

from __future__ import annotations

from ragchat.embedding.bundled_questions import load_off_topic_questions
from ragchat.retrieval.words import ASKING_WORDS, common_words


def test_the_asking_words_are_the_common_ones_of_the_bundled_questions() -> None:
    assert common_words(load_off_topic_questions()) == ASKING_WORDS
