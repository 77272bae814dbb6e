"""Answers of a real Ollama server, recorded, and a server that gives them again byte for byte.

    with ReplayServer("show_smollm2", "chat_stream") as server:
        ...                       # point ragchat at server.url; /api/show and /api/chat answer as they did

The recordings are not part of this repository (`../shared/ollama-transcripts`); tests that need them are
marked `needs_transcripts`.
"""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

TRANSCRIPTS = Path(__file__).resolve().parents[2] / "shared" / "ollama-transcripts"
needs_transcripts = pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="the recorded answers are not here")


@dataclass(frozen=True, slots=True)
class Transcript:
    """One recorded exchange.

    sent: the body of the request as bytes, None where it had none or the recording shortened it.
    status: None where nothing answered. pieces: (seconds since the request, bytes) in order.
    ending: "whole"; "cut" without the last chunk's terminator; "client" hung up first.
    """

    case: str
    method: str
    path: str
    sent: bytes | None
    body: Any
    request_headers: Mapping[str, str]
    status: int | None
    headers: Mapping[str, str]
    pieces: tuple[tuple[float, bytes], ...]
    ending: str

    @property
    def answer(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def lines(self) -> list[Any]:
        """The answer's lines, parsed."""
        return [json.loads(piece) for _, piece in self.pieces]


@cache
def transcript(case: str) -> Transcript:
    text = (TRANSCRIPTS / f"{case}.ndjson").read_text(encoding="utf-8")
    entries = [json.loads(line) for line in text.split("\n") if line]
    kinds = {entry["kind"]: entry for entry in entries}
    request, response, note = kinds["request"], kinds.get("response"), kinds["meta"]["note"]
    body, raw = request["body"], request["raw"]
    shortened = isinstance(body, dict) and "_truncated_for_storage" in body
    if raw is None and body is not None and not shortened:
        raw = json.dumps(body)
    ending = "cut" if "without terminator" in note else "whole"
    return Transcript(
        case=case,
        method=request["method"],
        path=request["path"],
        sent=None if raw is None else raw.encode(),
        body=body,
        request_headers=request["headers"],
        status=response["status"] if response else None,
        headers=response["headers"] if response else {},
        pieces=tuple(
            (entry["t"], entry["raw"].encode() + b"\n" * entry["nl"])
            for entry in entries
            if entry["kind"] == "line"
        ),
        ending="client" if kinds["end"].get("client_closed") else ending,
    )


class ReplayServer:
    """Answers each path with the cases recorded for it, in their order; the last one again and again.

    at: cases that answer another path than their own. pace: 1 takes as long as the recorded server did, 0 no
    time at all. A path without a case gets the recorded 404; a case that nothing answered closes the port.
    """

    def __init__(self, *cases: str, at: Mapping[str, str] | None = None, pace: float = 0.0) -> None:
        self.pace = pace
        self.requests: list[tuple[str, str, bytes]] = []
        self.closing = threading.Event()
        self._answers: dict[str, list[Transcript]] = {}
        for case in cases:
            self._answers.setdefault(transcript(case).path, []).append(transcript(case))
        for path, case in (at or {}).items():
            self._answers[path] = [transcript(case)]
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        if any(answer.status is None for answers in self._answers.values() for answer in answers):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def bodies(self, path: str) -> list[Any]:
        """What was sent to this path, parsed, in order."""
        return [json.loads(body) for _, asked, body in self.requests if asked == path]

    def answer_to(self, method: str, path: str, body: bytes) -> Transcript:
        with self._lock:
            self.requests.append((method, path, body))
            answers = self._answers.get(path) or [transcript("path_404")]
            return answers.pop(0) if len(answers) > 1 else answers[0]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], owner: ReplayServer) -> None:
        self.owner = owner
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        answer = self.server.owner.answer_to(self.command, self.path, raw)
        assert answer.status is not None
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        chunked = answer.headers.get("transfer-encoding") == "chunked"
        for piece in self._in_time(answer):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        if answer.ending == "client":
            self._until_hung_up()
        elif answer.ending == "cut":
            self.close_connection = True
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")

    def do_POST(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def _in_time(self, answer: Transcript) -> Iterator[bytes]:
        started, pace = time.monotonic(), self.server.owner.pace
        for seconds, piece in answer.pieces:
            time.sleep(max(0.0, started + seconds * pace - time.monotonic()))
            yield piece

    def _until_hung_up(self) -> None:
        self.close_connection = True
        while not self.server.owner.closing.is_set():
            if select.select([self.connection], [], [], 0.02)[0]:
                return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Keep stderr for the test's own words."""
