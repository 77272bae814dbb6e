"""The command line in scripts: data on stdout, everything else on stderr, codes that tell."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ragchat.paths import folder_data_dir
from tests.acceptance.conftest import ANSWER, LEASE, NOTES, PROGRAM, SKY, Program
from tests.ollama_server import OllamaTestServer, Reply, Stall

pytestmark = pytest.mark.acceptance

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def test_a_question_is_answered_with_its_sources(program: Program, server: OllamaTestServer) -> None:
    told = program.run("ask", LEASE)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"{ANSWER}\n\n[1] house/lease.md#char=")
    assert "\x1b" not in told.stdout + told.stderr
    assert server.count("/api/chat") == 1


def test_ask_json_is_the_promised_object(program: Program) -> None:
    told = program.run("ask", LEASE, "--json")
    answer = json.loads(told.stdout)
    promised = {
        *("question", "refused", "answer", "message", "threshold", "threshold_from", "nearest"),
        *("answered_by", "model", "sources", "invalid_citations", "coverage", "abstained", "context"),
        "timings_ms",
    }
    assert promised <= set(answer)
    assert (answer["refused"], answer["answer"], answer["message"]) == (False, ANSWER, None)
    assert (answer["answered_by"], answer["model"], answer["abstained"]) == ("model", "qwen3:4b", False)
    assert answer["coverage"] == {"indexed": len(NOTES), "failed": 0, "stale": 0}
    assert {"prompt_tokens", "num_ctx", "truncated"} <= set(answer["context"])
    assert set(answer["timings_ms"]) == {"embed", "search", "rerank", "first_token", "total"}
    first = answer["sources"][0]
    assert (first["n"], first["document"], first["section"]) == (1, "house/lease.md", "Lease > Term")
    assert first["quote"] == NOTES["house/lease.md"][first["start"] : first["end"]]
    assert first["locator"] == f"#char={first['start']},{first['end']}"
    assert first["distance"] <= answer["threshold"]
    assert first["verdict"] == "sent"
    assert first["cited"] is True
    assert {"dense_rank", "bm25_rank", "fused_rank", "rerank_score"} <= set(first)


def test_a_refusal_sends_nothing_at_all(program: Program, server: OllamaTestServer) -> None:
    told = program.run("ask", SKY, "--json")
    answer = json.loads(told.stdout)
    assert told.returncode == 1
    assert (answer["refused"], answer["answer"], answer["sources"]) == (True, None, [])
    threshold = answer["threshold"]
    assert answer["message"] == f'NO ANSWER: nothing under cosine distance {threshold:.3f} for "{SKY}"'
    assert all(candidate["verdict"] == "too far" for candidate in answer["candidates"])
    assert server.requests == []


def test_search_asks_no_server(program: Program, server: OllamaTestServer) -> None:
    told = program.run("search", LEASE, "--json")
    assert told.returncode == 0
    assert set(json.loads(told.stdout)) == {"question", "threshold", "refused", "sources", "candidates"}
    assert program.run("search", SKY).returncode == 1
    assert server.requests == []


def test_a_batch_is_one_object_a_line(program: Program) -> None:
    told = program.run("search", "--json", "-", stdin=f"{LEASE}\n{SKY}\n鍵はどこですか\n")
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 0
    assert [line["question"] for line in lines] == [LEASE, SKY, "鍵はどこですか"]
    assert lines[1]["refused"] is True


def test_without_a_server_the_notes_are_quoted(program: Program) -> None:
    told = program.run("ask", LEASE, environ={"OLLAMA_HOST": "127.0.0.1:9"})
    assert told.returncode == 0
    assert "The lease of the flat ends on 31 March 2027. [1]" in told.stdout
    assert "ollama serve" in told.stderr


def test_exit_codes(program: Program, tmp_path: Path) -> None:
    codes = {
        ("index",): 0,
        ("ask", SKY): 1,
        ("ask",): 2,
        ("serch",): 2,
        ("ask", LEASE, "-f", str(tmp_path / "gone")): 3,
        ("ask", LEASE, "--set", "chunking.size=300"): 3,
        ("ask", LEASE, "--model", "phantom:7b"): 4,
    }
    for arguments, code in codes.items():
        told = program.run(*arguments)
        assert told.returncode == code, (arguments, told.stderr)
        assert "Traceback" not in told.stderr
        if code > 1:
            assert told.stderr.startswith("ragchat: ")
            assert "\n  hint: " in told.stderr


def test_a_failed_document_fails_alone(program: Program) -> None:
    (program.notes / "picture.md").write_bytes(bytes(range(256)) * 20)
    assert program.run("index").returncode == 1
    told = program.run("ask", LEASE)
    assert told.returncode == 0
    status = json.loads(program.run("status", "--json").stdout)
    assert status["documents"]["indexed"] == len(NOTES)
    assert [failure["document"] for failure in status["failures"]] == ["picture.md"]


def test_a_reader_that_has_had_enough_is_no_error(program: Program) -> None:
    questions = f"{LEASE}\n" * 50
    command = f"{PROGRAM} search --json - | head -n 1"
    told = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=program.notes,
        env=program.environ,
        input=questions,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["question"] == LEASE
    assert "Broken" not in told.stderr
    assert "Traceback" not in told.stderr


def test_an_ascii_locale_loses_nothing(program: Program) -> None:
    question = "合鍵はどこに預けてありますか"
    told = program.run("ask", question, "--json", environ={**ASCII, "OLLAMA_HOST": "127.0.0.1:9"})
    assert told.returncode == 0, told.stderr
    assert told.stdout.isascii()
    answer = json.loads(told.stdout)
    assert answer["question"] == question
    assert answer["sources"][0]["document"] == "テスト.md"
    plain = program.run("search", question, environ=ASCII)
    assert plain.returncode == 0
    assert "\\u30c6\\u30b9\\u30c8.md#char=" in plain.stdout
    shown = program.run("show", "テスト.md", "--chars", "5,7", "--json", environ=ASCII)
    assert json.loads(shown.stdout)["text"] == NOTES["テスト.md"][5:7]


def test_ctrl_c_keeps_what_has_come(program: Program, server: OllamaTestServer) -> None:
    program.run("index")
    server.reply = Reply(["The lease ", "ends ", Stall()])
    asking = program.start("ask", LEASE)
    server.wait_for("/api/chat", seconds=60)
    time.sleep(0.5)
    asking.send_signal(signal.SIGINT)
    stdout, stderr = asking.communicate(timeout=30)
    assert asking.returncode == 130
    assert stdout.startswith(b"The lease ends")
    assert b"Traceback" not in stderr


def test_a_kill_in_mid_index_leaves_a_whole_index(program: Program) -> None:
    program.run("index")
    for number in range(150):
        text = f"# Note {number}\n\n" + f"Entry {number} tells of the harbour at low tide. " * 4
        (program.notes / f"log-{number}.md").write_text(text)
    indexing = program.start("index")
    database = folder_in(program) / "index.sqlite3"
    written = database.stat().st_mtime_ns
    wal = database.with_name("index.sqlite3-wal")
    deadline = time.monotonic() + 60
    while (not wal.exists() or wal.stat().st_mtime_ns <= written) and indexing.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    indexing.kill()
    assert indexing.wait() == -signal.SIGKILL
    indexing.communicate()
    status = program.run("status", "--json")
    assert status.returncode == 0, status.stderr
    assert program.run("search", LEASE, "--no-update").returncode == 0
    assert program.run("index").returncode == 0
    documents = json.loads(program.run("status", "--json").stdout)["documents"]
    assert documents == {"indexed": len(NOTES) + 150, "failed": 0, "skipped": 0, "stale": 0}


def test_a_moved_note_is_cited_under_its_new_path(program: Program) -> None:
    program.run("index")
    (program.notes / "papers").mkdir()
    (program.notes / "house/lease.md").rename(program.notes / "papers/lease.md")
    told = json.loads(program.run("index", "--json").stdout)
    assert (told["documents"]["moved"], told["chunks_embedded"]) == (1, 0)
    assert "[1] papers/lease.md#char=" in program.run("search", LEASE).stdout


def test_nothing_is_written_into_the_notes(program: Program) -> None:
    before = sorted(path.relative_to(program.notes) for path in program.notes.rglob("*"))
    program.run("ask", LEASE)
    program.run("forget", "--yes")
    assert sorted(path.relative_to(program.notes) for path in program.notes.rglob("*")) == before


def folder_in(program: Program) -> Path:
    """Where the program keeps the index of its notes."""
    told = json.loads(program.run("paths", "--json").stdout)
    assert Path(told["index"]).name == folder_data_dir(program.notes).name
    return Path(told["index"])
