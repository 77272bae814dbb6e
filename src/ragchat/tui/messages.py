"""What the threads tell the screen. Each carries its session, so that an old folder's news is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

if TYPE_CHECKING:
    from ragchat.answering.events import AnswerEvent, Support
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.answering.suggestions import FilterNames
    from ragchat.answering.turn import Turn, TurnSource
    from ragchat.answering.verification import VerifiedSpan
    from ragchat.errors import RagchatError
    from ragchat.index.progress import IndexProgress, IndexReport, Survey
    from ragchat.retrieval.trace import Threshold
    from ragchat.tui.calibrating import Examined
    from ragchat.tui.model_desk import Pull
    from ragchat.tui.session import Session
    from ragchat.tui.shelved import Shelved


Severity = Literal["information", "warning", "error"]


class Told(Message):
    """Something happened in a thread of a session.

    All kinds arrive at the screen's `on_told`, which therefore need not import them before the first frame.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.handler_name = "on_told"

    def __init__(self, session: Session) -> None:
        self.session = session
        super().__init__()


class ConversationRead(Told):
    """The folder's kept conversation, which is there also when its index is not."""

    def __init__(self, session: Session, turns: tuple[Turn, ...]) -> None:
        self.turns = turns
        super().__init__(session)


class FolderOpened(Told):
    """The folder's state is known."""

    def __init__(self, session: Session, status: FolderStatus, model: str) -> None:
        self.status = status
        self.model = model
        super().__init__(session)


class FolderFailed(Told):
    """The folder cannot be opened."""

    def __init__(self, session: Session, error: RagchatError) -> None:
        self.error = error
        super().__init__(session)


class Confirm(Told):
    """The folder is huge or unusual: the user must agree before it is read."""

    def __init__(self, session: Session, survey: Survey) -> None:
        self.survey = survey
        super().__init__(session)


class IndexMoved(Told):
    """Indexing went on."""

    def __init__(self, session: Session, progress: IndexProgress) -> None:
        self.progress = progress
        super().__init__(session)


class FolderStirred(Told):
    """Notes have changed; they are indexed when they are at rest."""


class IndexDone(Told):
    """Indexing ended; the report says whether it was whole.

    is_following: it followed edits in the folder.
    """

    def __init__(
        self, session: Session, report: IndexReport, status: FolderStatus, *, is_following: bool = False
    ) -> None:
        self.report = report
        self.status = status
        self.is_following = is_following
        super().__init__(session)


class IndexFailed(Told):
    """Indexing could not be done."""

    def __init__(self, session: Session, error: RagchatError) -> None:
        self.error = error
        super().__init__(session)


class AnswerMoved(Told):
    """One event of one question; `run` tells the questions apart."""

    def __init__(self, session: Session, run: int, event: AnswerEvent) -> None:
        self.run = run
        self.event = event
        super().__init__(session)


class AskedAgain(Told):
    """A question that was refused over a part of the notes is asked again over all; its run is the same."""

    def __init__(self, session: Session, run: int) -> None:
        self.run = run
        super().__init__(session)


class AskWaits(Told):
    """A question came before any note was read, and is asked as soon as some are."""

    def __init__(self, session: Session, run: int) -> None:
        self.run = run
        super().__init__(session)


class AskFailed(Told):
    """A question could not be asked at all."""

    def __init__(self, session: Session, run: int, error: RagchatError) -> None:
        self.run = run
        self.error = error
        super().__init__(session)


class Noted(Told):
    """One line for the user, shown as a toast."""

    def __init__(self, session: Session, text: str, severity: Severity = "information") -> None:
        self.text = text
        self.severity = severity
        super().__init__(session)


class ServerChecked(Told):
    """The model server was looked at, independent of any question."""

    def __init__(self, session: Session, health: ServerHealth, model: str) -> None:
        self.health = health
        self.model = model
        super().__init__(session)


class SpanVerified(Told):
    """A source held against its note as it is now, for the viewer; None where that could not be told."""

    def __init__(self, session: Session, source: TurnSource, span: VerifiedSpan | None) -> None:
        self.source = source
        self.span = span
        super().__init__(session)


class ThresholdSet(Told):
    """What was done to the folder's threshold, and what it is now; error: it could not be done.

    done: "" where it was only looked at. shift: what the user's own choice moves it by now.
    """

    def __init__(
        self,
        session: Session,
        done: str,
        threshold: Threshold | None,
        shift: float,
        error: RagchatError | None = None,
    ) -> None:
        self.done = done
        self.threshold = threshold
        self.shift = shift
        self.error = error
        super().__init__(session)


class FolderExamined(Told):
    """The collected questions were asked of the folder; error: they could not be."""

    def __init__(self, session: Session, examined: Examined | None, error: RagchatError | None) -> None:
        self.examined = examined
        self.error = error
        super().__init__(session)


class IndexRead(Told):
    """The folder's documents by their state; error: the index cannot be read."""

    def __init__(
        self,
        session: Session,
        status: FolderStatus | None,
        rows: tuple[Shelved, ...],
        error: RagchatError | None = None,
    ) -> None:
        self.status = status
        self.rows = rows
        self.error = error
        super().__init__(session)


class ModelChosen(Told):
    """A model answers this folder from now on; error: that could not be remembered."""

    def __init__(self, session: Session, name: str, error: RagchatError | None = None) -> None:
        self.name = name
        self.error = error
        super().__init__(session)


class PullMoved(Told):
    """A download began or went on."""

    def __init__(self, session: Session, pull: Pull) -> None:
        self.pull = pull
        super().__init__(session)


class PullEnded(Told):
    """A download is whole, was stopped, or failed with an error."""

    def __init__(self, session: Session, name: str, *, installed: bool, error: RagchatError | None) -> None:
        self.name = name
        self.installed = installed
        self.error = error
        super().__init__(session)


class FilterNamesRead(Told):
    """What filters can name in the folder as it is indexed now."""

    def __init__(self, session: Session, names: FilterNames) -> None:
        self.names = names
        super().__init__(session)


class TurnKept(Told):
    """A finished turn stands in the conversation."""

    def __init__(self, session: Session, run: int, turn: Turn) -> None:
        self.run = run
        self.turn = turn
        super().__init__(session)


class AnswerChecked(Told):
    """The sentences of an answer were held against the sources that they cite."""

    def __init__(self, session: Session, run: int, support: tuple[Support, ...]) -> None:
        self.run = run
        self.support = support
        super().__init__(session)


class TurnForgotten(Told):
    """A turn was deleted."""

    def __init__(self, session: Session, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(session)
