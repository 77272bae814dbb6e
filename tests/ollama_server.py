"""A counting stand-in for Ollama that answers as the recorded transcripts do (../shared/ollama-transcripts).

    with OllamaTestServer(models=["qwen3:4b"], answer="It ends in March. [1]") as server:
        ...                       # point ragchat at server.url
        assert server.count("/api/chat") == 1

What it says, and how it breaks, is a script of steps: a string is a piece of the answer, `Pause`, `Stall`,
`Break`, `ErrorLine`, `Raw`, `Think` are what their names say. As a script of its own, for other processes:

    python -m tests.ollama_server --port 11434 --model qwen3:4b --answer "In March. [1]" --log requests.jsonl
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.ollama_handler import CountingServer, reset_connection
from tests.ollama_script import (
    Break,
    ErrorLine,
    Pause,
    Raw,
    Received,
    Reply,
    Stall,
    Step,
    TestModel,
    Think,
    pieces,
)

__all__ = [
    "Break",
    "ErrorLine",
    "OllamaTestServer",
    "Pause",
    "Raw",
    "Received",
    "Reply",
    "Stall",
    "Step",
    "TestModel",
    "Think",
]


class OllamaTestServer:
    """Listens on a free loopback port from construction on; `reply` may be changed at any time.

    registry: what can be pulled. A pull waits `pull_delay` seconds before each tenth, breaks off at the part
    `pull_breaks_at` of the whole, and goes on at what was `downloaded`.
    speaks: makes the steps of each answer from the body of its request, in place of `reply`.
    """

    def __init__(
        self,
        *,
        models: Sequence[str | TestModel] = ("qwen3:4b",),
        answer: str | Sequence[Step] = "The notes say so [1].",
        reply: Reply | None = None,
        registry: Sequence[TestModel] = (),
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        listed = [TestModel(m) if isinstance(m, str) else m for m in models]
        self.models = {model.tagged: model for model in listed}
        self.reply = reply or Reply(pieces(answer) if isinstance(answer, str) else tuple(answer))
        self.registry = {model.tagged: model for model in registry}
        self.speaks: Callable[[Mapping[str, Any]], Iterable[Step]] | None = None
        self.downloaded: dict[str, int] = {}
        self.pull_delay = 0.0
        self.pull_breaks_at = 1.0
        self.requests: list[Received] = []
        self.disconnects = 0
        self.closing = threading.Event()
        self._log = log
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._http = CountingServer(("127.0.0.1", port), self)
        self.port: int = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def count(self, path: str) -> int:
        """How many requests went to this path."""
        with self._lock:
            return sum(request.path == path for request in self.requests)

    def received(self, path: str) -> list[Received]:
        """The requests to this path, in order."""
        with self._lock:
            return [request for request in self.requests if request.path == path]

    def wait_for(self, path: str, seconds: float = 5.0) -> Received:
        """The newest request to this path, as soon as there is one."""
        _until(lambda: self.count(path) > 0, seconds, f"no request to {path}")
        return self.received(path)[-1]

    def wait_for_disconnect(self, seconds: float = 5.0) -> None:
        """Return once a client has gone away in mid-answer."""
        _until(lambda: self.disconnects > 0, seconds, "the client stayed connected")

    def kill(self) -> None:
        """Vanish as a killed process does: no more listening, every connection reset."""
        self.closing.set()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            reset_connection(connection)
        self.close()

    def close(self) -> None:
        """Stop listening and let stalled answers end."""
        self.closing.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def record(self, request: Received) -> None:
        with self._lock:
            self.requests.append(request)
            if self._log is not None:
                line = {"method": request.method, "path": request.path, "body": request.body}
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(line, ensure_ascii=False) + "\n")

    def note_disconnect(self) -> None:
        with self._lock:
            self.disconnects += 1

    def track(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)

    def untrack(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def find(self, name: str) -> TestModel | None:
        return self.models.get(name if ":" in name else f"{name}:latest")


def _until(holds: Callable[[], bool], seconds: float, failure: str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(failure)
        time.sleep(0.005)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted; prints the address on the first line of standard output."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", action="append", help="may be given several times")
    parser.add_argument("--answer", default="The notes say so [1].")
    parser.add_argument("--load", type=float, default=0.0, help="seconds of silence before the first byte")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two pieces")
    parser.add_argument("--stall", action="store_true", help="never send the last line")
    parser.add_argument("--log", type=Path, help="a file that gets one JSON object per request")
    given = parser.parse_args(arguments)
    steps: list[Step] = [Pause(given.load)]
    for piece in pieces(given.answer):
        steps += [piece, Pause(given.delay)]
    if given.stall:
        steps.append(Stall())
    reply = Reply(steps)
    models = given.model if given.model is not None else ["qwen3:4b"]
    with OllamaTestServer(models=models, reply=reply, port=given.port, log=given.log) as server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
