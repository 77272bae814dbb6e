"""Which words of a question ask, and which name what it is about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from ragchat.index.protocol import Snapshot
from ragchat.index.tokens import tokenize


def common_words(questions: Sequence[str]) -> frozenset[str]:
    """Tokens that at least one question in a hundred has: they ask, in any language, and name no topic."""
    counts = Counter(token for question in questions for token in set(tokenize(question)))
    at_least = max(2, len(questions) // 100)
    return frozenset(token for token, count in counts.items() if count >= at_least)


_ASKING = (
    "a an and are between can de did die difference do does el es first for get have how i il in is it la"
    " long many me my o of on or s should the to un was what when where which who why wie with won year you"
    " как كيف है いで すか です ので はど は何 ます 가요 나요"
)
ASKING_WORDS: AbstractSet[str] = frozenset(_ASKING.split())
"""The common words of the bundled questions (a test): to count them takes a fifth of a second."""


def whole_words(tokens: Sequence[str]) -> set[str]:
    """Without the pieces of `don't` and `multi-agent`, which are one word each."""
    distinct = set(tokens)
    return {token for token in distinct if not any(token != other and token in other for other in distinct)}


def word_weights(words: AbstractSet[str], snapshot: Snapshot) -> Mapping[str, float]:
    """idf = ln(1 + (N - n + 0.5) / (n + 0.5)) of every word, so that one the folder lacks weighs most."""
    total = snapshot.chunk_count
    counts = {word: snapshot.document_frequency(word) for word in words}
    return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in counts.items()}
