"""How many threads embed."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """How many cores this process may use."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1


def worker_count(threads: int) -> int:
    """As set, or (0) one fewer than the cores, at least one: the screen needs a core to stay alive."""
    return threads if threads > 0 else max(1, usable_cores() - 1)
