"""No test is judged by its time: that is what benchmarks are for. No test leaves its keys to the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from ragchat.tui import keys

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def keys_are_the_defaults() -> Iterator[None]:
    """An application tells the whole process which keys its user has chosen."""
    yield
    keys.use({})
