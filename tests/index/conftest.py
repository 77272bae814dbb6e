from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragchat.index.store import open_index
from tests.doubles import WordEmbedder
from tests.index.notes import Notes


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    (tmp_path / "notes").mkdir()
    index = open_index(tmp_path / "data")
    yield Notes(tmp_path / "notes", index, WordEmbedder(dimensions=64))
    index.close()
