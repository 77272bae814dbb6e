"""Requests to an Ollama server: one answer as JSON, or a stream that can be left at any moment.

A stream runs in a thread and an event loop of its own: the official async client is bound to the loop it was
first used in, and closing its connection is what makes the server stop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragchat.embedding.ollama_faults import OllamaFault, fault_of
from ragchat.embedding.ollama_host import import_ollama

if TYPE_CHECKING:
    import httpx

INFO_SECONDS = 5.0
"""How long a question about the server itself may take; it needs no model."""
_CONNECT_SECONDS = 5.0
_FAREWELL = 0.2
"""How long an ended stream's thread is waited for; it is a daemon and may end later."""

Piece = TypeVar("Piece")
Ask = Callable[[Any], Awaitable[AsyncIterator[Piece]]]


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream is over, cleanly."""


def ask_json(host: str, path: str, body: dict[str, Any] | None = None, *, model: str = "") -> dict[str, Any]:
    """The object at a path: POST with a body, else GET. Raises OllamaFault, within a few seconds."""
    from ragchat.embedding.ollama_wire import on_response

    try:
        with _info_client(host, on_response) as client:
            response = client.get(path) if body is None else client.post(path, json=body)
            return _object(response.json())
    except Exception as error:
        raise fault_of(error, host, model) from error


def model_sizes(shown: dict[str, Any]) -> tuple[int, int]:
    """(context, dimensions) as `/api/show` tells them; each can be missing, which is 0 here."""
    info = shown.get("model_info")
    if not isinstance(info, dict):
        return 0, 0
    family = info.get("general.architecture")
    return whole(info.get(f"{family}.context_length")), whole(info.get(f"{family}.embedding_length"))


def whole(value: object) -> int:
    """A count as a server gave it, 0 for anything else."""
    return value if isinstance(value, int) and value > 0 else 0


class Stream(Generic[Piece]):
    """One streamed request; what arrives is taken from a queue.

    ask: given the official AsyncClient, starts the request. No byte has a timeout once the connection stands,
    because loading a model may take minutes.
    """

    def __init__(self, host: str, ask: Ask[Piece], *, model: str = "") -> None:
        self._host, self._ask, self._model = host, ask, model
        self._arrived: SimpleQueue[Piece | Ended | OllamaFault] = SimpleQueue()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._left = False
        self._thread = threading.Thread(target=self._run, name="ragchat-answer", daemon=True)
        self._thread.start()

    def next(self, seconds: float) -> Piece | Ended | None:
        """What arrived next; None when nothing did in that time. Raises OllamaFault where it broke off."""
        try:
            arrived = self._arrived.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(arrived, OllamaFault):
            raise arrived
        return arrived

    def leave(self) -> None:
        """Close the connection, which stops the server too."""
        with self._lock:
            self._left = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(_FAREWELL)

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except asyncio.CancelledError:
            return  # nobody waits for a piece any more
        except Exception as error:
            self._arrived.put(fault_of(error, self._host, self._model))

    async def _work(self) -> None:
        with self._lock:
            if self._left:
                return
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            async with _async_client(self._host) as client:
                async for piece in await self._ask(client):
                    self._arrived.put(piece)
            self._arrived.put(Ended())
        finally:
            with self._lock:
                self._loop = None


def _object(told: object) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise TypeError("an object was expected")
    return told


def _info_client(host: str, hook: Callable[[httpx.Response], None]) -> httpx.Client:
    import httpx

    from ragchat.embedding.ollama_wire import client_options

    return httpx.Client(
        base_url=host, timeout=INFO_SECONDS, event_hooks={"response": [hook]}, **client_options(host)
    )


def _async_client(host: str) -> Any:
    import httpx

    from ragchat.embedding.ollama_wire import client_options, on_async_response

    return import_ollama().AsyncClient(
        host,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        event_hooks={"response": [on_async_response]},
        **client_options(host),
    )
