"""How much of the folder was searched, told with every answer."""

from __future__ import annotations

import pytest

from ragchat.answering.coverage import coverage_line
from ragchat.index.protocol import Coverage


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        (Coverage(412, 0, 0), "searched 412 notes"),
        (Coverage(1, 0, 0), "searched 1 note"),
        (Coverage(412, 3, 0, changed=2), "searched 412 of 415 notes, 3 failed, 2 changed since"),
        (Coverage(9, 0, 3), "searched 9 of 12 notes, 3 to be read anew"),
        (
            Coverage(4, 0, 0, pending=1996, by_words=1990),
            "searched 1,994 of 2,000 notes, 1,990 by their words alone so far, 6 not read yet",
        ),
    ],
)
def test_the_line_says_what_was_not_searched_and_why(coverage: Coverage, said: str) -> None:
    assert coverage_line(coverage) == said
