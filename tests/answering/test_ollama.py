"""The client at its edge: what a server has, hosts as people write them, and errors with the next command."""

from __future__ import annotations

import threading
import time

import pytest

from ragchat.answering.ollama import OllamaServer
from ragchat.answering.server import Delta
from ragchat.errors import GenerationFailed, ModelMissing, ServerUnreachable, UsageError
from tests.ollama_server import OllamaTestServer, Reply, Stall, TestModel

CLOSED = "http://127.0.0.1:9"
MESSAGES = [{"role": "user", "content": "hi"}]


def chat(server: OllamaServer, model: str = "qwen3:4b") -> list[Delta]:
    return list(server.chat(model, MESSAGES, {"num_predict": 16}, threading.Event()))


def test_health_lists_what_is_installed() -> None:
    models = [
        TestModel("qwen3:4b", context=40960, capabilities=("completion", "thinking")),
        TestModel("mistral"),
    ]
    with OllamaTestServer(models=[*models, TestModel("bge-m3", capabilities=("embedding",))]) as server:
        health = OllamaServer(server.url).health()
    assert (health.reachable, health.loopback, health.version) == (True, True, "0.33.0-rc2")
    assert [(m.name, m.chats, m.thinks, m.context) for m in health.models] == [
        ("qwen3:4b", True, True, 40960),
        ("mistral:latest", True, False, 40960),
        ("bge-m3:latest", False, False, 40960),
    ]
    assert all(len(model.digest) == 64 for model in health.models)


def test_health_never_raises() -> None:
    health = OllamaServer(CLOSED).health()
    assert not health.reachable
    assert health.hint == "ollama serve"


@pytest.mark.parametrize(
    "form", ["0.0.0.0:{port}", "127.0.0.1:{port}/", '"http://localhost:{port}"', " {port_only} "]
)
def test_hosts_are_read_as_ollama_reads_them(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "::1:abc")  # the client alone would raise at import
    monkeypatch.setenv("HTTP_PROXY", CLOSED)
    with OllamaTestServer() as server:
        server_at = OllamaServer(form.format(port=server.port, port_only=f":{server.port}"))
        assert server_at.health().reachable
        assert "".join(piece.content for piece in chat(server_at)) == "The notes say so [1]."
        assert server_at.loopback


def test_an_address_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        OllamaServer("ftp://x")


def test_a_host_elsewhere_is_not_loopback() -> None:
    assert not OllamaServer("http://192.0.2.7:11434").loopback


def test_errors_carry_the_next_command() -> None:
    with pytest.raises(ServerUnreachable) as down:
        chat(OllamaServer(CLOSED))
    assert down.value.hint == "ollama serve"
    with OllamaTestServer() as server:
        client = OllamaServer(server.url)
        with pytest.raises(ModelMissing) as missing:
            chat(client, "nope")
        with pytest.raises(ModelMissing):
            client.describe("nope")
        server.reply = Reply(status=503, error="server busy")
        with pytest.raises(GenerationFailed, match="busy"):
            chat(client)
    assert missing.value.hint == "ragchat pull nope"


def test_a_model_is_described_once() -> None:
    with OllamaTestServer(models=[TestModel("tiny", context=2048)]) as server:
        client = OllamaServer(server.url)
        assert client.describe("tiny").context == client.describe("tiny").context == 2048
        assert server.count("/api/show") == 1


def test_counts_and_reason_come_with_the_last_piece() -> None:
    with OllamaTestServer(reply=Reply(["a", "b"], prompt_tokens=21, done_reason="length")) as server:
        *pieces, last = chat(OllamaServer(server.url))
    assert [piece.content for piece in pieces if not piece.waited] == ["a", "b"]
    assert (last.done, last.done_reason, last.prompt_tokens, last.answer_tokens) == (True, "length", 21, 2)


def test_no_thread_is_left_after_many_stopped_answers() -> None:
    with OllamaTestServer(answer=["a", Stall()]) as server:
        client = OllamaServer(server.url)
        for _ in range(10):
            stream = client.chat("qwen3:4b", MESSAGES, {}, threading.Event())
            next(stream)
            stream.close()  # type: ignore[attr-defined]
        deadline = time.monotonic() + 3
        while any(thread.name == "ragchat-answer" for thread in threading.enumerate()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert server.count("/api/chat") == 10
