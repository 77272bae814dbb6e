from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.errors import UsageError


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"size": -512},
        {"size": 39},
        {"overlap": -1},
        {"overlap": 512},
        {"size": 100, "overlap": 100},
        {"strategy": "semantic"},
    ],
)
def test_what_cannot_be_cut_is_refused_with_what_to_type(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refusal:
        ChunkOptions(**wrong)
    assert refusal.value.hint.startswith("set chunking.")


def test_every_option_changes_the_stamp() -> None:
    default = ChunkOptions()
    changed = [
        default,
        replace(default, strategy="blind"),
        replace(default, size=400),
        replace(default, overlap=64),
        replace(default, header=False),
        replace(default, code=False),
    ]
    assert default.stamp == "boundaries/1 size=512 overlap=0 header code"
    assert len({chosen.stamp for chosen in changed}) == len(changed)
