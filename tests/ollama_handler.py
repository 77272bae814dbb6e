"""How the stand-in for Ollama answers one request: paths, statuses, a stream that can break anywhere."""

from __future__ import annotations

import json
import math
import select
import socket
import struct
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.ollama_script import (
    VERSION,
    Break,
    Done,
    ErrorLine,
    Pause,
    Raw,
    Received,
    Stall,
    Step,
    TestModel,
    Think,
    last_line,
    message_line,
    show_card,
    tag_entry,
    word_vector,
)

if TYPE_CHECKING:
    from tests.ollama_server import OllamaTestServer


def reset_connection(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is gone already, which is what was asked for


class CountingServer(ThreadingHTTPServer):
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
    server: CountingServer

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
                self._json(200, {"models": [tag_entry(model) for model in models]})
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
        if self.path == "/api/pull" and isinstance(body, dict):
            self._pull(body)
        elif self.path not in ("/api/chat", "/api/show", "/api/embed"):
            self._send(404, b"404 page not found", "text/plain")
        elif not isinstance(body, dict):
            self._json(400, {"error": "missing request body" if body is None else "unexpected EOF"})
        elif not body.get("model"):
            self._json(400, {"error": "model is required"})
        elif (model := self.owner.find(body["model"])) is None:
            self._json(404, {"error": f"model '{body['model']}' not found"})
        elif self.path == "/api/show":
            self._json(200, show_card(model))
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
        self._begin_stream()
        for step in self.owner.speaks(body) if self.owner.speaks else steps:
            if not self._play(step, body["model"]):
                return None
        if reply.done:
            answered = sum(isinstance(step, str | Think) for step in steps)
            self._line(last_line(body, reply, answered))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _pull(self, body: Mapping[str, Any]) -> None:
        owner, name = self.owner, str(body.get("model"))
        name = name if ":" in name else f"{name}:latest"
        self._begin_stream()
        self._line({"status": "pulling manifest"})
        if (model := owner.registry.get(name)) is None:
            return self._end_stream({"error": "pull model manifest: file does not exist"})
        part = {"status": f"pulling {model.digest[:12]}", "digest": f"sha256:{model.digest}"}
        done = owner.downloaded.get(name, 0)
        while done < model.size:
            self._wait(owner.pull_delay)
            done = owner.downloaded[name] = min(model.size, done + model.size // 10)
            self._line({**part, "total": model.size, "completed": done})
            if done >= owner.pull_breaks_at * model.size and done < model.size:
                self.close_connection = True
                return None
        owner.models[name] = model
        self._line({"status": "verifying sha256 digest"})
        return self._end_stream({"status": "success"})

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _end_stream(self, last: object) -> None:
        self._line(last)
        self.wfile.write(b"0\r\n\r\n")

    def _play(self, step: Step, model: str) -> bool:
        """Send one step; False when the answer ends here."""
        match step:
            case str():
                self._line(message_line(model, {"content": step}))
            case Think(text):
                self._line(message_line(model, {"content": "", "thinking": text}))
            case Raw(data):
                self._chunk(data)
            case Pause(seconds):
                self._wait(seconds)
            case Stall():
                self._wait(math.inf)
            case Done(reason, prompt_tokens, answer_tokens):
                counts = {"prompt_eval_count": prompt_tokens, "eval_count": answer_tokens}
                last = {"done": True, "done_reason": reason, **counts}
                self._end_stream({**message_line(model, {"content": ""}), **last})
                return False
            case ErrorLine(error):
                self._line({"error": error})
                self.wfile.write(b"0\r\n\r\n")
                return False
            case Break(reset):
                self.close_connection = True
                if reset:
                    reset_connection(self.connection)
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
