"""What the session tells, put on the chat screen: the one place where news from threads meets widgets."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from ragchat.tui import empty, messages, states
from ragchat.tui.formatting import shown
from ragchat.tui.keys import key_for
from ragchat.tui.pace import Pace
from ragchat.tui.recent import remember_rate
from ragchat.tui.widgets.header import State

if TYPE_CHECKING:
    from ragchat.answering.events import Answer, AnswerEvent
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.errors import RagchatError
    from ragchat.index.progress import IndexProgress, Survey
    from ragchat.tui.model_desk import Pull
    from ragchat.tui.offers import Offer
    from ragchat.tui.screens.chat import ChatScreen
    from ragchat.tui.widgets.turn import TurnView


_FEW = 20
"""So many edited notes are indexed without a word."""


class Feed:
    """Follows one session. Events of a question that is no longer the running one change nothing."""

    def __init__(self, screen: ChatScreen, *, demo: bool) -> None:
        self.status: FolderStatus | None = None
        self.health: ServerHealth | None = None
        self.model = ""
        self.unconfirmed: Survey | None = None
        self.stale = False
        self.pace = Pace()
        self._screen = screen
        self._demo = demo
        self._run = 0
        self._turn: TurnView | None = None
        self._turns: dict[int, TurnView] = {}
        self._notice = ""
        self._foreign = ""

    def _running(self, run: int) -> TurnView | None:
        """This run's turn while it is being answered; None once another conversation took its place."""
        turn = self._turn if run == self._run else None
        return turn if turn is not None and turn.is_attached else None

    def begin(self, run: int, turn: TurnView) -> None:
        """Events of this run belong to this turn from now on."""
        self._run, self._turn = run, turn
        self._turns = {run: turn for run, turn in self._turns.items() if turn.is_attached}
        self._turns[run] = turn

    async def take(self, message: messages.Told) -> None:
        """Show one piece of news."""
        match message:
            case messages.AnswerMoved(run=run, event=event) if turn := self._running(run):
                await self._answer_moved(turn, event)
            case messages.AskFailed(run=run, error=error) if turn := self._running(run):
                await self._ask_failed(turn, error)
            case messages.AskWaits(run=run) if turn := self._running(run):
                turn.show_reading()
            case messages.AskedAgain(run=run) if run in self._turns and self._turns[run].is_attached:
                self._run, self._turn = run, self._turns[run]
                await self._turn.reopen()
                self._screen.refresh_bindings()
            case messages.ConversationRead(turns=turns):
                self._screen.prompt.remember([turn.question for turn in turns])
                await self._screen.conversation.restore(turns)
                if not turns:
                    await self._screen.sources.show(None)
                self._screen.refresh_bindings()
            case messages.FilterNamesRead(names=names):
                self._screen.prompt.offer(names)
            case messages.TurnKept(run=run, turn=kept) if run in self._turns:
                self._turns[run].kept = kept
            case messages.AnswerChecked(run=run, support=support) if (
                run in self._turns and self._turns[run].is_attached
            ):
                await self._turns[run].show_support(support)
            case messages.TurnForgotten(turn_id=turn_id):
                await self._screen.conversation.forget(turn_id)
                self._screen.refresh_bindings()
            case messages.FolderOpened(status=status, model=model):
                message.session.opening = False
                self._folder_opened(status, model)
                await self._screen.ask_held()
            case messages.FolderFailed(error=error):
                message.session.opening = False
                self._screen.give_back_held()
                self._screen.header.tell(indexed=State("✗", "not open", "bad"), server=State("○", "idle"))
                self._screen.conversation.say_empty(empty.after_failure(error))
            case messages.Confirm(survey=survey):
                self._screen.conversation.say_empty(empty.when_unconfirmed(survey))
                self._screen.header.tell(indexed=State("○", "not read yet"))
                self._screen.ragchat.confirm_indexing(message.session, survey)
            case messages.FolderStirred():
                self._screen.header.tell(indexed=states.UPDATING)
            case messages.IndexMoved(progress=progress):
                self._index_moved(progress)
            case messages.IndexDone():
                self._index_done(message)
                if message.report.complete:
                    await self._screen.conversation.all_is_indexed()
            case messages.IndexFailed(error=error):
                message.session.opening = False
                self._screen.give_back_held()
                self._index_failed(error)
            case messages.ServerChecked(health=health, model=model):
                self.health, self.model = health, model
                name, server = states.answering_model(health, model), states.server_state(health, model)
                self._screen.header.tell(model=name, server=server, away=not health.loopback)
                self._screen.refresh_bindings()
                if self.status is not None and self.status.indexed:
                    self._say_ready()
            case messages.ModelChosen(name=name, error=error):
                self._model_chosen(name, error)
            case messages.PullMoved(pull=pull):
                await self._pull_moved(pull)
            case messages.PullEnded():
                await self._pull_ended(message)
            case messages.Noted(text=text, severity=severity):
                self._screen.notify(text, severity=severity, markup=False)
            case _:
                pass

    @property
    def missing_model(self) -> Offer | None:
        """To get the model that is missing, as far as the server was looked at."""
        return states.missing_model(self.health, self.model) if self.health is not None else None

    def _model_chosen(self, name: str, error: RagchatError | None) -> None:
        if error is not None:
            self._screen.notify(shown(error.message), severity="error", markup=False)
            return
        self.model = name
        self._screen.header.tell(model=name)
        self._screen.notify(f"{shown(name)} answers this folder from now on.", markup=False)

    async def _pull_moved(self, pull: Pull) -> None:
        from ragchat.tui.widgets.pull_line import PullLine

        if not self._screen.query(PullLine):
            await self._screen.mount(PullLine(), after=self._screen.banner)
        self._screen.query_one(PullLine).show(pull)

    async def _pull_ended(self, ended: messages.PullEnded) -> None:
        await self._screen.query("PullLine").remove()
        if ended.error is not None:
            text = f"{ended.error.message}. {key_for('chat.pick_model')} shows the models and goes on."
            self._screen.notify(shown(text), severity="error", markup=False, timeout=12)
        elif not ended.installed:
            key = key_for("chat.pick_model")
            text = f"{shown(ended.name)}: the download is stopped; {key} goes on where it stopped."
            self._screen.notify(text, markup=False)

    async def _answer_moved(self, turn: TurnView, event: AnswerEvent) -> None:
        from ragchat.answering import events
        from ragchat.tui.evidence import evidence_of_answer, evidence_of_trace

        match event:
            case events.Retrieved(trace=trace):
                turn.show_evidence(evidence_of_trace(trace))
                await self._show_sources(turn)
                self._screen.refresh_bindings()
            case events.Waiting(model=model, seconds=seconds):
                turn.show_waiting(model, seconds)
            case events.Thinking(text=text):
                turn.add_thinking(text)
            case events.AnswerText(text=text, restarts=restarts):
                if restarts:
                    await turn.restart()
                await turn.write(text)
            case events.Finished(answer=answer):
                await turn.finish(self._said_once(answer), evidence_of_answer(answer))
                await self._show_sources(turn)
                self._screen.open_drawer()
                self._screen.conversation.show_beginning(turn)
                self._screen.refresh_bindings()

    def _said_once(self, answer: Answer) -> Answer:
        """Which model is used or missing is said below one answer, and again when it changes."""
        if answer.notice and answer.notice == self._notice:
            return replace(answer, notice="", pull="")
        if answer.answered_by != "none":  # a refusal tells nothing of the model
            self._notice = answer.notice
        return answer

    async def _show_sources(self, turn: TurnView) -> None:
        if self._screen.conversation.selected is turn:
            await self._screen.sources.show(turn.evidence)

    async def _ask_failed(self, turn: TurnView, error: RagchatError) -> None:
        from ragchat.errors import IndexMissing, IndexStale, UsageError

        session = self._screen.session
        if isinstance(error, IndexMissing) and session is not None and session.indexing:
            error = IndexMissing(states.nothing_read_yet(session.folder))
        if isinstance(error, IndexStale):
            self._show_stale(error)
        await turn.fail(error)
        if isinstance(error, UsageError) and not self._screen.prompt.text:
            # A filter is mistaken: it is to be mended, not typed again.
            self._screen.prompt.give_back(turn.question)
        self._screen.conversation.show_beginning(turn)
        self._screen.refresh_bindings()

    def _folder_opened(self, status: FolderStatus, model: str) -> None:
        self._screen.prompt.offer(None)
        self.model, self.status = model, status
        self._screen.header.tell(model=model)
        if status.indexed or status.library:
            self._show_status(status)

    def _show_status(self, status: FolderStatus) -> None:
        self.status = status
        self._screen.header.tell(
            documents=status.indexed, chunks=status.chunks, indexed=states.index_state(status)
        )
        self._say_ready()

    def _say_ready(self) -> None:
        if self.status is not None:
            ready = empty.when_ready(self.status, self.health, self.model, demo=self._demo)
            self._screen.conversation.say_empty(ready)

    def _index_moved(self, progress: IndexProgress) -> None:
        self.pace.note(progress, monotonic())
        if progress.notice:
            self._tell_foreign(progress.notice)
        screen, session = self._screen, self._screen.session
        if session is not None and session.following.is_following and progress.documents_total <= _FEW:
            screen.header.tell(indexed=states.UPDATING)
            return
        screen.banner.show_progress(progress)
        screen.header.tell(indexed=states.progress_state(progress))
        counts = progress.phase != "calibrating"  # nothing is read any more: what was counted stands
        if counts and self.status is not None and self.status.indexed == 0:
            read = progress.chunks_embedded + progress.chunks_reused
            screen.header.tell(documents=progress.documents_done, chunks=read)
            screen.conversation.say_empty(empty.while_indexing(progress))

    def _tell_foreign(self, notice: str) -> None:
        """Once a folder: that the embedder cannot read it, and where the remedy stands."""
        if not self._foreign:
            self._foreign = notice
            text = f"{notice.partition(' Better:')[0]} {key_for('chat.show_index')} shows what to do."
            self._screen.notify(shown(text), severity="warning", markup=False)

    def _index_done(self, message: messages.IndexDone) -> None:
        self.stale = False
        self.pace.end()
        remember_rate(message.report)
        self._screen.prompt.offer(None)
        self._screen.banner.clear()
        self._show_status(message.status)
        report = message.report
        if report.warning and report.warning in (self._foreign, message.status.notice):
            self._tell_foreign(report.warning)
            report = replace(report, warning="")
        if line := states.report_line(report, edits=message.is_following):
            failed = bool(report.failures)
            text = f"{line} {key_for('chat.show_index')} shows what failed and why." if failed else line
            alarming = failed or report.warning
            self._screen.notify(text, severity="warning" if alarming else "information", markup=False)

    def _index_failed(self, error: RagchatError) -> None:
        from ragchat.errors import IndexCorrupt, IndexStale

        if isinstance(error, IndexStale):
            self._show_stale(error)
            return
        self.stale = isinstance(error, IndexCorrupt)
        remedy = f"{key_for('chat.reindex')} {'rebuilds the index' if self.stale else 'tries again'}"
        self._screen.banner.show_problem(error, remedy)
        if self.status is None:
            self._screen.conversation.say_empty(empty.when_unreadable(remedy))
        self._screen.header.tell(indexed=State("✗", "not up to date", "bad"))

    def _show_stale(self, error: RagchatError) -> None:
        app, session = self._screen.ragchat, self._screen.session
        if app.rebuild_agreed and session is not None:
            app.rebuild_agreed = False
            session.index(rebuild=True)
            return
        self.stale = True
        self._screen.banner.show_stale(error.message)
        self._screen.header.tell(documents=None, chunks=None, indexed=State("▲", "stale", "busy"))
