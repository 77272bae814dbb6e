"""The threshold of the open folder as the screen sets it, each in a thread; what was set can be put back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from ragchat.errors import SetupError
from ragchat.tui.following import as_ragchat_error
from ragchat.tui.messages import ThresholdSet

if TYPE_CHECKING:
    from ragchat.index.protocol import Index
    from ragchat.retrieval.calibrated import Calibration
    from ragchat.tui.session import Session

Post = Callable[[Message], object]


class Tuning:
    """What is kept is a shift of every question's threshold: it goes on following folder and question."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: list[Calibration | None] = []
        self._one_at_a_time = threading.Lock()

    @property
    def can_put_back(self) -> bool:
        """Whether something was set since the folder was opened."""
        return bool(self._before)

    def look(self, post: Post) -> None:
        """Tell where the folder's threshold stands."""
        self._do(lambda _: "", post, tell_errors=False)

    def set(self, shift: float, detail: str, post: Post) -> None:
        """Shift every threshold so far from the automatic one; detail says why, in one line."""

        def work(index: Index) -> str:
            from ragchat.retrieval.calibrated import Calibration, keep_calibration, kept_calibration

            self._require_free(index)
            before = kept_calibration(index)
            by = shift - (before.shift if before else 0.0)
            if not round(by, 3):
                return "so it is already"
            keep_calibration(index, Calibration(shift, detail))
            self._before.append(before)
            return f"every threshold here moves by {by:+.3f}"

        self._do(work, post)

    def put_back(self, post: Post) -> None:
        """As it was before the last shift."""

        def work(index: Index) -> str:
            from ragchat.retrieval.calibrated import keep_calibration

            if not self._before:
                return "nothing is left to put back"
            keep_calibration(index, self._before[-1])
            self._before.pop()
            return "the threshold is back where it was"

        self._do(work, post)

    def _require_free(self, index: Index) -> None:
        from ragchat.retrieval.threshold import fixed_threshold

        settings = self._session.workspace.settings
        if fixed := fixed_threshold(settings.retrieval):
            origin = settings.origins.get("retrieval.threshold", "the settings")
            raise SetupError(
                f"the threshold is fixed at {fixed.value:.3f} by {origin}, and holds as it stands",
                hint="ragchat config set retrieval.threshold auto",
            )
        if index.stamp is None:
            raise SetupError("nothing is indexed yet, so there is no threshold to move")

    def _do(self, work: Callable[[Index], str], post: Post, *, tell_errors: bool = True) -> None:
        session = self._session

        def told() -> None:
            from ragchat.retrieval.calibrated import kept_calibration
            from ragchat.retrieval.threshold import current_threshold

            try:
                with self._one_at_a_time:
                    index = session.workspace.index()
                    done = work(index)
                    kept = kept_calibration(index)
                    now = current_threshold(index, session.workspace.settings.retrieval)
            except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
                if not tell_errors:
                    return
                told = ThresholdSet(session, "", None, 0.0, as_ragchat_error(error))
            else:
                told = ThresholdSet(session, done, now, kept.shift if kept else 0.0)
            try:
                post(told)
            except RuntimeError:  # the screen has gone
                return

        session.start(told)
