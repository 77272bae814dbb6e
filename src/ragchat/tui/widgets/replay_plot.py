"""How far the questions' nearest passages lie from the line: answers and refusals, each as a histogram."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget

from ragchat.evaluation.calibration import excess_of
from ragchat.evaluation.measures import Asked

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LABEL = 12
_LEAST = 0.05
_MOST = 0.6
"""Cosine distance shown on either side of the line at least and at most; what lies beyond is at the edge."""
_ROWS: tuple[tuple[str, str | None], ...] = (("answers", None), ("near misses", "near"), ("far off", "far"))


class ReplayPlot(Widget):
    """What stands on the wrong side is drawn as a fault: an answer beyond the line, a refusal within."""

    def __init__(self) -> None:
        super().__init__(id="plot")
        self._asked: Asked = ()
        self._shift = 0.0

    def show(self, asked: Asked, shift: float) -> None:
        """The questions, and where the line stands."""
        self._asked, self._shift = asked, shift
        self.refresh()

    def render(self) -> Content:
        """One row a sort, the line through all of them, the scale below."""
        width = max(10, self.size.width - _LABEL)
        reach = self._reach()
        line = _cell(self._shift, reach, width)
        rows: list[Content] = []
        for label, nearness in _ROWS:
            cells = [0] * width
            for question, outcome in self._asked:
                if question.nearness == nearness:
                    cells[_cell(excess_of(outcome), reach, width)] += 1
            if any(cells):
                rows.append(_row(label, cells, line, answers=nearness is None))
        rows.append(_scale(reach, line, width, self._shift))
        return Content("\n").join(rows)

    def _reach(self) -> float:
        """How much is shown either side of the threshold as it is."""
        known = [abs(excess_of(outcome)) for _, outcome in self._asked if excess_of(outcome) < _MOST]
        return max(_LEAST, abs(self._shift), max(known, default=0.0)) * 1.05


def _cell(excess: float, reach: float, width: int) -> int:
    share = (excess + reach) / (2 * reach)
    return min(width - 1, max(0, int(share * width)))


def _row(label: str, cells: Sequence[int], line: int, *, answers: bool) -> Content:
    most = max(cells)
    parts: list[tuple[str, str]] = [(f"{label:<{_LABEL}}", "$quiet")]
    for at, number in enumerate(cells):
        if at == line:
            parts.append(("│", "bold $warning"))
            continue
        wrong = (at > line) == answers
        block = _BLOCKS[-(-number * (len(_BLOCKS) - 1) // most)]
        parts.append((block, "$error" if wrong else "$success"))
    return Content.assemble(*parts)


def _scale(reach: float, line: int, width: int, shift: float) -> Content:
    left, right = f"−{reach:.2f} nearer", f"farther +{reach:.2f}"
    told = f"{shift:+.3f}" if shift else "now"
    middle = list(left + " " * max(0, width - len(left) - len(right)) + right)[:width]
    start = min(max(0, line - len(told) // 2), max(0, width - len(told)))
    if start > len(left) and start + len(told) < width - len(right):
        middle[start : start + len(told)] = told
    return Content.styled(f"{'':<{_LABEL}}{''.join(middle)}", "$quiet")
