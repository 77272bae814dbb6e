"""From evidence to a finished answer: who answers, what is sent, what is kept when it breaks off."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragchat.answering.events import AnswerEvent, AnswerText, Retrieved, Thinking
from ragchat.answering.prompt import ABSTENTION
from ragchat.settings import OllamaSettings
from tests.answering.making import a_chunk, a_trace, an_assistant, shown, the_answer
from tests.ollama_server import (
    OllamaTestServer,
    Reply,
    Step,
    TestModel,
    Think,
)

CLOSED = "http://127.0.0.1:9"  # the discard port: nothing listens there
QUESTION = "When does the lease end?"


def ask(server: OllamaTestServer, **options: object) -> list[AnswerEvent]:
    return list(an_assistant(server.url).ask(QUESTION, **options))  # type: ignore[arg-type]


def test_an_answer_streams_and_its_citations_are_attached() -> None:
    with OllamaTestServer(answer="It ends on 31 March 2027 [1]. Water tomatoes [2][7].") as server:
        events = ask(server)
        sent = server.received("/api/chat")[0].body
    answer = the_answer(events)
    assert isinstance(events[0], Retrieved)
    assert answer.outcome == "answered"
    assert answer.answered_by == "model"
    assert answer.model == "qwen3:4b"
    assert sum(isinstance(event, AnswerText) for event in events) > 3
    assert shown(events) == answer.text == "It ends on 31 March 2027 [1]. Water tomatoes [2][7]."
    assert answer.cited == {1, 2}
    assert answer.invalid_citations == (7,)
    assert answer.context is not None
    assert not answer.context.truncated
    assert sent["options"] == {"temperature": 0.0, "seed": 0, "num_ctx": 8192, "num_predict": 1024}
    assert set(answer.timings_ms) == {"embed", "search", "rerank", "first_token", "total"}


def test_a_refused_question_sends_nothing_at_all() -> None:
    with OllamaTestServer() as server:
        trace = a_trace('what is "x\x1b[2J"\n?', verdict="too far", distance=0.81)
        answer = the_answer(list(an_assistant(server.url, trace).ask(trace.question)))
        assert server.requests == []
    assert answer.outcome == "refused"
    assert answer.text is None
    assert answer.message == 'NO ANSWER: nothing under cosine distance 0.520 for "what is "x\\x1b[2J"\\n?"'


def test_the_same_question_sends_the_same_prompt() -> None:
    with OllamaTestServer() as server:
        ask(server)
        ask(server)
        first, second = (request.body for request in server.received("/api/chat"))
    assert first == second


def test_an_answer_holds_the_prompt_that_was_sent_word_for_word() -> None:
    with OllamaTestServer() as server:
        answer = the_answer(ask(server))
        (request,) = server.received("/api/chat")
    assert request.body is not None
    assert list(map(dict, answer.requests[0].messages)) == request.body["messages"]


def test_without_a_server_the_notes_are_quoted() -> None:
    answer = the_answer(list(an_assistant(CLOSED).ask(QUESTION)))
    assert answer.outcome == "answered"
    assert answer.answered_by == "quotation"
    assert answer.text is not None
    assert "The lease ends on 31 March 2027." in answer.text
    assert "ollama serve" in answer.notice


def test_without_a_model_the_notes_are_quoted_and_one_is_proposed() -> None:
    with OllamaTestServer(models=[TestModel("bge-m3", capabilities=("embedding",))]) as server:
        answer = the_answer(list(an_assistant(server.url, preferred="").ask(QUESTION)))
        assert server.count("/api/chat") == 0
    assert answer.answered_by == "quotation"
    assert "ragchat pull" in answer.notice


def test_a_configured_model_that_is_missing_is_said_beside_the_quotation() -> None:
    with OllamaTestServer(models=["other:1b"]) as server:
        answer = the_answer(ask(server))
    assert answer.answered_by == "quotation"
    assert "ragchat pull qwen3:4b" in answer.notice


def test_a_model_asked_for_by_name_that_is_missing_is_a_failure() -> None:
    with OllamaTestServer(models=["other:1b"]) as server:
        answer = the_answer(ask(server, model="nope"))
        assert server.count("/api/chat") == 0
    assert answer.outcome == "failed"
    assert "nope" in answer.error
    assert answer.hint == "ragchat pull nope"


def test_a_bare_name_means_latest() -> None:
    with OllamaTestServer(models=["mistral:latest"]) as server:
        assert the_answer(ask(server, model="mistral")).outcome == "answered"


def test_with_no_model_chosen_an_installed_one_that_chats_answers_and_is_named() -> None:
    embedder = TestModel("bge-m3", capabilities=("embedding",))
    with OllamaTestServer(models=[embedder, "llama3.2:3b", "qwen3:4b"]) as server:
        answer = the_answer(list(an_assistant(server.url, preferred="").ask(QUESTION)))
    assert answer.model == "llama3.2:3b"
    assert "llama3.2:3b" in answer.notice


def test_reasoning_in_its_own_field_is_no_answer() -> None:
    model = TestModel("qwen3:4b", capabilities=("completion", "thinking"))
    with OllamaTestServer(models=[model], answer=[Think("Hm, "), Think("a lease."), "March [1]."]) as server:
        events = ask(server)
        options = server.received("/api/chat")[0].body["options"]
    assert "".join(event.text for event in events if isinstance(event, Thinking)) == "Hm, a lease."
    assert the_answer(events).text == shown(events) == "March [1]."
    assert options["num_predict"] == 1024 + 4096


@pytest.mark.parametrize(
    "steps",
    [
        ["<", "thought", ">", "secret", "</thought>", "March [1]."],
        ["<thi", "nk>\nsecret\n</th", "ink>\n\nMarch [1]."],
        ["secret, so ", "</think>", "\n\nMarch", " [1]."],
    ],
)
def test_leaked_reasoning_is_no_answer(steps: Sequence[Step]) -> None:
    with OllamaTestServer(answer=steps) as server:
        events = ask(server)
    assert the_answer(events).text == shown(events) == "March [1]."


def test_an_unclosed_think_tag_leaves_no_answer_and_says_so() -> None:
    with OllamaTestServer(reply=Reply(["<think>", "on and on"], done_reason="length")) as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "failed"
    assert answer.text == ""
    assert "thinking" in answer.error


def test_an_empty_answer_is_a_failure_with_a_reason() -> None:
    with OllamaTestServer(answer=["", " \n"]) as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "failed"
    assert answer.error


def test_an_abstention_is_recognised_and_cites_nothing() -> None:
    with OllamaTestServer(answer=f"{ABSTENTION} [1]") as server:
        answer = the_answer(ask(server))
    assert answer.outcome == "answered"
    assert answer.abstained
    assert answer.cited == frozenset()


def test_an_answer_that_ends_in_a_code_fence_is_whole() -> None:
    text = "Run this [1]:\n\n```sh\nrm [2] -r\n```"
    with OllamaTestServer(answer=text) as server:
        answer = the_answer(ask(server))
    assert answer.text == text
    assert answer.cited == {1}


def test_control_characters_of_a_model_are_shown_escaped() -> None:
    with OllamaTestServer(answer=["a\x1b[2J", "b\r", "\nc\x07", "\u202ed"]) as server:
        events = ask(server)
    assert the_answer(events).text == shown(events) == "a\\x1b[2Jb\nc\\x07\\u202ed"


def test_a_prompt_the_server_cut_is_marked_truncated() -> None:
    with OllamaTestServer(reply=Reply(["March [1]."], prompt_tokens=12)) as server:
        context = the_answer(ask(server)).context
    assert context is not None
    assert context.truncated
    assert context.prompt_tokens == 12


def test_sources_that_do_not_fit_are_dropped_from_the_end_and_marked() -> None:
    chunks = [a_chunk("word " * 150, f"{n}.md") for n in range(4)]
    settings = OllamaSettings(context_tokens=1400, answer_tokens=100)
    with OllamaTestServer() as server:
        assistant = an_assistant(server.url, a_trace(chunks=chunks), settings=settings)
        answer = the_answer(list(assistant.ask(QUESTION)))
        sent = server.received("/api/chat")[0].body
    verdicts = [candidate.verdict for candidate in answer.trace.candidates]
    assert verdicts == ["sent", "sent", "did not fit", "did not fit"]
    assert "2.md" not in sent["messages"][1]["content"]
    assert sent["options"]["num_ctx"] == 1400


def test_a_window_too_small_for_any_source_refuses_without_a_call() -> None:
    with OllamaTestServer(models=[TestModel("qwen3:4b", context=256)]) as server:
        answer = the_answer(ask(server))
        assert server.count("/api/chat") == 0
    assert answer.outcome == "refused"
    assert answer.message is not None
    assert answer.message.startswith("NO ANSWER: no source fits")


def test_two_documents_of_one_name_keep_their_numbers() -> None:
    chunks = [a_chunk("Rent is 900.", "flat/rent.md"), a_chunk("Rent is 700.", "garage/rent.md")]
    with OllamaTestServer(answer="The garage costs 700 [2].") as server:
        answer = the_answer(list(an_assistant(server.url, a_trace(chunks=chunks)).ask(QUESTION)))
        prompt = server.received("/api/chat")[0].body["messages"][1]["content"]
    assert prompt.index("flat/rent.md") < prompt.index("garage/rent.md")
    [number] = answer.cited
    assert answer.trace.sources[number - 1].chunk.document == "garage/rent.md"
