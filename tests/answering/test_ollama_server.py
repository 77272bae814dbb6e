"""The stand-in for Ollama answers as the recorded server does."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.ollama_server import OllamaTestServer, Reply, TestModel

TRANSCRIPTS = Path(__file__).parents[3] / "shared" / "ollama-transcripts"


def fetch(url: str, body: object = None) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def recorded(case: str) -> tuple[dict[str, Any], list[str]]:
    path = TRANSCRIPTS / f"{case}.ndjson"
    if not path.exists():
        pytest.skip("the recorded transcripts are not here")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    response = next(line for line in lines if line["kind"] == "response")
    return response, [line["raw"] for line in lines if line["kind"] == "line"]


def test_a_stream_has_the_recorded_shape() -> None:
    response, lines = recorded("chat_stream")
    with OllamaTestServer(models=["smollm2"], answer="The capital of France is Paris.") as server:
        status, body = fetch(f"{server.url}/api/chat", {"model": "smollm2", "messages": []})
    mine = [json.loads(line) for line in body.splitlines()]
    real = [json.loads(line) for line in lines]
    assert status == response["status"]
    assert set(mine[0]) == set(real[0])
    assert set(mine[-1]) - set(real[-1]) == set()
    assert "".join(line["message"]["content"] for line in mine) == "The capital of France is Paris."
    assert mine[-1]["done_reason"] == real[-1]["done_reason"]


def test_a_missing_model_is_worded_as_recorded() -> None:
    response, lines = recorded("chat_model_not_found")
    with OllamaTestServer() as server:
        assert fetch(f"{server.url}/api/chat", {"model": "nope"}) == (response["status"], _spaced(lines[0]))


def test_tags_and_show_carry_what_a_client_reads() -> None:
    _, tags = recorded("tags")
    _, show = recorded("show_gemma3-270m")
    with OllamaTestServer(models=[TestModel("gemma3", context=32768)]) as server:
        mine = json.loads(fetch(f"{server.url}/api/tags")[1])["models"][0]
        card = json.loads(fetch(f"{server.url}/api/show", {"model": "gemma3"})[1])
    real = json.loads(tags[0])["models"][0]
    assert set(real) == set(mine)
    assert mine["name"] == "gemma3:latest"
    assert set(json.loads(show[0])["details"]) == set(card["details"])
    assert card["model_info"]["llama.context_length"] == 32768


def test_an_embedding_batch_fails_whole_and_only_when_told_not_to_cut() -> None:
    model = TestModel("all-minilm", context=8, capabilities=("embedding",))
    long = "word " * 30
    with OllamaTestServer(models=[model]) as server:
        url = f"{server.url}/api/embed"
        whole = fetch(url, {"model": "all-minilm", "input": ["short", long], "truncate": False})
        cut = fetch(url, {"model": "all-minilm", "input": ["short", long]})
        chat = fetch(f"{server.url}/api/chat", {"model": "all-minilm"})
    assert whole == (400, '{"error": "the input length exceeds the context length"}')
    assert [len(vector) for vector in json.loads(cut[1])["embeddings"]] == [384, 384]
    assert chat[0] == 400


def test_requests_are_counted_before_they_are_answered() -> None:
    with OllamaTestServer(reply=Reply(status=503, error="server busy")) as server:
        callers = [
            threading.Thread(target=fetch, args=(f"{server.url}/api/chat", {"model": "qwen3:4b"}))
            for _ in range(8)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert server.count("/api/chat") == 8
        assert server.count("/api/generate") == 0
        assert server.received("/api/chat")[0].body == {"model": "qwen3:4b"}


def test_it_runs_as_a_program_and_logs_every_request(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "tests.ollama_server", "--model", "tiny", "--answer", "Ja. [1]"]
    with subprocess.Popen(
        [*command, "--log", str(log)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            fetch(f"{url}/api/chat", {"model": "tiny", "messages": [{"role": "user", "content": "テスト"}]})
        finally:
            process.terminate()
    entry = json.loads(log.read_text(encoding="utf-8"))
    assert entry["path"] == "/api/chat"
    assert entry["body"]["messages"][0]["content"] == "テスト"


def _spaced(line: str) -> str:
    return json.dumps(json.loads(line))
