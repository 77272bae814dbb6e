"""Every line of `python_client_outcomes.json`: what the official client makes of a case, and what ours does.

The official client raises eleven kinds of exception over these cases, two of them its own, and hangs or says
nothing in others. Ours gives the value, or one fault with a remedy.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from ragchat.answering.ollama import OllamaServer
from ragchat.embedding import ollama_call
from ragchat.embedding.ollama_call import ask_json
from ragchat.embedding.ollama_faults import OllamaFault
from ragchat.embedding.ollama_host import normalise_host
from ragchat.embedding.ollama_model import InputRefused, OllamaModel
from ragchat.errors import BackendError, EmbedderUnavailable, UsageError
from tests.embedding.servers import fixed_server
from tests.ollama_server import Break, ErrorLine, OllamaTestServer, Pause, Raw, Reply, Stall, TestModel, Think
from tests.ollama_transcripts import TRANSCRIPTS, ReplayServer, needs_transcripts

CLOSED = "http://127.0.0.1:9"
Patch = pytest.MonkeyPatch


def chat(url: str, model: str = "qwen3:4b", *, think: bool | None = None) -> str:
    """The answer's words, or `kind: what had arrived`."""
    words = ""
    try:
        for piece in OllamaServer(url).chat(model, [], {"num_predict": 8}, threading.Event(), think=think):
            words += piece.content
    except BackendError as error:
        return f"{kind_of(error)}: {words}"
    return words


def kind_of(error: BackendError) -> str:
    assert error.hint
    assert error.message.isprintable()
    assert isinstance(error.__cause__, OllamaFault)
    return error.__cause__.kind


def said(*steps: object, done: bool = True) -> str:
    """The outcome of a stream of these steps."""
    with OllamaTestServer(reply=Reply(steps, done=done)) as server:  # type: ignore[arg-type]
        return chat(server.url)


def answered(status: int, body: str, path: str = "/api/chat") -> str:
    """The outcome of a call that is answered so."""
    with fixed_server({path: (status, body)}) as url:
        return chat(url) if path == "/api/chat" else info(url, path)


def info(url: str, path: str, model: str = "") -> str:
    try:
        return ",".join(ask_json(url, path, {"model": model} if model else None, model=model))
    except OllamaFault as fault:
        return fault.kind if fault.hint else "no hint"


def embed(inputs: Sequence[str], *cases: str) -> str:
    with ReplayServer(*cases) as server:
        try:
            return str(len(OllamaModel("m", server.url, seconds=5).embed(inputs, context=0)))
        except InputRefused as refusal:
            return f"too long: {refusal.too_long}"
        except EmbedderUnavailable as error:
            return error.message


def host(form: str) -> str:
    """The outcome of a call to a server whose address is written so."""
    with OllamaTestServer() as server:
        try:
            return chat(form.format(port=server.port))
        except UsageError:
            return "usage"


@contextmanager
def resets() -> Iterator[str]:
    """Accepts one connection and drops it without a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drop() -> None:
            connection, _ = listening.accept()
            connection.recv(65536)
            connection.close()

        threading.Thread(target=drop, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def no_response() -> str:
    with resets() as url:
        return chat(url)


def replayed(case: str) -> str:
    with ReplayServer(at={"/api/chat": case}) as server:
        return chat(server.url)


def proxied(patch: Patch, *, bypass: bool = False) -> str:
    patch.setenv("HTTP_PROXY", CLOSED)
    if bypass:
        patch.setenv("NO_PROXY", "127.0.0.1")
    with OllamaTestServer() as server:
        return chat(server.url)


def short_timeout(patch: Patch) -> str:
    patch.setattr(ollama_call, "INFO_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        return info(f"http://127.0.0.1:{silent.getsockname()[1]}", "/api/version")


def with_key(patch: Patch) -> str:
    patch.setenv("OLLAMA_API_KEY", "k1")
    with OllamaTestServer() as server:
        chat(server.url)
        return {name.lower(): value for name, value in server.received("/api/chat")[0].headers.items()}[
            "authorization"
        ]


def listed() -> str:
    with ReplayServer("tags", "version") as server:
        return ",".join(model.name for model in OllamaServer(server.url).health().models)


def thinking() -> str:
    model = TestModel("qwen3:4b", capabilities=("completion", "thinking"))
    with OllamaTestServer(models=[model], answer=[Think("hm"), "hi"]) as server:
        return chat(server.url, think=True)


def cancelled() -> str:
    cancel = threading.Event()
    with OllamaTestServer(answer=["a", Stall()]) as server:
        for piece in OllamaServer(server.url).chat("qwen3:4b", [], {}, cancel):
            if piece.content:
                cancel.set()
        server.wait_for_disconnect(1.0)
        server.reply = Reply(["next"])
        return chat(server.url)


def two_loops() -> str:
    async def one() -> str:
        return await asyncio.to_thread(chat, server.url)

    with OllamaTestServer(answer="hi") as server:
        return asyncio.run(one()) + asyncio.run(one())


WORDS = "The notes say so [1]."
ALL_MODELS = "smol-think:latest,smollm2:latest,all-minilm:latest,gemma3-270m:latest"
WRONG = '{"message": {"role": "assistant", "content": 5}, "done": false}\n'
OUTCOMES: dict[str, tuple[Callable[[Patch], str], str]] = {
    "list": (lambda _: ",".join(sorted(listed().split(","))), ",".join(sorted(ALL_MODELS.split(",")))),
    "ps": (lambda _: answered(200, '{"models": []}', "/api/ps"), "models"),
    "show": (lambda _: answered(200, '{"model_info": {}}', "/api/show"), "model_info"),
    "show_missing": (lambda _: _show_missing(), "missing"),
    "chat": (lambda _: said("hi"), "hi"),
    "chat_stream": (lambda _: said("The", " phrase"), "The phrase"),
    "chat_stream_missing_at_call": (lambda _: replayed("chat_model_not_found"), "missing: "),
    "chat_stream_missing_at_iter": (lambda _: replayed("chat_model_not_found"), "missing: "),
    "think_unsupported": (lambda _: replayed("think_true_unsupported"), "refused: "),
    "think_capable": (lambda _: thinking(), "hi"),
    "toolong_native": (lambda _: replayed("toolong_single_native_default"), "too long: "),
    "toolong_template_silent": (lambda _: replayed("toolong_single_template_default")[:1], "T"),
    "embed": (lambda _: embed(["a", "b", ""], "embed_batch"), "3"),
    "embed_empty": (lambda _: embed([], "embed_empty_list"), "0"),
    "embed_toolong_false": (lambda _: embed(["x"], "embed_toolong_truncate_false"), "too long: True"),
    "embed_chat_model": (
        lambda _: embed(["x"], "embed_on_chat_model")[-32:],
        "is a chat model: it cannot embed",
    ),
    "timeout_short": (short_timeout, "timeout"),
    "timeout_default": (lambda _: said(Pause(0.4), "hi"), "hi"),
    "down_nonstream": (lambda _: info(CLOSED, "/api/version"), "down"),
    "down_stream": (lambda _: chat(CLOSED), "down: "),
    "bad_dns": (lambda _: chat("http://no-such-host.invalid"), "down: "),
    "host_0000": (lambda _: host("0.0.0.0:{port}"), WORDS),
    "host_0000_url": (lambda _: normalise_host("http://0.0.0.0:11534"), "http://127.0.0.1:11534"),
    "host_bad_port": (lambda _: normalise_host("127.0.0.1:99999"), "http://127.0.0.1:11434"),
    "host_nonint_port": (lambda _: normalise_host("127.0.0.1:abc"), "http://127.0.0.1:11434"),
    "host_quoted": (lambda _: host('"127.0.0.1:{port}"'), WORDS),
    "host_ipv6": (lambda _: normalise_host("[::1]:11534"), "http://[::1]:11534"),
    "host_ipv6_bare": (lambda _: normalise_host("::1"), "http://[::1]:11434"),
    "host_spaces": (lambda _: host(" 127.0.0.1:{port} "), WORDS),
    "host_trailing_api": (lambda _: host("127.0.0.1:{port}/api"), "address: "),
    "http_proxy_env": (lambda patch: proxied(patch), WORDS),
    "http_proxy_trust_env_false": (lambda patch: proxied(patch), WORDS),
    "http_proxy_no_proxy": (lambda patch: proxied(patch, bypass=True), WORDS),
    "api_key_header": (with_key, "Bearer k1"),
    "fake_mid_error_plain": (lambda _: said("a", ErrorLine("unexpected EOF")), "broken off: a"),
    "fake_mid_error_nested_json_string": (
        lambda _: said("a", ErrorLine('{"error": {"code": 400, "message": "too long"}}')),
        "broken off: a",
    ),
    "fake_mid_error_dict": (lambda _: said("a", ErrorLine({"code": 400})), "broken off: a"),
    "fake_mid_error_json_number_string": (lambda _: said("a", ErrorLine("5")), "broken off: a"),
    "fake_blank_line": (lambda _: said("a", Raw(b"\n")), "unreadable: a"),
    "fake_bad_json_line": (lambda _: said("a", Raw(b'{"mess\n')), "unreadable: a"),
    "fake_non_object_line": (lambda _: said("a", Raw(b"[1]\n")), "unreadable: a"),
    "fake_no_done": (lambda _: said("a", done=False), "broken off: a"),
    "fake_truncated_chunked": (lambda _: said("a", Break()), "broken off: a"),
    "fake_wrong_type": (lambda _: said("a", Raw(WRONG.encode())), "unreadable: a"),
    "fake_invalid_utf8": (
        lambda _: said(Raw(WRONG.replace("5", '"\xff"').encode("latin-1"))),
        "\N{REPLACEMENT CHARACTER}",
    ),
    "fake_line_sep_in_content": (lambda _: said("a\u2028b\x85c"), "a\u2028b\x85c"),
    "fake_html_502": (lambda _: answered(502, "<html>x</html"), "address: "),
    "fake_empty_500": (lambda _: answered(500, ""), "not run: "),
    "fake_json_list_500": (lambda _: answered(500, "[1]"), "not run: "),
    "fake_no_response": (lambda _: no_response(), "broken off: "),
    "fake_html_200_nonstream": (lambda _: answered(200, "<html>", "/api/version"), "unreadable"),
    "fake_show_no_model_info": (lambda _: answered(200, "{}", "/api/show"), ""),
    "fake_list_empty_object": (lambda _: answered(200, "{}", "/api/tags"), ""),
    "async_aclose_cancel": (lambda _: cancelled(), "next"),
    "async_task_cancel": (lambda _: cancelled(), "next"),
    "async_loop1": (lambda _: two_loops(), "hihi"),
    "async_loop2_same_client": (lambda _: two_loops(), "hihi"),
}

IMPOSSIBLE = {"chat_truncate_kw"}
"""The client has no such argument, and none is passed that is not named in answering/ollama.py."""


def _show_missing() -> str:
    with OllamaTestServer() as server:
        return info(server.url, "/api/show", "nope")


@needs_transcripts
def test_every_recorded_outcome_is_named_here() -> None:
    cases = json.loads((TRANSCRIPTS / "python_client_outcomes.json").read_text(encoding="utf-8"))
    assert {case["case"] for case in cases} == OUTCOMES.keys() | IMPOSSIBLE


@needs_transcripts
@pytest.mark.parametrize("case", OUTCOMES)
def test_ours(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run, outcome = OUTCOMES[case]
    assert run(monkeypatch) == outcome


def test_a_proxy_before_a_host_elsewhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(OllamaFault) as caught:
        ask_json("http://192.0.2.7:11434", "/api/version")
    assert caught.value.kind == "proxy"
    assert "HTTP_PROXY" in caught.value.message
    assert "secret" not in caught.value.message
    assert caught.value.hint == "export NO_PROXY=192.0.2.7"


def test_a_proxys_own_page_is_not_taken_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with fixed_server({"http://192.0.2.7:11434/api/version": (502, "<html>Bad gateway")}) as url:
        monkeypatch.setenv("HTTP_PROXY", url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with pytest.raises(OllamaFault) as caught:
            ask_json("http://192.0.2.7:11434", "/api/version")
    assert caught.value.kind == "proxy"


def test_a_machine_that_does_not_exist_is_said_not_to() -> None:
    with pytest.raises(OllamaFault, match=r"there is no machine named no-such-host\.invalid"):
        ask_json("http://no-such-host.invalid:80", "/api/version")
