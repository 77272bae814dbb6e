"""584 notes that nobody here wrote, from the folder to the answer: what passes, is lost, is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragchat.answering.events import Answer, Finished
from ragchat.answering.workspace import Workspace
from ragchat.settings import OllamaSettings, Settings
from tests.ollama_server import OllamaTestServer

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
NOTES = CORPORA / "clapnq" / "corpus"

pytestmark = [
    pytest.mark.corpora,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="no ../shared/corpora here"),
    pytest.mark.timeout(900),
]


def questions(name: str, *, answerable: bool) -> list[dict[str, Any]]:
    lines = (CORPORA / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [asked for asked in map(json.loads, lines) if asked["answerable"] is answerable]


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaTestServer]:
    with OllamaTestServer(answer="So it says [1].") as listening:
        yield listening


@pytest.fixture(scope="module")
def workspace(server: OllamaTestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAGCHAT_DATA_DIR", str(tmp_path_factory.mktemp("clapnq")))
        workspace = Workspace(NOTES, Settings(ollama=OllamaSettings(host=server.url)))
        report = workspace.update()
        assert (report.indexed, report.failures, report.complete) == (584, (), True)
        yield workspace
        workspace.close()


def ask(workspace: Workspace, question: str) -> Answer:
    *_, last = workspace.assistant().ask(question)
    assert isinstance(last, Finished)
    return last.answer


def test_far_questions_are_refused_and_send_nothing(workspace: Workspace, server: OllamaTestServer) -> None:
    asked = questions("ood-en", answerable=False)
    passing = []
    for each in asked:
        before = len(server.requests)
        answer = ask(workspace, each["question"])
        if answer.outcome == "refused":
            assert len(server.requests) == before
            assert answer.text is None
            assert answer.trace.sources == ()
        else:
            passing.append(each["question"])
    assert len(passing) <= 0.08 * len(asked), passing


def test_answerable_questions_are_answered_from_the_right_note_at_its_exact_range(
    workspace: Workspace,
) -> None:
    asked = questions("clapnq", answerable=True)
    refused = found = 0
    for each in asked:
        answer = ask(workspace, each["question"])
        refused += answer.outcome == "refused"
        for source in answer.trace.sources:
            chunk = source.chunk
            text = (NOTES / chunk.document).read_bytes().decode("utf-8")
            assert text[chunk.start : chunk.end] == chunk.content
        found += any(
            source.chunk.document == each["document"]
            and source.chunk.start < each["to"]
            and each["from"] < source.chunk.end
            for source in answer.trace.sources
        )
    assert workspace.assistant().retrieve("hello").threshold.origin == "auto"
    assert refused <= 0.05 * len(asked), f"{refused} of {len(asked)} answerable questions are refused"
    assert found >= 0.90 * len(asked), f"the gold passage is among the sources of {found} of {len(asked)}"
