"""The seam behind which a model server stands: what it has, and one streamed answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragchat.errors import GenerationFailed


class PromptTooLong(GenerationFailed):
    """tokens: of the prompt, by the server's own count; window: that it has, 0 unknown."""

    def __init__(self, message: str, *, hint: str, tokens: int, window: int) -> None:
        super().__init__(message, hint=hint)
        self.tokens = tokens
        self.window = window


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that can be asked now. name carries its tag; size in bytes; context in tokens, 0 unknown.

    thinks: it reasons before it answers, which takes tokens of its own.
    """

    name: str
    size: int
    digest: str
    context: int = 0
    chats: bool = True
    thinks: bool = False


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """Whether a server answers, and what is installed there.

    loopback: False means that notes leave this machine, which is always shown.
    problem, hint: set when not reachable.
    """

    host: str
    loopback: bool
    reachable: bool
    version: str = ""
    models: tuple[InstalledModel, ...] = ()
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer, in the order it came.

    waited: seconds without a byte so far; set on ticks that carry nothing else.
    done_reason and counts: only on the last piece.
    """

    content: str = ""
    thinking: str = ""
    waited: float = 0.0
    done: bool = False
    done_reason: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class ModelServer(Protocol):
    """Nothing is sent when it is made. Safe to call from several threads."""

    @property
    def host(self) -> str:
        """The address, as it is shown."""

    def health(self) -> ServerHealth:
        """Never raises; sends no question."""

    def describe(self, model: str) -> InstalledModel:
        """The model's limits; sends no question. Raises ServerUnreachable, ModelMissing."""

    def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, float | int],
        cancel: threading.Event,
        *,
        think: bool | None = None,
    ) -> Iterator[Delta]:
        """Stream one answer. Ends at once when `cancel` is set. Raises ServerUnreachable, ModelMissing,
        GenerationFailed.

        think: whether a model that can shall reason first; None leaves it to the server.
        """
