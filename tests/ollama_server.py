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
import hashlib
import json
import math
import re
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

VERSION = "0.33.0-rc2"
MADE_AT = "2026-11-29T19:14:03.173429169Z"


@dataclass(frozen=True, slots=True)
class TestModel:
    """An installed model. A name without a tag means `:latest`."""

    __test__ = False

    name: str
    context: int = 40960
    capabilities: tuple[str, ...] = ("completion",)
    size: int = 2_500_000_000
    dimensions: int = 384

    @property
    def tagged(self) -> str:
        return self.name if ":" in self.name else f"{self.name}:latest"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.tagged.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Pause:
    """Send nothing for so many seconds (before the first piece: the model is loading)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing more until the client goes away or the server is closed."""


@dataclass(frozen=True, slots=True)
class Break:
    """Drop the connection here; reset: as a killed process does, instead of a mere cut body."""

    reset: bool = False


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """`{"error": …}` in mid-stream, then a clean end."""

    error: object


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they stand, in place of a line."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Think:
    """A piece of reasoning in its own field."""

    text: str


Step = str | Pause | Stall | Break | ErrorLine | Raw | Think


@dataclass(frozen=True, slots=True)
class Reply:
    """What one `/api/chat` is answered with. status: another than 200 sends `error` and no stream.

    done: False leaves out the last line. prompt_tokens: None estimates, 0 is left out.
    """

    steps: Sequence[Step] = ()
    status: int = 200
    error: str = ""
    done: bool = True
    done_reason: str = "stop"
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in. body: parsed JSON, the raw text where it is not JSON, None when empty."""

    method: str
    path: str
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class OllamaTestServer:
    """Listens on a free loopback port from construction on; `reply` may be changed at any time."""

    def __init__(
        self,
        *,
        models: Sequence[str | TestModel] = ("qwen3:4b",),
        answer: str | Sequence[Step] = "The notes say so [1].",
        reply: Reply | None = None,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        listed = [TestModel(m) if isinstance(m, str) else m for m in models]
        self.models = {model.tagged: model for model in listed}
        self.reply = reply or Reply(pieces(answer) if isinstance(answer, str) else tuple(answer))
        self.requests: list[Received] = []
        self.disconnects = 0
        self.closing = threading.Event()
        self._log = log
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._http = _Server(("127.0.0.1", port), self)
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
            _reset(connection)
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


def pieces(answer: str) -> tuple[str, ...]:
    """An answer cut as tokens are: each word with the space before it."""
    return tuple(re.findall(r"\s*\S+|\s+$", answer))


def _until(holds: Callable[[], bool], seconds: float, failure: str) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(failure)
        time.sleep(0.005)


def _reset(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is gone already, which is what was asked for


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], owner: OllamaTestServer) -> None:
        self.owner = owner
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that went away is what the tests are about
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.owner = self.server.owner
        self.owner.track(self.connection)

    def finish(self) -> None:
        self.owner.untrack(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Keep stderr for the test's own words."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.owner.record(Received("GET", self.path, None, dict(self.headers)))
        models = list(self.owner.models.values())
        match self.path:
            case "/":
                self._send(200, b"Ollama is running", "text/plain; charset=utf-8")
            case "/api/version":
                self._json(200, {"version": VERSION})
            case "/api/tags":
                self._json(200, {"models": [_tag(model) for model in models]})
            case "/api/ps":
                self._json(200, {"models": []})
            case "/api/chat" | "/api/show" | "/api/embed" | "/api/generate":
                self._send(405, b"405 method not allowed", "text/plain")
            case _:
                self._send(404, b"404 page not found", "text/plain")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        self.owner.record(Received("POST", self.path, body, dict(self.headers)))
        if self.path not in ("/api/chat", "/api/show", "/api/embed"):
            self._send(404, b"404 page not found", "text/plain")
        elif not isinstance(body, dict):
            self._json(400, {"error": "missing request body" if body is None else "unexpected EOF"})
        elif not body.get("model"):
            self._json(400, {"error": "model is required"})
        elif (model := self.owner.find(body["model"])) is None:
            self._json(404, {"error": f"model '{body['model']}' not found"})
        elif self.path == "/api/show":
            self._json(200, _card(model))
        elif self.path == "/api/embed":
            self._embed(model, body)
        else:
            self._chat(model, body)

    def _chat(self, model: TestModel, body: Mapping[str, Any]) -> None:
        reply = self.owner.reply
        if "completion" not in model.capabilities:
            return self._json(400, {"error": f'"{body["model"]}" does not support chat'})
        if body.get("think") and "thinking" not in model.capabilities:
            return self._json(400, {"error": f'"{body["model"]}" does not support thinking'})
        if reply.status != 200:
            return self._json(reply.status, {"error": reply.error})
        steps = list(reply.steps)
        while steps and isinstance(first := steps[0], Pause):
            self._wait(first.seconds)
            del steps[0]
        if steps and isinstance(steps[0], Stall):
            self._wait(math.inf)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for step in steps:
            if not self._play(step, body["model"]):
                return None
        if reply.done:
            answered = sum(isinstance(step, str | Think) for step in steps)
            self._line(_last_line(body, reply, answered))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _play(self, step: Step, model: str) -> bool:
        """Send one step; False when the answer ends here."""
        match step:
            case str():
                self._line(_message(model, {"content": step}))
            case Think(text):
                self._line(_message(model, {"content": "", "thinking": text}))
            case Raw(data):
                self._chunk(data)
            case Pause(seconds):
                self._wait(seconds)
            case Stall():
                self._wait(math.inf)
            case ErrorLine(error):
                self._line({"error": error})
                self.wfile.write(b"0\r\n\r\n")
                return False
            case Break(reset):
                self.close_connection = True
                if reset:
                    _reset(self.connection)
                return False
        return True

    def _wait(self, seconds: float) -> None:
        """Be silent, but notice a client that hangs up."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.owner.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], min(left, 0.02))
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self._hung_up()
        if self.owner.closing.is_set():
            raise ConnectionAbortedError("the test server is closing")

    def _hung_up(self) -> None:
        self.owner.note_disconnect()
        self.close_connection = True
        raise ConnectionAbortedError("the client hung up")

    def _embed(self, model: TestModel, body: Mapping[str, Any]) -> None:
        given = body.get("input")
        texts = [given] if isinstance(given, str) and given else given or []
        window = min(model.context, (body.get("options") or {}).get("num_ctx") or model.context)
        if "embedding" not in model.capabilities:
            wanted = "This server does not support embeddings. Start it with `--embeddings`"
            return self._json(501, {"error": wanted})
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return self._json(400, {"error": "invalid input type"})
        if body.get("truncate") is False and any(len(text.split()) + 2 > window for text in texts):
            return self._json(400, {"error": "the input length exceeds the context length"})
        vectors = [word_vector(text, model.dimensions) for text in texts]
        tokens = sum(len(text.split()) + 2 for text in texts)
        answer = {"model": body["model"], "embeddings": vectors, "total_duration": 1, "load_duration": 1}
        return self._json(200, {**answer, "prompt_eval_count": tokens})

    def _line(self, value: object) -> None:
        self._chunk(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def _chunk(self, data: bytes) -> None:
        try:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        except OSError:
            self._hung_up()

    def _json(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value).encode(), "application/json; charset=utf-8")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _message(model: str, fields: Mapping[str, str]) -> dict[str, object]:
    return {"model": model, "created_at": MADE_AT, "message": {"role": "assistant", **fields}, "done": False}


def _last_line(body: Mapping[str, Any], reply: Reply, answered: int) -> dict[str, object]:
    read = sum(len(str(message.get("content", ""))) for message in body.get("messages") or ()) // 4 + 16
    counted = read if reply.prompt_tokens is None else reply.prompt_tokens
    durations = {"total_duration": 1_071_323_433, "load_duration": 832_984_202, "eval_count": answered}
    line = {**_message(body["model"], {"content": ""}), "done": True, "done_reason": reply.done_reason}
    return {**line, **durations, **({"prompt_eval_count": counted} if counted else {})}


def _details(model: TestModel) -> dict[str, object]:
    family = "llama" if "completion" in model.capabilities else "bert"
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "4.0B",
        "quantization_level": "Q4_K_M",
    }


def _tag(model: TestModel) -> dict[str, object]:
    details = {**_details(model), "context_length": model.context, "embedding_length": model.dimensions}
    named = {"name": model.tagged, "model": model.tagged, "modified_at": MADE_AT, "digest": model.digest}
    return {**named, "size": model.size, "details": details, "capabilities": list(model.capabilities)}


def _card(model: TestModel) -> dict[str, object]:
    details = _details(model)
    family = details["family"]
    info = {
        "general.architecture": family,
        f"{family}.context_length": model.context,
        f"{family}.embedding_length": model.dimensions,
    }
    card = {"modelfile": f"FROM {model.tagged}\n", "template": "{{ .Prompt }}", "details": details}
    return {**card, "model_info": info, "capabilities": list(model.capabilities), "modified_at": MADE_AT}


def word_vector(text: str, dimensions: int) -> list[float]:
    """A unit vector of hashed words, so that texts that share words are near."""
    vector = [1e-3] * dimensions
    for word in re.findall(r"\w+", text.casefold()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dimensions] += 1.0
    length = math.sqrt(math.fsum(x * x for x in vector))
    return [x / length for x in vector]


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
