from __future__ import annotations

import time

from ragchat.chunking.speech import Speech
from ragchat.documents.document import Span


def test_a_range_costs_what_lies_in_it_not_what_lies_before() -> None:
    count = 200_000
    speech = Speech("<b>w</b> " * count, [Span(9 * i, 9 * i + 3) for i in range(count)])

    def seconds(first: int) -> float:
        started = time.process_time()
        assert {speech.words(9 * i, 9 * i + 4) for i in range(first, first + 1000)} == {"w"}
        return time.process_time() - started

    seconds(0)
    assert seconds(count - 1000) < 10 * seconds(0)
