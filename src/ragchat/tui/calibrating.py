"""What the calibration screen knows: the collected questions asked once; without any, the promise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragchat.errors import SetupError
from ragchat.evaluation.calibration import Choice, choose, too_few
from ragchat.evaluation.collection import collected_path
from ragchat.evaluation.examination import examine, load_folder_questions
from ragchat.evaluation.measures import Asked
from ragchat.evaluation.promise import Promise, check_promise
from ragchat.paths import folder_data_dir
from ragchat.retrieval.threshold import current_threshold
from ragchat.retrieval.trace import Threshold

if TYPE_CHECKING:
    from ragchat.answering.workspace import Workspace

COSTS = (1.0, 2.0, 3.0, 5.0, 10.0)
"""What a bluff may cost, in lost answers."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Examined:
    """asked: the outcomes under the threshold as it is. choices: the cheapest line for each cost of a bluff.

    few: why these questions are too few to choose by, "" where they are enough; there are no choices then.
    problems: records that could not be used. promise: where there are no questions, and it could be checked.
    """

    threshold: Threshold | None
    asked: Asked = ()
    problems: tuple[str, ...] = ()
    few: str = ""
    choices: Mapping[float, Choice] | None = None
    promise: Promise | None = None


def examine_folder(workspace: Workspace, progress: Progress, cancel: threading.Event) -> Examined:
    """Ask the collected questions; asks no model. Takes seconds. Raises RagchatError."""
    if not workspace.has_index():
        raise SetupError("nothing is indexed yet, so there is no threshold")
    index, settings = workspace.index(), workspace.settings
    path = collected_path(workspace.folder)
    questions = load_folder_questions((path,), workspace.folder, index, settings) if path.exists() else None
    threshold = current_threshold(index, settings.retrieval)
    if questions is None or not (questions.questions or questions.problems):
        promise = check_promise(
            index.snapshot(), workspace.embedder(), settings.retrieval, _until(progress, cancel)
        )
        return Examined(threshold, promise=promise)
    examined = examine(
        "collected",
        index,
        workspace.embedder(),
        settings,
        questions,
        folder_data_dir(workspace.folder),
        reranker=workspace.reranker(),
        on_progress=progress,
        cancel=cancel,
    )
    few = too_few(examined.asked)
    return Examined(
        threshold=examined.threshold,
        asked=examined.asked,
        problems=tuple(map(str, questions.problems)),
        few=few,
        choices=None if few else {cost: choose(examined.asked, cost) for cost in COSTS},
    )


class Left(Exception):
    """The screen was left meanwhile."""


def _until(progress: Progress, cancel: threading.Event) -> Progress:
    def tell(done: int, total: int) -> None:
        if cancel.is_set():
            raise Left
        progress(done, total)

    return tell
