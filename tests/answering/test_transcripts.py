"""Every recorded exchange with a real server, by name: it is replayed as it was, and our client makes of it
what a user should be told."""

from __future__ import annotations

import http.client
import itertools
import json
import re
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import ragchat
from ragchat.answering.ollama import OllamaServer
from ragchat.embedding.ollama_call import ask_json, model_sizes
from ragchat.embedding.ollama_faults import OllamaFault
from ragchat.embedding.ollama_model import InputRefused, OllamaModel
from ragchat.embedding.ollama_pull import pull_model
from ragchat.errors import BackendError, EmbedderUnavailable
from tests.ollama_transcripts import TRANSCRIPTS, ReplayServer, needs_transcripts, transcript

pytestmark = needs_transcripts

ANSWERS = {
    "after_cancel_quick": "length",
    "after_runner_killed": "length",
    "busy_0": "length",
    "busy_3": "length",
    "chat_empty_messages_load": "load",
    "chat_empty_user_content": "length",
    "chat_keep_alive_0_unload": "unload",
    "chat_keep_alive_minus1": "load",
    "chat_last_is_assistant": "length",
    "chat_messages_null_load": "load",
    "chat_nonstream": "length",
    "chat_num_predict_length": "length",
    "chat_stop_option": "length",
    "chat_stream": "stop",
    "chat_stream_repeat_same_seed": "stop",
    "chat_system_only": "length",
    "chat_two_systems": "stop",
    "chat_unicode": "length",
    "chat_unknown_role": "length",
    "format_json": "length",
    "gemma_system_role": "length",
    "gemma_two_users_in_row": "length",
    "num_ctx_above_train": "length",
    "option_unknown_ignored": "length",
    "parallel_1": "length",
    "parallel_2": "length",
    "think_default_capable": "length",
    "think_false_capable": "length",
    "think_false_unsupported": "length",
    "think_low_capable": "length",
    "toolong_generation_overflow": "length",
    "toolong_generation_overflow_shift_false": "length",
    "toolong_history_gemma3-270m": "length",
    "toolong_history_smol-think": "stop",
    "toolong_single_system_plus_user_template": "length",
    "toolong_single_template_default": "length",
}
"""Streams that end with `done`, and its reason."""

STOPPED = ["cancel_mid_stream", "chat_num_predict_0_runaway"]
"""Streams that their reader left."""

CHAT_FAULTS = {
    "busy_1": "busy",
    "busy_2": "busy",
    "busy_4": "busy",
    "busy_5": "busy",
    "busy_6": "busy",
    "busy_7": "busy",
    "chat_bad_json": "refused",
    "chat_body_not_object": "refused",
    "chat_cloud_disabled": "refused",
    "chat_content_wrong_type": "refused",
    "chat_keep_alive_invalid": "refused",
    "chat_load_failure_500": "not run",
    "chat_model_empty": "refused",
    "chat_model_invalid_name": "refused",
    "chat_model_missing_field": "refused",
    "chat_model_not_found": "missing",
    "chat_model_not_found_tag": "missing",
    "chat_no_body": "refused",
    "chat_on_embedding_model": "refused",
    "chat_think_invalid": "refused",
    "chat_think_number": "refused",
    # An answer to a question that we never ask: it has no `done`.
    "debug_render_line_separators": "broken off",
    "debug_render_only": "broken off",
    "toolong_history_debug_gemma3-270m": "broken off",
    "toolong_history_debug_smol-think": "broken off",
    "format_invalid": "not run",
    "method_405": "address",
    "option_wrong_type": "not run",
    "runner_killed_mid_stream": "broken off",
    "runner_killed_nonstream": "not run",
    "server_killed_mid_stream": "broken off",
    "think_low_unsupported": "refused",
    "think_true_unsupported": "refused",
    "tools_unsupported": "refused",
    "toolong_single_native_both_false": "too long",
    "toolong_single_native_default": "too long",
    "toolong_single_native_shift_false": "too long",
    "toolong_single_native_truncate_false": "too long",
    "toolong_single_template_both_false": "too long",
    "toolong_single_template_shift_false": "refused",
    "toolong_single_template_truncate_false": "too long",
}

MODELS = {
    "show_all-minilm": (("embedding",), 512, 384),
    "show_gemma3-270m": (("completion",), 32768, 640),
    "show_smol-think": (("completion", "thinking"), 8192, 576),
    "show_smollm2": (("completion",), 8192, 576),
}
"""Capabilities, context, dimensions."""

INFO = {
    "ps_after_unload": "models",
    "ps_empty": "models",
    "ps_keep_forever": "models",
    "ps_loaded": "models",
    "ps_num_ctx_above_train": "models",
    "status": "cloud",
    "tags": "models",
    "tags_with_pulled": "models",
    "v1_models": "data",
    "version": "version",
}

INFO_FAULTS = {
    "host_header_forbidden": "forbidden",
    "path_404": "address",
    "root": "unreadable",
    "server_down": "down",
    "show_cloud_disabled": "refused",
    "show_empty": "refused",
    "show_not_found": "missing",
}

VECTORS = {
    "embed_batch": 3,
    "embed_dimensions_64": 1,
    "embed_dimensions_9999": 1,
    "embed_empty_list": 0,
    "embed_list_with_empty_string": 1,
    "embed_single": 1,
    "embed_toolong_default": 1,
    "embed_toolong_num_ctx": 1,
    "embed_unicode_dense": 1,
}

EMBED_FAULTS = {
    "embed_bad_input_elem": "invalid input type",
    "embed_bad_input_type": "invalid input type",
    "embed_batch_64": "cannot be read",  # the recording is cut
    "embed_batch_one_toolong_truncate_false": "the input length exceeds the context length",
    "embed_empty_string": "not one vector",  # one text was asked for; we always send a list
    "embed_model_empty": "has no model",
    "embed_model_not_found": "has no model",
    "embed_no_input": "not one vector",
    "embed_on_chat_model": "is a chat model: it cannot embed",
    "embed_toolong_truncate_false": "the input length exceeds the context length",
}

PULLS = {"pull_again_cached": 6_000_000, "pull_stream": 6_000_000}
PULL_FAULTS = {
    "pull_http_not_insecure": "does not look like a TLS handshake",
    "pull_missing": "file does not exist",
    "pull_missing_nonstream": "file does not exist",
    "pull_registry_down": "connection refused",
}

NEVER_ASKED = [
    "delete_not_found",
    "delete_ok",
    "embeddings_legacy",
    "embeddings_model_not_found",
    "generate_model_not_found",
    "generate_stream",
    "v1_chat_not_found",
    "v1_embeddings",
]
"""Answers from paths that ragchat does not use (`test_only_other_paths_are_used`)."""

EVERY_CASE = sorted(
    [
        *(ANSWERS | CHAT_FAULTS | MODELS | INFO | INFO_FAULTS | VECTORS | EMBED_FAULTS | PULLS | PULL_FAULTS),
        *STOPPED,
        *NEVER_ASKED,
    ]
)


def test_every_transcript_is_named_here() -> None:
    assert sorted(path.stem for path in TRANSCRIPTS.glob("*.ndjson")) == EVERY_CASE


@pytest.mark.parametrize("case", [case for case in EVERY_CASE if case != "server_down"])
def test_a_replay_gives_status_headers_and_bytes_as_recorded(case: str) -> None:
    recorded = transcript(case)
    with ReplayServer(case) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
        connection.request(recorded.method, recorded.path, recorded.sent, dict(recorded.request_headers))
        response = connection.getresponse()
        assert response.status == recorded.status
        assert {name.lower(): value for name, value in response.getheaders()} == dict(recorded.headers)
        if recorded.ending == "whole":
            assert response.read() == recorded.answer
        elif recorded.ending == "cut":
            with pytest.raises(http.client.IncompleteRead) as cut:
                response.read()
            assert cut.value.partial == recorded.answer
        else:
            assert response.read(len(recorded.answer)) == recorded.answer
        connection.close()
        assert server.requests == [(recorded.method, recorded.path, recorded.sent or b"")]


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_is_whole(case: str) -> None:
    messages = [line["message"] for line in transcript(case).lines]
    last = transcript(case).lines[-1]
    with ReplayServer(case, at={"/api/chat": case}) as server:
        pieces = list(OllamaServer(server.url).chat("m", [], {}, threading.Event()))
    assert "".join(piece.content for piece in pieces) == "".join(m["content"] for m in messages)
    assert "".join(piece.thinking for piece in pieces) == "".join(m.get("thinking", "") for m in messages)
    assert pieces[-1].done
    assert pieces[-1].done_reason == ANSWERS[case]
    assert pieces[-1].prompt_tokens == last.get("prompt_eval_count")
    assert pieces[-1].answer_tokens == last.get("eval_count")


@pytest.mark.parametrize("case", STOPPED)
def test_a_stream_that_is_left_keeps_what_came(case: str) -> None:
    cancel = threading.Event()
    wanted = "".join(line["message"]["content"] for line in transcript(case).lines)
    got = ""
    with ReplayServer(case) as server:
        for piece in OllamaServer(server.url).chat("m", [], {}, cancel):
            got += piece.content
            if got == wanted:
                cancel.set()
    assert got == wanted


@pytest.mark.parametrize("case", CHAT_FAULTS)
def test_a_failed_answer_is_one_fault_with_a_remedy(case: str) -> None:
    with ReplayServer(at={"/api/chat": case}) as server, pytest.raises(BackendError) as caught:
        list(OllamaServer(server.url).chat("m", [], {}, threading.Event()))
    assert isinstance(caught.value.__cause__, OllamaFault)
    assert caught.value.__cause__.kind == CHAT_FAULTS[case]
    assert caught.value.hint
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("case", MODELS)
def test_a_model_tells_its_limits(case: str) -> None:
    capabilities, context, dimensions = MODELS[case]
    with ReplayServer(case, "tags") as server:
        shown = ask_json(server.url, "/api/show", {"model": "m"}, model="m")
        name = transcript(case).body["model"]
        described = OllamaServer(server.url).describe(name)
    assert tuple(shown["capabilities"]) == capabilities
    assert model_sizes(shown) == (context, dimensions)
    assert (described.context, described.chats, described.thinks) == (
        context,
        "completion" in capabilities,
        "thinking" in capabilities,
    )
    assert len(described.digest) == 64
    assert described.size > 10_000_000


@pytest.mark.parametrize("case", INFO)
def test_what_a_server_tells_of_itself_is_an_object(case: str) -> None:
    with ReplayServer(case) as server:
        assert INFO[case] in ask_json(server.url, transcript(case).path)


@pytest.mark.parametrize("case", INFO_FAULTS)
def test_a_server_that_does_not_tell_is_one_fault_with_a_remedy(case: str) -> None:
    recorded = transcript(case)
    body = {"model": "m"} if recorded.method == "POST" else None
    with ReplayServer(case) as server, pytest.raises(OllamaFault) as caught:
        ask_json(server.url, recorded.path, body, model="m" if body else "")
    assert caught.value.kind == INFO_FAULTS[case]
    assert caught.value.hint


@pytest.mark.parametrize("case", VECTORS)
def test_vectors_are_those_of_the_server(case: str) -> None:
    [recorded] = transcript(case).lines
    with ReplayServer(case) as server:
        vectors = OllamaModel("m", server.url, seconds=5).embed(["x"] * VECTORS[case], context=0)
    assert [list(vector) for vector in vectors] == recorded["embeddings"]


@pytest.mark.parametrize("case", EMBED_FAULTS)
def test_an_embedding_that_failed_says_why(case: str) -> None:
    with (
        ReplayServer(case) as server,
        pytest.raises((InputRefused, EmbedderUnavailable), match=EMBED_FAULTS[case]),
    ):
        OllamaModel("m", server.url, seconds=5).embed(["x"], context=0)


@pytest.mark.parametrize("case", PULLS)
def test_a_pull_is_watched_to_its_end(case: str) -> None:
    with ReplayServer(case) as server:
        steps = list(pull_model(server.url, "m"))
        assert server.bodies("/api/pull")[0]["model"] == "m"
    assert [step.status for step in steps] == [line["status"] for line in transcript(case).lines]
    assert steps[-1].done
    assert PULLS[case] <= steps[-1].completed == steps[-1].total
    assert all(one.completed <= other.completed for one, other in itertools.pairwise(steps))


@pytest.mark.parametrize("case", PULL_FAULTS)
def test_a_pull_that_failed_says_why(case: str) -> None:
    with ReplayServer(case) as server, pytest.raises(OllamaFault, match=PULL_FAULTS[case]) as caught:
        list(pull_model(server.url, "m"))
    assert caught.value.hint


def test_time_can_pass_as_it_did() -> None:
    with ReplayServer("chat_stream", pace=0.3) as server:
        pieces = list(OllamaServer(server.url).chat("m", [], {}, threading.Event()))
    assert pieces[0].waited > 0.2  # the recorded server took a second to load the model
    assert json.loads(transcript("chat_stream").pieces[-1][1])["load_duration"] > 0.5e9


@pytest.mark.parametrize("case", NEVER_ASKED)
def test_only_other_paths_are_used(case: str) -> None:
    path = transcript(case).path
    used = re.compile(
        rf'"{path}"|\.(?:generate|embeddings|delete)\(model|client\.(?:generate|embeddings|delete)\('
    )
    sources = Path(ragchat.__path__[0]).rglob("*.py")
    assert not [source for source in sources if used.search(source.read_text(encoding="utf-8"))]
