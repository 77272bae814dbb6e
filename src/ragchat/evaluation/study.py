"""Examine a folder under several strategies: as it is set up, cut otherwise, embedded otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
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
from ragchat.paths import cache_dir, folder_data_dir
from ragchat.retrieval.cross_encoder import CrossEncoderReranker, open_cross_encoder
from ragchat.retrieval.filters import NO_FILTERS, Filters

CURRENT = "current"

Narrator = Callable[[str], None]
"""Told in one line what is going on."""


def study(
    workspace: Workspace,
    questions: QuestionSet,
    cuttings: Sequence[Cutting] = (),
    embedders: Sequence[str] = (),
    cross_encoder: str = "",
    *,
    filters: Filters = NO_FILTERS,
    tell: Narrator,
    cancel: threading.Event,
) -> list[Examined]:
    """The folder as it is set up, then with the cross-encoder, then cut and embedded otherwise.

    Fewer of them after a cancel.

    embedders: names as in the settings; the configured one alone where there is none. Without a cutting the
    configured one is taken. filters: which notes are asked. The workspace's index must be up to date.
    Raises EmbedderUnavailable, IndexMissing, IndexStale, SetupError.
    """
    strategies: list[_Strategy] = [_Current(workspace)]
    if cross_encoder:
        strategies.append(_Current(workspace, cross_encoder))
    models = tuple(embedders) or (workspace.settings.embedding.model,)
    as_set_up = Cutting("", ChunkOptions(**asdict(workspace.settings.chunking)))
    strategies += [
        _Variant(workspace, cutting, model, named=bool(embedders))
        for model in models
        for cutting in cuttings or ([as_set_up] if embedders else [])
    ]
    examined: list[Examined] = []
    indexes: list[Index] = []
    with ExitStack() as opened_until_the_end:
        for number, strategy in enumerate(strategies, start=1):
            prefix = f"[{number}/{len(strategies)}] {strategy.name}: " if len(strategies) > 1 else ""

            def say(text: str, prefix: str = prefix) -> None:
                tell(prefix + text)

            def asked(done: int, total: int, say: Narrator = say) -> None:
                say(f"asked {done:,} of {total:,} questions")

            if examined and strategy.is_as_set_up:
                say("as the folder is set up")
                examined.append(replace(examined[0], name=strategy.name))
                continue
            opened = opened_until_the_end.enter_context(strategy.opened(say, cancel, indexes))
            if cancel.is_set():
                break
            indexes.append(opened.index)
            examined.append(
                examine(
                    strategy.name,
                    opened.index,
                    opened.embedder,
                    workspace.settings,
                    questions,
                    opened.place,
                    reranker=opened.reranker,
                    filters=filters,
                    on_progress=asked,
                    cancel=cancel,
                )
            )
    return examined


@dataclass(frozen=True, slots=True)
class _Opened:
    """place: the folder that holds the index's files."""

    index: Index
    embedder: Embedder
    place: Path
    reranker: CrossEncoderReranker | None


class _Current:
    """The folder's own index, with another cross-encoder where one is named."""

    def __init__(self, workspace: Workspace, cross_encoder: str = "") -> None:
        self._workspace = workspace
        self._cross_encoder = cross_encoder
        self.name = f"{CURRENT} + {cross_encoder}" if cross_encoder else CURRENT
        self.is_as_set_up = not cross_encoder

    @contextmanager
    def opened(
        self,
        say: Narrator,
        cancel: threading.Event,  # noqa: ARG002 -- as below
        indexes: Sequence[Index],  # noqa: ARG002
    ) -> Iterator[_Opened]:
        workspace = self._workspace
        reranker = workspace.reranker()
        if self._cross_encoder:
            say("loading the cross-encoder")
            reranker = open_cross_encoder(self._cross_encoder, cache_dir() / "models")
        yield _Opened(workspace.index(), workspace.embedder(), folder_data_dir(workspace.folder), reranker)


class _Variant:
    """An index in the cache.

    is_as_set_up: it would be the folder's own index once more.
    """

    def __init__(self, workspace: Workspace, cutting: Cutting, model: str, *, named: bool) -> None:
        self._workspace = workspace
        self._cutting = cutting
        self._model = model
        self.name = " ".join(filter(None, (model if named else "", cutting.name)))
        settings = workspace.settings
        self.is_as_set_up = (
            model == settings.embedding.model
            and not cutting.beyond_window
            and cutting.options == ChunkOptions(**asdict(settings.chunking))
        )

    @contextmanager
    def opened(self, say: Narrator, cancel: threading.Event, indexes: Sequence[Index]) -> Iterator[_Opened]:
        """indexes: of the same folder, whose passages need not be embedded again."""

        def progress(told: IndexProgress) -> None:
            say(f"{told.phase}, {told.documents_done:,} of {told.documents_total:,} documents")

        settings = self._workspace.settings
        with variant_index(
            self._workspace.folder,
            self._cutting,
            self._embedder(say, cancel),
            settings,
            indexes,
            self._workspace.contexts() if self._cutting.options.context else None,
            on_progress=progress,
            cancel=cancel,
        ) as opened:
            yield _Opened(*opened, self._workspace.reranker())

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
