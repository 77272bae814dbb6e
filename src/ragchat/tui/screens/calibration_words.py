"""The words and figures of the calibration screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from ragchat.evaluation.calibration import Replay, excess_of
from ragchat.retrieval.calibration import PASSING
from ragchat.tui.formatting import count, one_line
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.evaluation.outcome import Outcome
    from ragchat.evaluation.questions import Question
    from ragchat.evaluation.statistics import Proportion
    from ragchat.tui.calibrating import Examined

_MOST_PROBLEMS = 2
_LABEL, _COLUMN = 23, 25


def head(examined: Examined, shift: float) -> Content:
    """The threshold, the questions, what could not be used."""
    threshold = examined.threshold
    lines = []
    if threshold is None:
        lines.append(Content("no threshold yet: the notes are not indexed"))
    else:
        origin = f"{threshold.origin}{f': {one_line(threshold.detail, 160)}' if threshold.detail else ''}"
        lines.append(
            Content.assemble((f"threshold {threshold.value:.3f}", "bold"), (f" · {origin}", "$quiet"))
        )
    if shift:
        lines.append(
            Content.assemble(
                ("▲ ", "$warning"),
                (f"line moved {shift:+.3f}", "bold"),
                " for every question",
                (" · nothing is kept", "$quiet"),
            )
        )
    elif examined.asked:
        answers = sum(question.answerable for question, _ in examined.asked)
        refused = len(examined.asked) - answers
        lines.append(Content(f"{count(answers, 'question')} that the notes answer, {refused} to be refused"))
    if examined.few:
        lines.append(Content.styled(f"▲ {examined.few}", "$warning"))
    told = (f"▲ left out: {one_line(problem, 200)}" for problem in examined.problems[:_MOST_PROBLEMS])
    lines += [Content.styled(line, "$warning") for line in told]
    if (more := len(examined.problems) - _MOST_PROBLEMS) > 0:
        lines.append(Content.styled(f"▲ and {more} more left out: {_FILE_HINT}", "$warning"))
    return Content("\n").join(lines)


_FILE_HINT = "ragchat eval names them all"


def figures(before: Replay, now: Replay, examined: Examined, cost: float) -> Content:
    """What goes wrong at the line and as it is, with intervals; and the cheapest line."""
    rows = [
        ("answers lost", before.lost, now.lost),
        ("near misses answered", before.near, now.near),
        ("far questions answered", before.far, now.far),
    ]
    lines = [Content.styled(f"{'':<{_LABEL}}{'at the line':<{_COLUMN}}as it is", "$quiet")]
    for name, was, is_now in rows:
        if is_now is not None:
            changed = was is not None and was.value != is_now.value
            style = ("$success" if was and is_now.value < was.value else "$error") if changed else ""
            lines.append(
                Content.assemble(
                    f"{name:<{_LABEL}}", (f"{_share(is_now):<{_COLUMN}}", style), (_share(was), "$quiet")
                )
            )
    if examined.choices is not None:
        choice = examined.choices[cost]
        price = f"a bluff costs {count(int(cost), 'answer')}"
        told = f"{choice.shift:+.3f} ({choice.low:+.3f} to {choice.high:+.3f})"
        lines.append(Content.assemble((f"{'cheapest':<{_LABEL}}", ""), told, (f" · {price}", "$quiet")))
        if choice.low <= 0 <= choice.high:
            lines.append(
                Content.styled(
                    " " * _LABEL + "these questions cannot tell it from the line as it is", "$quiet"
                )
            )
    return Content("\n").join(lines)


def _share(share: Proportion | None) -> str:
    """ "7.1 % (2–19 %) of 42"."""
    if share is None:
        return ""
    return f"{share.value * 100:.1f} % ({share.low * 100:.0f}–{share.high * 100:.0f} %) of {share.trials}"


def detail(now: Replay) -> str:
    """How many of which."""
    lost = sum(question.answerable for question, _ in now.failures)
    return f"{lost} lost · {len(now.failures) - lost} answered that should not be"


def failure(question: Question, outcome: Outcome, shift: float) -> Content:
    """One question that goes wrong, and by how much."""
    apart = excess_of(outcome) - shift
    what = "✗ lost    " if question.answerable else "▲ answered"
    far = (
        "nothing found at all"
        if outcome.nearest > 2
        else f"{outcome.nearest:.3f}, {apart:+.3f} from its line"
    )
    return Content.assemble(
        (what, "$error" if question.answerable else "$warning"),
        f"  {one_line(question.text, 200)}",
        (f"  {far}", "$quiet"),
    )


def nothing_collected(examined: Examined) -> Content:
    """What the automatic threshold promises, whether it keeps it, and how questions are collected."""
    promise = examined.promise
    if promise is None:
        kept = "This folder is too small, or too like the off-topic questions, to check that."
    else:
        share = promise.passing
        told = f"{share.value * 100:.1f} % ({share.low * 100:.1f}–{share.high * 100:.1f} %) of {share.trials}"
        verdict = "▲ more than promised" if promise.broken else "✓ as promised"
        kept = f"{verdict}: of those that took no part in measuring it, {told} pass."
    return Content.assemble(
        ("No questions are collected yet.\n\n", "bold"),
        f"The automatic threshold promises that at most {PASSING:.0%} of off-topic questions pass.\n",
        f"{kept}\n\n",
        "Your own questions tell more. Collect them while you read:\n",
        (f"  {key_for('viewer.mark_answer')}", "bold $accent"),
        "  on a source in the viewer: this range answers the question\n",
        (f"  {key_for('conversation.mark_refused')}", "bold $accent"),
        "  in the conversation: this question must be refused\n\n",
        ("20 of either sort are enough to choose a threshold by.", "$quiet"),
    )
