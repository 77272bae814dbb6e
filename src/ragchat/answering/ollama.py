"""The Ollama server behind the `ModelServer` seam, through its official client.

Nothing has a timeout while an answer is awaited, because loading a model may take minutes; that is told by
ticks instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragchat.answering.ollama_errors import backend_error
from ragchat.answering.server import Delta, InstalledModel, ServerHealth
from ragchat.embedding.ollama_call import Ended, Stream, ask_json, model_sizes, whole
from ragchat.embedding.ollama_faults import OllamaFault, ended_early
from ragchat.embedding.ollama_host import is_loopback, normalise_host
from ragchat.embedding.ollama_pull import PullProgress, pull_model
from ragchat.errors import GenerationFailed

_TICK = 0.25
_POLL = 0.03


class OllamaServer:
    """One Ollama server. Raises UsageError for an address that is none."""

    def __init__(self, host: str) -> None:
        self._host = normalise_host(host)
        self._described: dict[tuple[str, str], InstalledModel] = {}

    @property
    def host(self) -> str:
        """The address with scheme and port."""
        return self._host

    @property
    def loopback(self) -> bool:
        """Whether what is sent stays on this machine."""
        return is_loopback(self._host)

    def health(self) -> ServerHealth:
        """Version and installed models, in a few seconds at most; never raises."""
        try:
            version = str(ask_json(self._host, "/api/version").get("version", ""))
            models = tuple(self._installed().values())
        except OllamaFault as fault:
            return ServerHealth(
                self._host, self.loopback, reachable=False, problem=fault.message, hint=fault.hint
            )
        return ServerHealth(self._host, self.loopback, reachable=True, version=version, models=models)

    def describe(self, model: str) -> InstalledModel:
        """What the server itself says of a model, with the digest of what its tag means now.

        Raises ServerUnreachable, ModelMissing; what the server does not tell stays unknown.
        """
        try:
            listed = self._installed().get(tagged(model))
            digest = listed.digest if listed else ""
            if digest and (known := self._described.get((model, digest))) is not None:
                return known
            shown = ask_json(self._host, "/api/show", {"model": model}, model=model)
        except OllamaFault as fault:
            failure = backend_error(fault, model)
            if isinstance(failure, GenerationFailed):
                return InstalledModel(model, 0, "")  # no answer to this says nothing about the model itself
            raise failure from fault
        described = _shown(model, shown, listed)
        if digest:
            self._described[model, digest] = described
        return described

    def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, float | int],
        cancel: threading.Event,
        *,
        think: bool | None = None,
    ) -> Iterator[Delta]:
        """Stream one answer; while no byte arrives, a tick comes about every 0.25 s.

        think: None leaves it to the server; only a model that can think may be asked to.
        Raises ServerUnreachable, ModelMissing, GenerationFailed (also for a stream that ends without `done`).
        """

        async def ask(client: Any) -> AsyncIterator[Any]:
            lines: AsyncIterator[Any] = await client.chat(
                model, messages=list(messages), options=dict(options), think=think, stream=True
            )
            return lines

        stream: Stream[Any] = Stream(self._host, ask, model=model)
        silent_since = time.monotonic()
        next_tick = silent_since + _TICK
        try:
            while not cancel.is_set():
                now = time.monotonic()
                if now >= next_tick:
                    next_tick = now + _TICK
                    yield Delta(waited=now - silent_since)
                line = stream.next(_POLL)
                if isinstance(line, Ended):
                    raise ended_early(model)
                if line is None:
                    continue
                yield _delta(line)
                if line.done:
                    return
                silent_since = time.monotonic()
                next_tick = silent_since + _TICK
        except OllamaFault as fault:
            raise backend_error(fault, model) from fault
        finally:
            stream.leave()

    def pull(self, model: str, cancel: threading.Event) -> Iterator[PullProgress]:
        """Have the server download a model; see `pull_model`. Raises BackendError."""
        try:
            yield from pull_model(self._host, model, cancel)
        except OllamaFault as fault:
            raise backend_error(fault, model) from fault

    def _installed(self) -> dict[str, InstalledModel]:
        """By name with tag. Raises OllamaFault."""
        listed = ask_json(self._host, "/api/tags").get("models") or ()
        entries = [entry for entry in listed if isinstance(entry, dict)]
        return {model.name: model for model in map(_listed, entries) if model.name}


def tagged(name: str) -> str:
    """The name as the server lists it: one without a tag means the latest."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _delta(line: Any) -> Delta:
    """A piece from the client's `ChatResponse`."""
    piece = Delta(content=line.message.content or "", thinking=line.message.thinking or "")
    if not line.done:
        return piece
    return replace(
        piece,
        done=True,
        done_reason=line.done_reason or "",
        prompt_tokens=line.prompt_eval_count,
        answer_tokens=line.eval_count,
    )


def _listed(entry: Mapping[str, Any]) -> InstalledModel:
    """An entry of `/api/tags`, whose capabilities can be wrong or missing; `describe` knows better."""
    details = entry.get("details")
    details = details if isinstance(details, dict) else {}
    capabilities = entry.get("capabilities") or ()
    return InstalledModel(
        name=str(entry.get("name") or entry.get("model") or ""),
        size=whole(entry.get("size")),
        digest=str(entry.get("digest") or ""),
        context=whole(details.get("context_length")),
        chats="completion" in capabilities if capabilities else "bert" not in str(details.get("family")),
        thinks="thinking" in capabilities,
    )


def _shown(model: str, shown: dict[str, Any], listed: InstalledModel | None) -> InstalledModel:
    """What `/api/show` says; size and digest stand only in the list."""
    capabilities = shown.get("capabilities") or ("completion",)
    return InstalledModel(
        name=model,
        size=listed.size if listed else 0,
        digest=listed.digest if listed else "",
        context=model_sizes(shown)[0],
        chats="completion" in capabilities,
        thinks="thinking" in capabilities,
    )
