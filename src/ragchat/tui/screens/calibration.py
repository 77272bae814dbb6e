"""The threshold against the collected questions: what is lost, what is bluffed, what another would do."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ragchat.evaluation.calibration import DEFAULT_COST, Replay, replay
from ragchat.tui import page_keys
from ragchat.tui.calibrating import COSTS, Examined, Left, examine_folder
from ragchat.tui.following import as_ragchat_error
from ragchat.tui.formatting import one_line, with_keys
from ragchat.tui.messages import FolderExamined, ThresholdSet
from ragchat.tui.screens.calibration_words import detail, failure, figures, head, nothing_collected
from ragchat.tui.widgets.key_bar import KeyBar
from ragchat.tui.widgets.replay_plot import ReplayPlot

if TYPE_CHECKING:
    from ragchat.errors import RagchatError
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session

_STEP = 0.005
_FARTHEST = 1.0
_EVERY_SECONDS = 0.1


class CalibrationScreen(Screen[None]):
    """The questions are asked once; moving the line judges their outcomes again and keeps nothing."""

    BINDINGS = page_keys.CALIBRATION
    CSS_PATH = "../styles/calibration.tcss"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._cancel = threading.Event()
        self._examined: Examined | None = None
        self._shift = 0.0
        self._cost = DEFAULT_COST
        self._asked_so_far = (0, 0)
        self._asking = False

    def compose(self) -> ComposeResult:
        """Where the line stands, the distances, the figures, what goes wrong, the keys."""
        yield Static(classes="page-head")
        with Vertical(id="figures"):
            yield ReplayPlot()
            yield Static(id="numbers")
        yield Static(id="collect")
        failures = OptionList(id="failures")
        failures.border_title = "What goes wrong"
        yield failures
        yield KeyBar()

    def on_mount(self) -> None:
        """Ask the questions behind the screen."""
        self._show_parts()
        self.set_interval(_EVERY_SECONDS, self._tick)
        self.call_after_refresh(self._examine)  # as `facts` tells

    def on_unmount(self) -> None:
        """What is still being asked is not waited for."""
        self._cancel.set()

    def _examine(self) -> None:
        self._asking, self._asked_so_far = True, (0, 0)
        self._show_parts()
        session, cancel = self._session, self._cancel

        def progress(done: int, total: int) -> None:
            self._asked_so_far = done, total

        def work() -> None:
            examined, error = None, None
            try:
                examined = examine_folder(session.workspace, progress, cancel)
            except Left:
                return
            except Exception as failed:  # noqa: BLE001, RUF100 -- a thread must tell, not die
                error = as_ragchat_error(failed)
            if not cancel.is_set():
                self.post_message(FolderExamined(session, examined, error))

        session.start(work)

    def _tick(self) -> None:
        done, total = self._asked_so_far
        if self._asking and total:
            self._head.update(f"◐ {self._what_is_asked} … {done:,} of {total:,}")

    @property
    def _what_is_asked(self) -> str:
        if self._examined is None:
            return "asking the questions"
        return "asking the questions anew; until then the figures from before"

    @on(FolderExamined)
    def _folder_examined(self, message: FolderExamined) -> None:
        self._asking = False
        if (error := message.error) is not None:
            self._fail(error)
            return
        self._examined, self._shift = message.examined, 0.0
        self._draw()
        self.query_one("#failures" if self._has_questions else "#collect").focus()

    def _fail(self, error: RagchatError) -> None:
        self._asked_so_far = (0, 0)
        hint = f" {with_keys(error.hint)}" if error.hint else ""
        self._head.update(Content(f"✗ {one_line(error.message, 300)}{hint}"))

    @property
    def _head(self) -> Static:
        return self.query_one(".page-head", Static)

    @property
    def _has_questions(self) -> bool:
        return self._examined is not None and bool(self._examined.asked)

    def _show_parts(self) -> None:
        questions = self._has_questions
        self.query_one("#figures").display = questions
        self.query_one("#failures").display = questions
        self.query_one("#collect").display = self._examined is not None and not questions
        if self._examined is None:
            self._head.update("◐ reading the collected questions …")
        elif self._asking:
            self._head.update(f"◐ {self._what_is_asked} …")

    def _draw(self) -> None:
        examined = self._examined
        self._show_parts()
        if examined is None:
            return
        if not self._asking:
            self._head.update(head(examined, self._shift))
        self.query_one("#collect", Static).update(nothing_collected(examined))
        if self._has_questions:
            now = replay(examined.asked, self._shift)
            self.query_one(ReplayPlot).show(examined.asked, self._shift)
            before = replay(examined.asked, 0.0)
            self.query_one("#numbers", Static).update(figures(before, now, examined, self._cost))
            self._list(now)
        self.refresh_bindings()

    def _list(self, now: Replay) -> None:
        listed = self.query_one("#failures", OptionList)
        listed.clear_options()
        options = [Option(failure(question, outcome, now.shift)) for question, outcome in now.failures]
        listed.add_options(options or [Option("✓ nothing goes wrong with these questions", disabled=True)])
        listed.border_subtitle = detail(now)

    def offers(self, action: str) -> bool:
        """Whether a key has anything to act on now."""
        match action:
            case "apply":
                return self._has_questions and bool(self._shift)
            case "put_back":
                return bool(self._shift) or self._session.tuning.can_put_back
            case "cheapest" | "dearer(1)":
                return self._examined is not None and self._examined.choices is not None
            case "ask_question":
                return self._has_questions
            case _:
                return not action.startswith("step") or self._has_questions

    def action_step(self, steps: int) -> None:
        """Move the line."""
        if self._has_questions and not self._still_asking():
            self._shift = round(min(max(self._shift + steps * _STEP, -_FARTHEST), _FARTHEST), 3)
            self._draw()

    def action_cheapest(self) -> None:
        """The line at which these questions cost least."""
        if self._still_asking():
            return
        examined = self._examined
        if examined is None or examined.choices is None:
            few = examined.few if examined is not None else ""
            why = few or "there are no questions to choose by"
            self.notify(f"{why[0].upper()}{why[1:]}.", severity="warning", markup=False)
            return
        self._shift = examined.choices[self._cost].shift
        self._draw()

    def action_dearer(self, steps: int) -> None:
        """What a bluff costs, in lost answers."""
        if self._still_asking():
            return
        at = COSTS.index(self._cost) + steps
        self._cost = COSTS[min(max(at, 0), len(COSTS) - 1)]
        self._draw()

    def action_apply(self) -> None:
        """Set the line for the folder."""
        if self._still_asking():
            return
        if not (self._has_questions and self._shift) or self._examined is None:
            self.notify("The line stands where it stood: ← → moves it.", severity="warning")
            return
        now, threshold = replay(self._examined.asked, self._shift), self._examined.threshold
        shift = round((threshold.shift if threshold else 0.0) + self._shift, 3)
        self._session.tuning.set(shift, _why(now, len(self._examined.asked)), self.post_message)

    def action_put_back(self) -> None:
        """The line as it was; on a line that was not moved, what was set last."""
        if self._still_asking():
            return
        if self._shift:
            self._shift = 0.0
            self._draw()
        elif self._session.tuning.can_put_back:
            self._session.tuning.put_back(self.post_message)
        else:
            self.notify("Nothing to put back.", severity="warning")

    @on(ThresholdSet)
    def _threshold_set(self, message: ThresholdSet) -> None:
        if (error := message.error) is not None:
            hint = f" {with_keys(error.hint)}" if error.hint else ""
            self.notify(f"Not set: {error.message}.{hint}", severity="error", markup=False)
            return
        self.notify(f"Set: {message.done}. Questions asked from now on use it.", markup=False)
        self._examine()

    def _still_asking(self) -> bool:
        if self._asking:
            self.notify("The questions are still being asked.", severity="warning")
        return self._asking

    def action_ask_question(self) -> None:
        """The question under the cursor into the prompt, to see what comes of it."""
        examined, at = self._examined, self.query_one("#failures", OptionList).highlighted
        if examined is None or at is None:
            return
        failures = replay(examined.asked, self._shift).failures
        if at < len(failures):
            app = cast("RagchatApp", self.app)
            app.pop_screen()
            app.chat.prompt.give_back(failures[at][0].text)
            app.chat.write()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click."""
        event.stop()
        self.action_ask_question()


def _why(now: Replay, questions: int) -> str:
    """What the threshold is set by, in one line."""
    shares = [("lost", now.lost), ("near bluffs", now.near), ("far bluffs", now.far)]
    told = ", ".join(f"{share.value:.0%} {name}" for name, share in shares if share is not None)
    return f"set by hand over {questions} questions: {told}"
