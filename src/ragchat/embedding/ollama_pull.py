"""Have the server download a model, watched and stoppable.

The server keeps what it has downloaded, so a pull that was cancelled or broke off goes on where it stopped
when it is asked for again.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from ragchat.embedding.ollama_call import Ended, Stream
from ragchat.embedding.ollama_faults import OllamaFault

_POLL = 0.05
_DONE = "success"


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far it is. completed, total: bytes of all parts announced so far; total grows as they are."""

    status: str
    completed: int = 0
    total: int = 0

    @property
    def done(self) -> bool:
        """Whether the model is installed now."""
        return self.status == _DONE


def pull_model(host: str, model: str, cancel: threading.Event | None = None) -> Iterator[PullProgress]:
    """Progress until `done`; ends early and at once when `cancel` is set.

    host: normalised. Raises OllamaFault, also for a stream that ends without success.
    """
    stopped = cancel or threading.Event()
    parts: dict[str, tuple[int, int]] = {}

    async def ask(client: Any) -> AsyncIterator[Any]:
        lines: AsyncIterator[Any] = await client.pull(model, stream=True)
        return lines

    stream: Stream[Any] = Stream(host, ask, model=model)
    try:
        while not stopped.is_set():
            line = stream.next(_POLL)
            if isinstance(line, Ended):
                raise _ended_early(model)
            if line is None:
                continue
            if line.digest:
                parts[line.digest] = (line.completed or 0, line.total or 0)
            progress = _sum(str(line.status or ""), parts)
            yield progress
            if progress.done:
                return
    except OllamaFault as fault:
        raise _explained(fault, model) from fault
    finally:
        stream.leave()


def _sum(status: str, parts: dict[str, tuple[int, int]]) -> PullProgress:
    return PullProgress(
        status, sum(done for done, _ in parts.values()), sum(whole for _, whole in parts.values())
    )


def _explained(fault: OllamaFault, model: str) -> OllamaFault:
    """A broken pull is taken up again; what the registry does not have is not."""
    if fault.kind not in ("broken off", "timeout"):
        return fault
    return OllamaFault(
        fault.kind,
        f"{model} was not pulled: {fault.words or fault.message}",
        f"ragchat pull {model}: it goes on where it stopped; is the name right?",
    )


def _ended_early(model: str) -> OllamaFault:
    return OllamaFault("broken off", "the download ended before it was whole", f"ragchat pull {model}")
