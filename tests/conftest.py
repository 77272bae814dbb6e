"""No test is judged by how long it took: that is what benchmarks are for."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
