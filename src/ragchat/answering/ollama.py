"""The Ollama server behind the `ModelServer` seam, through its official client.

Each answer runs in a thread and an event loop of its own: the official async client is bound to the loop it
was first used in, and closing its connection is what makes the server stop generating. Nothing has a timeout
while an answer is awaited, because loading a model may take minutes; that is told by ticks instead.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from ragchat.answering.ollama_errors import explain_failure, explain_info_failure
from ragchat.answering.server import Delta, InstalledModel, ServerHealth
from ragchat.embedding.ollama_host import import_ollama, is_loopback, normalise_host
from ragchat.errors import BackendError, GenerationFailed

if TYPE_CHECKING:
    import httpx

_INFO_SECONDS = 5.0
"""How long a question about the server itself may take; it needs no model."""
_TICK = 0.25
_POLL = 0.03
_FAREWELL = 0.2
"""How long an ended answer's thread is waited for; it is a daemon and may end later."""


class OllamaServer:
    """One Ollama server. Raises UsageError for an address that is none."""

    def __init__(self, host: str) -> None:
        self._host = normalise_host(host)
        self._described: dict[str, InstalledModel] = {}

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
            with self._info_client() as client:
                version = str(_object(client.get("/api/version")).get("version", ""))
                listed = _object(client.get("/api/tags")).get("models") or ()
                models = tuple(_installed(entry) for entry in listed if isinstance(entry, dict))
        except Exception as error:  # whatever is wrong with a server is what this tells
            failure = explain_info_failure(error, self._host)
            return ServerHealth(
                self._host, self.loopback, reachable=False, problem=failure.message, hint=failure.hint
            )
        named = tuple(model for model in models if model.name)
        return ServerHealth(self._host, self.loopback, reachable=True, version=version, models=named)

    def describe(self, model: str) -> InstalledModel:
        """What the server itself says of a model; asked once per model.

        Raises ServerUnreachable, ModelMissing; what the server does not tell stays unknown.
        """
        if (known := self._described.get(model)) is not None:
            return known
        try:
            with self._info_client() as client:
                shown = _object(client.post("/api/show", json={"model": model}))
        except Exception as error:
            failure = explain_info_failure(error, self._host, model)
            if isinstance(failure, GenerationFailed):
                return InstalledModel(model, 0, "")  # no answer to this says nothing about the model itself
            raise failure from error
        self._described[model] = _shown(model, shown)
        return self._described[model]

    def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, float | int],
        cancel: threading.Event,
    ) -> Iterator[Delta]:
        """Stream one answer; while no byte arrives, a tick comes about every 0.25 s.

        Raises ServerUnreachable, ModelMissing, GenerationFailed (also for a stream that ends without `done`).
        """
        call = _Call(self._host, model, messages, options)
        silent_since = next_tick = time.monotonic()
        next_tick += _TICK
        try:
            while not cancel.is_set():
                now = time.monotonic()
                if now >= next_tick:
                    next_tick = now + _TICK
                    yield Delta(waited=now - silent_since)
                piece = call.next_piece(_POLL)
                if isinstance(piece, Delta):
                    yield piece
                    if piece.done:
                        return
                    silent_since = time.monotonic()
                    next_tick = silent_since + _TICK
                elif piece is not None:
                    raise piece
        finally:
            call.end()

    def _info_client(self) -> httpx.Client:
        import httpx

        return httpx.Client(base_url=self._host, timeout=_INFO_SECONDS, **_connection(self._host))


class _Call:
    """One request in its thread; what arrives is taken from a queue."""

    def __init__(
        self,
        host: str,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, float | int],
    ) -> None:
        self._host, self._model, self._messages, self._options = host, model, messages, options
        self._pieces: SimpleQueue[Delta | BackendError] = SimpleQueue()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="ragchat-answer", daemon=True)
        self._thread.start()

    def next_piece(self, seconds: float) -> Delta | BackendError | None:
        """What arrived next, or None when nothing did in that time."""
        try:
            return self._pieces.get(timeout=seconds)
        except Empty:
            return None

    def end(self) -> None:
        """Close the connection, which stops the server too."""
        with self._lock:
            self._ended = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(_FAREWELL)

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except asyncio.CancelledError:
            return  # nobody waits for a piece any more
        except Exception as error:
            self._pieces.put(explain_failure(error, self._host, self._model))

    async def _work(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            await self._stream()
        finally:
            with self._lock:
                self._loop = None

    async def _stream(self) -> None:
        client = import_ollama().AsyncClient(self._host, follow_redirects=False, **_connection(self._host))
        async with client:
            stream = await client.chat(
                self._model, messages=list(self._messages), options=dict(self._options), stream=True
            )
            done = False
            async for part in stream:
                done = done or bool(part.done)
                self._pieces.put(_delta(part))
        if not done:
            raise GenerationFailed(
                f"{self._model} broke off: the answer ended without its last line",
                hint="ask again; see the server's own log if it happens again",
            )


def _connection(host: str) -> dict[str, Any]:
    """No proxy stands between us and loopback; reading certificates takes 50 ms, and plain HTTP has none."""
    return {"trust_env": not is_loopback(host), "verify": host.startswith("https:")}


def _delta(part: Any) -> Delta:
    """A piece from the client's `ChatResponse`."""
    piece = Delta(content=part.message.content or "", thinking=part.message.thinking or "")
    if not part.done:
        return piece
    return replace(
        piece,
        done=True,
        done_reason=part.done_reason or "",
        prompt_tokens=part.prompt_eval_count,
        answer_tokens=part.eval_count,
    )


def _object(response: httpx.Response) -> dict[str, Any]:
    body = response.raise_for_status().json()
    if not isinstance(body, dict):
        raise TypeError("a JSON object was expected")
    return body


def _installed(entry: Mapping[str, Any]) -> InstalledModel:
    """An entry of `/api/tags`, whose capabilities can be wrong or missing; `describe` knows better."""
    details = entry.get("details") if isinstance(entry.get("details"), dict) else {}
    assert isinstance(details, dict)
    capabilities = entry.get("capabilities") or ()
    return InstalledModel(
        name=str(entry.get("name") or entry.get("model") or ""),
        size=_number(entry.get("size")),
        digest=str(entry.get("digest") or ""),
        context=_number(details.get("context_length")),
        chats="completion" in capabilities if capabilities else "bert" not in str(details.get("family")),
        thinks="thinking" in capabilities,
    )


def _shown(model: str, shown: Mapping[str, Any]) -> InstalledModel:
    """What `/api/show` says; both the architecture and its context length can be missing."""
    info = shown.get("model_info") if isinstance(shown.get("model_info"), dict) else {}
    assert isinstance(info, dict)
    capabilities = shown.get("capabilities") or ("completion",)
    return InstalledModel(
        name=model,
        size=0,
        digest="",
        context=_number(info.get(f"{info.get('general.architecture')}.context_length")),
        chats="completion" in capabilities,
        thinks="thinking" in capabilities,
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
