"""Examine a folder under several strategies: as it is set up, cut otherwise, embedded otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from ragchat.answering.workspace import Workspace
from ragchat.chunking.options import ChunkOptions
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.registry import open_embedder
from ragchat.evaluation.examination import Examined, examine
from ragchat.evaluation.questions import QuestionSet
from ragchat.evaluation.strategies import Cutting
from ragchat.evaluation.variant import variant_index
from ragchat.index.progress import IndexProgress
from ragchat.index.protocol import Index
from ragchat.paths import folder_data_dir

CURRENT = "current"

Narrator = Callable[[str], None]
"""Told in one line what is going on."""


def study(
    workspace: Workspace,
    questions: QuestionSet,
    cuttings: Sequence[Cutting] = (),
    embedders: Sequence[str] = (),
    *,
    tell: Narrator,
    cancel: threading.Event,
) -> list[Examined]:
    """The folder as it is set up first, then every cutting under every embedder; fewer after a cancel.

    embedders: names as in the settings; the configured one alone where there is none. Without a cutting the
    configured one is taken. The workspace's index must be up to date.
    Raises EmbedderUnavailable, IndexMissing, IndexStale, SetupError.
    """
    strategies: list[_Strategy] = [_Current(workspace)]
    models = tuple(embedders) or (workspace.settings.embedding.model,)
    as_set_up = Cutting("", ChunkOptions(**asdict(workspace.settings.chunking)))
    strategies += [
        _Variant(workspace, cutting, model, named=bool(embedders))
        for model in models
        for cutting in cuttings or ([as_set_up] if embedders else [])
    ]
    examined: list[Examined] = []
    for number, strategy in enumerate(strategies, start=1):
        prefix = f"[{number}/{len(strategies)}] {strategy.name}: " if len(strategies) > 1 else ""

        def say(text: str, prefix: str = prefix) -> None:
            tell(prefix + text)

        def asked(done: int, total: int, say: Narrator = say) -> None:
            say(f"asked {done:,} of {total:,} questions")

        with strategy.opened(say, cancel) as (index, embedder, place):
            if cancel.is_set():
                break
            examined.append(
                examine(
                    strategy.name,
                    index,
                    embedder,
                    workspace.settings,
                    questions,
                    place,
                    on_progress=asked,
                    cancel=cancel,
                )
            )
    return examined


Opened = tuple[Index, Embedder, Path]


class _Current:
    """The folder's own index."""

    name = CURRENT

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @contextmanager
    def opened(self, say: Narrator, cancel: threading.Event) -> Iterator[Opened]:  # noqa: ARG002 -- as below
        yield self._workspace.index(), self._workspace.embedder(), folder_data_dir(self._workspace.folder)


class _Variant:
    """An index in the cache."""

    def __init__(self, workspace: Workspace, cutting: Cutting, model: str, *, named: bool) -> None:
        self._workspace = workspace
        self._cutting = cutting
        self._model = model
        self.name = " ".join(filter(None, (model if named else "", cutting.name)))

    @contextmanager
    def opened(self, say: Narrator, cancel: threading.Event) -> Iterator[Opened]:
        def progress(told: IndexProgress) -> None:
            say(f"{told.phase}, {told.documents_done:,} of {told.documents_total:,} documents")

        settings = self._workspace.settings
        with variant_index(
            self._workspace.folder,
            self._cutting,
            self._embedder(say, cancel),
            settings,
            on_progress=progress,
            cancel=cancel,
        ) as opened:
            yield opened

    def _embedder(self, say: Narrator, cancel: threading.Event) -> Embedder:
        settings = self._workspace.settings
        if self._model == settings.embedding.model:
            return self._workspace.embedder()
        return open_embedder(
            replace(settings.embedding, model=self._model),
            ollama_host=settings.ollama.host,
            notify=say,
            cancel=cancel,
        )


_Strategy = _Current | _Variant
