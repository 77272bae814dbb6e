"""What these tests share."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "llm: asks a real language model, skipped where none is installed")
