"""No prompt is ever cut: the window is shared out before it is sent, and compared with what was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.budget import THINKING_TOKENS, Budget, budget_for
from ragchat.answering.conversation import Conversation
from ragchat.answering.events import Answer
from ragchat.answering.export import export_markdown
from ragchat.answering.model_memory import ModelMemory, ModelNotes
from ragchat.answering.ollama import OllamaServer
from ragchat.answering.probe import probe_thinking
from ragchat.answering.receipt import receipt_line
from ragchat.answering.report import answer_json
from ragchat.answering.server import InstalledModel
from ragchat.answering.tokens import estimate_tokens, fewest_tokens
from ragchat.settings import OllamaSettings
from tests.answering.making import a_chunk, a_trace, an_assistant, the_answer
from tests.ollama_server import OllamaTestServer, Reply, TestModel, Think
from tests.ollama_transcripts import ReplayServer, needs_transcripts, transcript

QUESTION = "When does the lease end?"
THINKER = TestModel("qwen3:4b", capabilities=("completion", "thinking"))
TOO_LONG = (
    '{"error":{"code":400,"message":"request (1713 tokens) exceeds the available context size","type":'
    '"exceed_context_size_error","n_prompt_tokens":1713,"n_ctx":1200}}'
)


def ask(server: OllamaTestServer, memory: ModelMemory | None = None, **options: object) -> Answer:
    return the_answer(list(an_assistant(server.url, memory=memory).ask(QUESTION, **options)))  # type: ignore[arg-type]


@given(st.integers(0, 300_000), st.booleans(), st.booleans(), st.integers(1, 50_000), st.integers(2, 100_000))
def test_a_budget_is_never_zero_and_never_more_than_the_model_has(
    context: int, can_think: bool, thinks: bool, answer: int, window: int
) -> None:
    model = InstalledModel("m", 0, "", context=context, thinks=can_think)
    settings = OllamaSettings(answer_tokens=answer, context_tokens=window)
    budget = budget_for(model, settings, thinks=can_think and thinks)
    assert budget.num_predict >= 1
    assert budget.num_ctx >= 2
    assert budget.num_ctx <= max(2, context or window + THINKING_TOKENS)
    if can_think and thinks:
        assert budget.num_predict > THINKING_TOKENS or budget.room <= 1
        assert budget.num_predict >= THINKING_TOKENS
    # Another window would make the server load the model again.
    assert budget.num_ctx == budget_for(model, settings, thinks=False, ratio=0.7).num_ctx


@given(st.floats(0.0, 4.0), st.integers(1, 20_000))
def test_what_a_budget_holds_fits_the_window_whatever_was_learned(ratio: float, bound: int) -> None:
    budget = Budget(8192, 1024, ratio)
    if budget.holds(bound):
        assert bound <= 8192
        assert budget.corrected(bound) <= budget.room
        assert bound * ratio <= 8192


def test_a_thinking_model_without_room_for_it_is_not_asked() -> None:
    model = TestModel("qwen3:4b", context=4096, capabilities=("completion", "thinking"))
    with OllamaTestServer(models=[model]) as server:
        answer = ask(server)
        assert server.count("/api/chat") == 0
    assert answer.outcome == "refused"
    assert answer.message is not None
    assert answer.message.startswith("NO ANSWER: no source fits")
    assert "4,096 tokens" in answer.notice
    assert "larger window" in answer.hint
    assert {candidate.verdict for candidate in answer.trace.candidates} == {"did not fit"}


def test_the_estimate_is_corrected_by_what_the_server_counts_and_that_is_remembered(tmp_path: Path) -> None:
    memory = ModelMemory(tmp_path / "models.json")
    with OllamaTestServer(reply=Reply(["March [1]."], prompt_tokens=500)) as server:
        first = ask(server, memory)
        second = ask(server, ModelMemory(tmp_path / "models.json"))
        digest = next(iter(server.models.values())).digest
    assert first.context is not None
    assert second.context is not None
    assert (first.context.prompt_tokens, first.context.counted) == (500, True)
    ratio = memory.notes(digest).tokens_ratio
    assert 0.3 < ratio < 3
    assert ModelMemory(tmp_path / "models.json").notes(digest).tokens_ratio == ratio


def test_a_model_that_makes_more_tokens_is_sent_fewer_sources() -> None:
    chunks = [a_chunk("word " * 150, f"{n}.md") for n in range(4)]
    settings = OllamaSettings(context_tokens=2400, answer_tokens=100)
    memory = ModelMemory()
    with OllamaTestServer(reply=Reply(["March [1]."], prompt_tokens=None)) as server:
        digest = next(iter(server.models.values())).digest
        memory.note_tokens(digest, counted=150, estimated=100)
        assistant = an_assistant(server.url, a_trace(chunks=chunks), settings=settings, memory=memory)
        few = the_answer(list(assistant.ask(QUESTION)))
        many = the_answer(
            list(an_assistant(server.url, a_trace(chunks=chunks), settings=settings).ask(QUESTION))
        )
    assert 0 < len(few.trace.sources) < len(many.trace.sources)


def test_a_prompt_that_the_server_finds_too_long_is_sent_again_with_what_fits() -> None:
    chunks = [a_chunk("word " * 60, f"{n}.md") for n in range(4)]
    settings = OllamaSettings(context_tokens=8192, answer_tokens=100)
    with OllamaTestServer(reply=Reply(status=400, error=TOO_LONG)) as server:
        assistant = an_assistant(server.url, a_trace(chunks=chunks), settings=settings)
        answer = the_answer(list(assistant.ask(QUESTION)))
        sent = [request.body for request in server.received("/api/chat")]
    assert len(sent) == 2
    assert len(sent[1]["messages"][1]["content"]) < len(sent[0]["messages"][1]["content"])
    assert sent[1]["options"]["num_ctx"] == 1200
    assert answer.outcome == "failed"  # this server finds everything too long
    assert "1,713" in answer.error
    assert [list(request.messages) for request in answer.requests] == [body["messages"] for body in sent]
    assert [dict(request.options) for request in answer.requests] == [body["options"] for body in sent]
    assert answer.requests[0].address == f"{server.url}/api/chat"
    assert answer.requests[0].outcome.startswith(
        "not read: its 1,713 tokens are more than the window of 1,200"
    )


@needs_transcripts
def test_a_prompt_that_a_real_server_cut_silently_is_marked() -> None:
    chunks = [a_chunk("The quick brown fox jumps over the lazy dog. " * 40, f"{n}.md") for n in range(2)]
    with ReplayServer("tags", "show_smol-think", "toolong_single_template_default") as server:
        assistant = an_assistant(server.url, a_trace(chunks=chunks), preferred="smol-think")
        answer = the_answer(list(assistant.ask(QUESTION)))
    assert answer.context is not None
    assert answer.context.truncated
    assert "CUT by the server" in receipt_line(answer)
    assert answer.context.digest == next(
        model["digest"]
        for model in transcript("tags").lines[0]["models"]
        if model["name"] == "smol-think:latest"
    )


def test_an_answer_carries_the_receipt_of_its_evidence(tmp_path: Path) -> None:
    with OllamaTestServer(reply=Reply(["It ends ", "in March [1]."], prompt_tokens=400)) as server:
        digest = next(iter(server.models.values())).digest
        answer = ask(server)
    assert receipt_line(answer) == (
        f"2 sources · 400 of 8,192 tokens · qwen3:4b {digest[:12]} · temperature 0 · seed 0"
    )
    turn = Conversation(tmp_path / "conversation.jsonl").keep(answer)
    assert turn.receipt == receipt_line(answer)
    assert "\n*Sent: 2 sources · 400 of 8,192 tokens" in export_markdown([turn], tmp_path)
    context = answer_json(answer)["context"]
    assert context == {
        "prompt_tokens": 400,
        "num_ctx": 8192,
        "truncated": False,
        "counted": True,
        "sources": 2,
        "did_not_fit": 0,
        "model": "qwen3:4b",
        "digest": digest,
        "temperature": 0.0,
        "seed": 0,
        "num_predict": 1024,
        "answer_tokens": 2,
        "thinking": None,
    }


def test_a_receipt_says_what_did_not_fit_and_what_is_only_estimated() -> None:
    chunks = [a_chunk("word " * 150, f"{n}.md") for n in range(4)]
    settings = OllamaSettings(context_tokens=1400, answer_tokens=100)
    with OllamaTestServer(reply=Reply(["March"], done=False)) as server:
        assistant = an_assistant(server.url, a_trace(chunks=chunks), settings=settings)
        line = receipt_line(the_answer(list(assistant.ask(QUESTION))))
    assert line.startswith("2 sources (2 did not fit) · about ")


def test_no_receipt_stands_under_what_no_model_said() -> None:
    assert receipt_line(the_answer(list(an_assistant("http://127.0.0.1:9").ask(QUESTION)))) == ""
    refused = a_trace(verdict="too far", distance=0.9)
    assert receipt_line(the_answer(list(an_assistant("http://127.0.0.1:9", refused).ask(QUESTION)))) == ""


def test_a_model_that_thinks_is_asked_to_and_one_that_cannot_is_asked_nothing() -> None:
    with OllamaTestServer(models=[THINKER, "mistral"], answer=[Think("Hm."), "March [1]."]) as server:
        thought = ask(server)
        ask(server, model="mistral")
        bodies = [request.body for request in server.received("/api/chat")]
    assert bodies[0]["think"] is True
    assert "think" not in bodies[1]
    assert thought.timings_ms["thinking"] >= 0
    assert "thought for" in receipt_line(thought)
    assert bodies[0]["options"]["num_ctx"] == 8192 + THINKING_TOKENS
    assert answer_json(thought)["timings_ms"]["thinking"] is not None


@pytest.mark.parametrize(
    ("answer", "works"),
    [
        (["42"], True),
        (["\n\n42."], True),
        (["Okay, the user wants 17 + 25. ", "That is 42."], False),
        ([Think("17 and 25"), "42"], False),
        (["41"], False),
        ([""], False),
    ],
)
def test_a_probe_tells_whether_thinking_can_be_left_out(answer: list[str | Think], works: bool) -> None:
    memory = ModelMemory()
    with OllamaTestServer(models=[THINKER], answer=answer) as server:
        client = OllamaServer(server.url)
        model = client.describe("qwen3:4b")
        assert probe_thinking(client, model, OllamaSettings(), memory) is works
        assert probe_thinking(client, model, OllamaSettings(), memory) is works
        [probe] = [request.body for request in server.received("/api/chat")]
        server.reply = Reply(["March [1]."])
        ask(server, memory)
        asked = server.received("/api/chat")[-1].body
    assert probe["think"] is False
    assert probe["options"]["num_ctx"] == asked["options"]["num_ctx"]
    assert asked["think"] is not works
    assert asked["options"]["num_predict"] == (1024 if works else 1024 + THINKING_TOKENS)


def test_a_probe_of_a_server_that_fails_tells_nothing() -> None:
    memory = ModelMemory()
    with OllamaTestServer(models=[THINKER], reply=Reply(status=503, error="busy")) as server:
        client = OllamaServer(server.url)
        model = client.describe("qwen3:4b")
        assert probe_thinking(client, model, OllamaSettings(), memory) is None
        assert probe_thinking(client, InstalledModel("m", 0, "d"), OllamaSettings(), memory) is None
    assert memory.notes(THINKER.digest) == ModelNotes()


def test_a_budget_used_up_by_thinking_says_so_and_offers_more() -> None:
    with OllamaTestServer(
        models=[THINKER], reply=Reply([Think("Hm. ")] * 30, done_reason="length")
    ) as server:
        answer = ask(server)
        assert answer.outcome == "failed"
        assert "used up 30 tokens thinking and wrote no answer" in answer.error
        assert answer.more_tokens == 1024 + THINKING_TOKENS
        assert str(answer.more_tokens) in answer.hint
        ask(server, answer_tokens=answer.more_tokens)
        before, after = (request.body["options"] for request in server.received("/api/chat"))
    assert after["num_predict"] == answer.more_tokens + THINKING_TOKENS
    assert after["num_ctx"] - after["num_predict"] == before["num_ctx"] - before["num_predict"]


def test_an_answer_cut_off_offers_more_unless_the_model_has_no_more() -> None:
    with OllamaTestServer(reply=Reply(["It ends"], done_reason="length")) as server:
        assert ask(server).more_tokens == 2048
    small = TestModel("qwen3:4b", context=2048)
    with OllamaTestServer(models=[small], reply=Reply(["It ends"], done_reason="length")) as server:
        assert ask(server).more_tokens == 0


@pytest.mark.parametrize(
    "damage", ["", "[]", "{", '{"d": 5}', '{"d": {"tokens_ratio": "x", "thinking_off": 3}}']
)
def test_a_damaged_memory_is_an_empty_one(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(damage)
    memory = ModelMemory(path)
    assert memory.notes("d") == ModelNotes()
    memory.note_thinking_off("d", works=True)
    assert ModelMemory(path).notes("d").thinking_off is True


def test_a_memory_that_cannot_be_written_still_remembers(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = ModelMemory(tmp_path / "file" / "models.json")
    memory.note_thinking_off("d", works=False)
    memory.note_thinking_off("", works=True)
    assert memory.notes("d").thinking_off is False
    assert memory.notes("").thinking_off is None


@given(st.text(max_size=300))
def test_the_bounds_of_tokens_hold_together(text: str) -> None:
    assert fewest_tokens(text) <= estimate_tokens(text)
