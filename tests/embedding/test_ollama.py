from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from ragchat.embedding.embedder import Embedder
from ragchat.embedding.ollama import estimated_tokens
from ragchat.embedding.registry import expected_stamp, open_embedder
from ragchat.embedding.vectors import assert_unit
from ragchat.errors import EmbedderUnavailable, UsageError
from ragchat.settings import EmbeddingSettings
from tests.embedding.servers import TRANSCRIPTS, fixed_server, recorded, recorded_request
from tests.ollama_script import VERSION, TestModel, word_vector
from tests.ollama_server import OllamaTestServer

EMBEDS = TestModel("bge-m3", context=64, capabilities=("embedding",), dimensions=48)
CHATS = TestModel("qwen3:4b")
NOTES = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def opened(server: OllamaTestServer, model: str = "ollama:bge-m3") -> Embedder:
    return open_embedder(EmbeddingSettings(model=model), ollama_host=server.url)


@pytest.fixture
def server() -> object:
    with OllamaTestServer(models=[EMBEDS, CHATS]) as running:
        yield running


def test_the_stamp_holds_the_servers_digest_and_version(server: OllamaTestServer) -> None:
    stamp = opened(server).stamp
    assert stamp.model == "ollama:bge-m3:latest"
    assert stamp.weights == EMBEDS.digest
    assert (stamp.dimensions, stamp.window, stamp.runtime) == (48, 64, f"ollama {VERSION}")


def test_the_server_gives_no_token_vectors(server: OllamaTestServer) -> None:
    embedder = opened(server)
    assert embedder.token_dimensions == 0
    assert embedder.stamp.token_vectors == ""
    vectors, tokens = embedder.embed_passages_with_tokens(["one", "two"])
    np.testing.assert_array_equal(vectors, embedder.embed_passages(["one", "two"]))
    assert (tokens.offsets.tolist(), tokens.data.shape) == ([0, 0, 0], (0, 0))
    vector, rows = embedder.embed_question_with_tokens("one")
    np.testing.assert_array_equal(vector, embedder.embed_question("one"))
    assert rows.shape == (0, 0)


def test_a_name_means_its_latest_tag(server: OllamaTestServer) -> None:
    assert opened(server, "ollama:bge-m3:latest").stamp == opened(server).stamp


def test_the_expected_stamp_is_the_real_one_and_asks_for_no_vector(server: OllamaTestServer) -> None:
    settings = EmbeddingSettings(model="ollama:bge-m3", question_prompt="q: ")
    expected = expected_stamp(settings, ollama_host=server.url)
    assert server.count("/api/embed") == 0
    assert expected == open_embedder(settings, ollama_host=server.url).stamp


def test_the_expected_stamp_of_what_is_not_there_is_unknown(server: OllamaTestServer) -> None:
    assert expected_stamp(EmbeddingSettings(model="ollama:nope"), ollama_host=server.url) is None
    assert expected_stamp(EmbeddingSettings(model="ollama:bge-m3"), ollama_host="http://127.0.0.1:9") is None
    assert expected_stamp(EmbeddingSettings(model="ollama:bge-m3"), ollama_host="ftp://x") is None


def test_passages_are_embedded_in_order_whole_and_with_one_window(server: OllamaTestServer) -> None:
    texts = [f"note {n} about {'tulips' if n % 2 else 'taxes'}" for n in range(40)]
    vectors = opened(server).embed_passages(texts)
    assert vectors.dtype == np.float32
    assert_unit(vectors, model="bge-m3")
    assert np.allclose(vectors, [word_vector(text, 48) for text in texts], atol=1e-6)
    sent = [request.body for request in server.received("/api/embed")]
    assert all(body["truncate"] is False and body["options"] == {"num_ctx": 64} for body in sent)
    assert len(sent) == 1 + 3


def test_one_text_over_the_window_is_split_and_the_others_are_as_ever(server: OllamaTestServer) -> None:
    long = " ".join(["tulip"] * 60 + ["invoice"] * 60)
    embedder = opened(server)
    vectors = embedder.embed_passages(["short", long, "also short"])
    assert np.allclose(vectors[0], word_vector("short", 48), atol=1e-6)
    assert np.allclose(vectors[2], word_vector("also short", 48), atol=1e-6)
    assert_unit(vectors, model="bge-m3")
    both = vectors[1] @ embedder.embed_passages(["tulip", "invoice"]).T
    assert min(both) > 0.5  # neither the beginning nor the end is lost
    assert np.allclose(embedder.embed_question(long), vectors[1], atol=1e-6)
    sent = [request.body["input"] for request in server.received("/api/embed")]
    assert sent.count([long]) == 2  # split, not retried: once as a passage, once as a question


def test_prompts_are_sent_before_the_texts(server: OllamaTestServer) -> None:
    settings = EmbeddingSettings(model="ollama:bge-m3", question_prompt="query: ", passage_prompt="passage: ")
    embedder = open_embedder(settings, ollama_host=server.url)
    embedder.embed_question("lease")
    embedder.embed_passages(["lease"])
    assert [r.body["input"] for r in server.received("/api/embed")[1:]] == [
        ["query: lease"],
        ["passage: lease"],
    ]
    assert embedder.stamp.question_prompt == "query: "
    assert embedder.count_tokens("lease") > opened(server).count_tokens("lease")


def test_odd_texts_reach_the_server(server: OllamaTestServer) -> None:
    texts = ["", " ", "\x00\x1b[2J", "a lone surrogate \udcff", "👩‍👩‍👧", "</s>"]
    assert opened(server).embed_passages(texts).shape == (6, 48)
    assert opened(server).embed_passages([]).shape == (0, 48)


def test_a_missing_model_is_named_with_the_command_that_pulls_it(server: OllamaTestServer) -> None:
    with pytest.raises(EmbedderUnavailable, match="has no model nomic-embed-text:latest") as caught:
        opened(server, "ollama:nomic-embed-text")
    assert caught.value.hint == "ragchat pull nomic-embed-text:latest"


def test_a_chat_model_is_said_to_be_one(server: OllamaTestServer) -> None:
    with pytest.raises(EmbedderUnavailable, match="is a chat model: it cannot embed") as caught:
        opened(server, "ollama:qwen3:4b")
    assert "ollama:bge-m3" in caught.value.hint


def test_no_server_is_said_in_one_line_with_what_to_start() -> None:
    with pytest.raises(
        EmbedderUnavailable, match=r"no model server answers at http://127\.0\.0\.1:9"
    ) as caught:
        open_embedder(EmbeddingSettings(model="ollama:bge-m3"), ollama_host="127.0.0.1:9")
    assert caught.value.hint == "ollama serve"


def test_a_host_that_is_no_address_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        open_embedder(EmbeddingSettings(model="ollama:bge-m3"), ollama_host="ftp://box")


def test_a_server_that_goes_away_is_said_to_have_gone(server: OllamaTestServer) -> None:
    embedder = opened(server)
    server.kill()
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_passages(["too late"])


def test_a_proxy_does_not_stand_before_the_loopback(
    server: OllamaTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert opened(server).embed_question("lease").shape == (48,)


def facts() -> dict[str, tuple[int, str]]:
    card = {
        "general.architecture": "bert",
        "bert.context_length": 512,
        "bert.embedding_length": 3,
    }
    return {
        "/api/version": (200, '{"version": "0.33.0"}'),
        "/api/tags": (200, json.dumps({"models": [{"model": "m:latest", "digest": "d" * 64}]})),
        "/api/show": (200, json.dumps({"model_info": card})),
        "/api/embed": (200, json.dumps({"embeddings": [[0.0, 0.6, 0.8]]})),
    }


def test_a_model_that_tells_no_window_is_given_a_small_one() -> None:
    cards: list[dict[str, object]] = [
        {},
        {"model_info": {}},
        {"model_info": {"general.architecture": "bert"}},
    ]
    for card in cards:
        with fixed_server({**facts(), "/api/show": (200, json.dumps(card))}) as url:
            embedder = open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url)
            assert (embedder.window, embedder.stamp.dimensions) == (512, 3)


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        ("/api/embed", (200, '{"embeddings": [[0, 0, 0]]}'), "without a direction"),
        ("/api/embed", (200, '{"embeddings": [[]]}'), "without a direction"),
        ("/api/embed", (200, '{"embeddings": []}'), "cannot be read"),
        ("/api/embed", (200, '{"embeddings": [[1, 0], [1]]}'), "cannot be read"),
        ("/api/embed", (200, '{"embeddings": [["a"]]}'), "cannot be read"),
        ("/api/embed", (200, "{}"), "cannot be read"),
        ("/api/embed", (200, "<html>"), "cannot be read"),
        ("/api/embed", (400, '{"error": "invalid\\nmodel"}'), "cannot embed .*: invalid model"),
        ("/api/embed", (500, '{"error": "json: unsupported value: NaN"}'), "unsupported value: NaN"),
        ("/api/embed", (503, '{"error": "server busy"}'), r"busy \(503\): server busy"),
        ("/api/embed", (404, '{"error": "model not found"}'), "has no model m:latest"),
        ("/api/embed", (403, ""), "under this name"),
        ("/api/tags", (200, "[]"), "cannot be read"),
        ("/api/tags", (200, '{"models": []}'), "has no model m:latest"),
        ("/api/version", (200, "{}"), "cannot be read"),
        ("/api/version", (502, "Bad Gateway"), r"not Ollama \(502\)"),
        ("/api/show", (500, '{"error": "gone"}'), "gone"),
    ],
)
def test_a_broken_answer_is_one_clear_line(path: str, answer: tuple[int, str], said: str) -> None:
    with (
        fixed_server({**facts(), path: answer}) as url,
        pytest.raises(EmbedderUnavailable, match=said) as caught,
    ):
        open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url)
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_a_text_refused_for_another_reason_ends_in_an_error_not_in_a_loop() -> None:
    answers = facts()
    with fixed_server(answers) as url:
        embedder = open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url)
        answers["/api/embed"] = (400, '{"error": "the input length exceeds the context length"}')
        with pytest.raises(EmbedderUnavailable, match="exceeds the context length"):
            embedder.embed_passages(["word " * 5000])


def test_vectors_of_another_dimension_than_before_are_refused() -> None:
    answers = facts()
    with fixed_server(answers) as url:
        embedder = open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url)
        answers["/api/embed"] = (200, '{"embeddings": [[0.6, 0.8]]}')
        with pytest.raises(EmbedderUnavailable, match="expected 3 dimensions"):
            embedder.embed_question("lease")


def test_a_model_is_pulled_only_when_asked_to() -> None:
    pulled = "\n".join(json.dumps({"status": s}) for s in ("pulling manifest", "verifying", "success"))
    with fixed_server({**facts(), "/api/pull": (200, pulled)}) as url:
        said: list[str] = []
        open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url, notify=said.append)
        assert said == [f"loading m:latest in ollama at {url}"]
        open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url, fetch=True, notify=said.append)
        assert said[1:4] == ["ollama: pulling manifest", "ollama: verifying", "ollama: success"]


def test_a_failed_pull_says_why() -> None:
    failed = '{"status":"pulling manifest"}\n{"error":"pull model manifest: file does not exist"}'
    with (
        fixed_server({**facts(), "/api/pull": (200, failed)}) as url,
        pytest.raises(EmbedderUnavailable, match="file does not exist"),
    ):
        open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url, fetch=True)


def test_notes_do_not_follow_a_redirect_to_another_server(server: OllamaTestServer) -> None:
    with (
        fixed_server({**facts(), "/api/embed": (307, server.url)}) as url,
        pytest.raises(EmbedderUnavailable, match=r"not Ollama \(307\)"),
    ):
        open_embedder(EmbeddingSettings(model="ollama:m"), ollama_host=url)
    assert server.count("/api/embed") == 0


@pytest.mark.corpora
@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="no recorded answers here")
def test_what_a_real_server_said_is_understood() -> None:
    answers = {
        "/api/version": recorded("version"),
        "/api/tags": recorded("tags"),
        "/api/show": recorded("show_all-minilm"),
        "/api/embed": recorded("embed_single"),
    }
    with fixed_server(answers) as url:
        embedder = open_embedder(EmbeddingSettings(model="ollama:all-minilm"), ollama_host=url)
        assert embedder.stamp.weights.startswith("3916e706937ab689")
        assert (embedder.window, embedder.stamp.dimensions) == (512, 384)
        single = embedder.embed_question(recorded_request("embed_single")["input"])
        answers["/api/embed"] = recorded("embed_batch")
        vectors = embedder.embed_passages(recorded_request("embed_batch")["input"])
        assert_unit(vectors, model="all-minilm")
        assert float(vectors[0] @ single) > 0.9999
        answers["/api/embed"] = recorded("embed_on_chat_model")
        with pytest.raises(EmbedderUnavailable, match="chat model"):
            embedder.embed_question("hello")
        answers["/api/embed"] = recorded("embed_toolong_truncate_false")
        with pytest.raises(EmbedderUnavailable, match="the input length exceeds the context length"):
            embedder.embed_question("hello " * 10)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 2), ("the cat", 6), ("  ", 3), ("Hi", 4), ("20.04", 7), ("漢", 4), ("a\n", 4)]
)
def test_tokens_are_estimated_from_what_stands_there(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@pytest.mark.corpora
@pytest.mark.skipif(not NOTES.is_dir(), reason="no corpora here")
@pytest.mark.parametrize("corpus", ["clapnq", "jsquad-ja", "xquad-en", "debimate-notes"])
def test_the_estimate_is_over_the_truth_on_real_notes_but_not_far(corpus: str, embedder: Embedder) -> None:
    files = itertools.islice(sorted((NOTES / corpus / "corpus").rglob("*.md")), 40)
    texts = [file.read_text(encoding="utf-8")[start : start + 512] for file in files for start in (0, 2000)]
    texts = [text for text in texts if len(text) > 100]
    assert len(texts) > 10
    ratios = [estimated_tokens(text) / embedder.count_tokens(text) for text in texts]
    assert min(ratios) >= 1.0
    assert max(ratios) < 4.0
