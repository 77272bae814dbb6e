"""The shared library keeps every promise that the local index keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragchat.index.postgres.store import open_library
from ragchat.index.protocol import Index
from tests.index.contract import IndexContract


class TestPostgresIndex(IndexContract):
    @pytest.fixture(autouse=True)
    def _library(self, server_url: str, library: str) -> None:
        self.url, self.library = server_url, library

    def make(self) -> Iterator[Index]:
        index = open_library(self.url, self.library)
        yield index
        index.close()
