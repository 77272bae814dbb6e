"""A server that gives out fixed answers: what a real Ollama said, or what a broken one might."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TRANSCRIPTS = Path(__file__).resolve().parents[3] / "shared" / "ollama-transcripts"


@contextmanager
def fixed_server(answers: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    """Serve a status and a body for each path; 404 for any other; the body of a 307 is
    where it leads. Gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, body = answers.get(self.path, (404, "404 page not found"))
            self.send_response(status)
            if status == 307:
                self.send_header("Location", body + self.path)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.end_headers()
            self.wfile.write(body.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """Keep stderr for the test's own words."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def recorded(case: str) -> tuple[int, str]:
    """Status and body of a recorded answer."""
    lines = [
        json.loads(line) for line in (TRANSCRIPTS / f"{case}.ndjson").read_text(encoding="utf-8").splitlines()
    ]
    (status,) = (line["status"] for line in lines if line["kind"] == "response")
    return status, "\n".join(line["raw"] for line in lines if line["kind"] == "line")


def recorded_request(case: str) -> Any:
    """The body that was sent."""
    for line in (TRANSCRIPTS / f"{case}.ndjson").read_text(encoding="utf-8").splitlines():
        if (entry := json.loads(line))["kind"] == "request":
            return entry["body"]
    raise AssertionError(f"{case} has no request")
