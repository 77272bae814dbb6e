"""local-semantic-search over the same notes: the peer whose `lss QUESTION FOLDER` is what ours is.

Offline it wants a model from a hub, which a benchmark cannot fetch. So it gets its vectors from a stand-in
for its other provider, on the loopback, which answers at once: that favours it by the time a model takes.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from benchmarks.folder import SyntheticFolder
from benchmarks.plan import Plan

_DIMENSIONS = 256


class LocalSemanticSearch:
    """Its index of the folder is made before it is measured."""

    def __init__(self, program: Path, made: SyntheticFolder, server: str) -> None:
        self._program = program
        self._notes = made.notes
        self.environment = {
            **os.environ,
            "HOME": str(made.home / "lss-home"),
            "LSS_DIR": str(made.home / "lss"),
            "LSS_PROVIDER": "openai",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server,
        }

    @classmethod
    @contextmanager
    def beside(cls, plan: Plan, made: SyntheticFolder) -> Iterator[LocalSemanticSearch | None]:
        """Ready to be asked; None where it is not installed or cannot index the notes."""
        if plan.peers is None or "local-semantic-search" not in plan.peers:
            yield None
            return
        with _embeddings() as server:
            program = plan.peers.python.parent / "lss"
            peer = cls(program, made, server)
            yield peer if peer._index() else None

    def command(self, question: str) -> list[str]:
        """The search, as its user types it."""
        return [str(self._program), question, str(self._notes), "--json"]

    def _index(self) -> bool:
        """Index, then search once: it embeds what a question brings up, and keeps that."""
        Path(self.environment["HOME"]).mkdir(exist_ok=True)
        for command in ([str(self._program), "index", str(self._notes)], self.command("a word")):
            done = subprocess.run(command, env=self.environment, capture_output=True, check=False)
            if done.returncode:
                return False
        return True


class _Handler(BaseHTTPRequestHandler):
    """Answers POST …/embeddings with unit vectors that depend on the texts alone."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [
            {"object": "embedding", "index": at, "embedding": _encoded(str(text), body)}
            for at, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Silence."""


def _encoded(text: str, body: dict[str, object]) -> object:
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(_DIMENSIONS)
    unit = (vector / np.linalg.norm(vector)).astype("<f4")
    if body.get("encoding_format") == "base64":
        return base64.b64encode(unit.tobytes()).decode()
    return unit.tolist()


@contextmanager
def _embeddings() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
