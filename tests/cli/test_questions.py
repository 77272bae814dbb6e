"""`ask` and `search`: what they print where, and how they end."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import threading
from pathlib import Path

import click
import pytest

from ragchat.answering.workspace import Workspace
from ragchat.cli.program import program
from ragchat.settings import Settings
from tests.cli.conftest import Ragchat
from tests.doubles import WordEmbedder
from tests.ollama_server import Break, OllamaTestServer, Reply, Stall, TestModel

ON_TOPIC = "When does the lease end? The lease ends on 31 March 2027"
OFF_TOPIC = "Why is sky blue"
NEAR = ("--threshold", "0.7")


def stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))


def test_an_answer_and_its_sources_are_data_the_rest_is_notes(ragchat: Ragchat) -> None:
    told = ragchat("ask", ON_TOPIC, *NEAR)
    assert told.code == 0
    assert "The lease ends on 31 March 2027. [1]" in told.out
    assert "[1] house/lease.md#char=" in told.out
    assert "Lease > Term" in told.out
    assert "no model was asked" in told.err


def test_a_range_that_is_printed_can_be_shown(ragchat: Ragchat, notes: Path) -> None:
    told = ragchat("ask", ON_TOPIC, *NEAR)
    place = next(line.split()[1] for line in told.out.splitlines() if line.startswith("[1] "))
    assert ragchat("show", place).out in (notes / "house/lease.md").read_text(encoding="utf-8")


def test_a_refusal_asks_nobody_and_says_why(ragchat: Ragchat, server: OllamaTestServer) -> None:
    told = ragchat("ask", OFF_TOPIC, *NEAR)
    assert told.code == 1
    assert told.out == f'NO ANSWER: nothing under cosine distance 0.700 for "{OFF_TOPIC}"\n'
    assert "nearest: house/" in told.err
    assert server.requests == []


def test_a_model_answers_once_and_is_named_in_json(ragchat: Ragchat, server: OllamaTestServer) -> None:
    told = ragchat("ask", ON_TOPIC, *NEAR, "--json")
    answer = json.loads(told.out)
    assert told.code == 0
    assert (answer["answered_by"], answer["model"]) == ("model", "qwen3:4b")
    assert answer["answer"] == "It ends on 31 March 2027 [1]."
    assert answer["sources"][0]["cited"] is True
    assert server.count("/api/chat") == 1


def test_a_missing_model_asked_for_by_name_is_the_servers_fault(
    ragchat: Ragchat, server: OllamaTestServer
) -> None:
    told = ragchat("ask", ON_TOPIC, *NEAR, "--model", "phantom:7b")
    assert told.code == 4
    assert "phantom:7b" in told.err
    assert "hint: " in told.err
    assert server.count("/api/chat") == 0


def test_an_answer_that_breaks_off_is_kept_and_fails(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.reply = Reply(["It ends ", "on ", Break()])
    told = ragchat("ask", ON_TOPIC, *NEAR)
    assert told.code == 4
    assert told.out.startswith("It ends on")
    assert "ragchat: " in told.err


def test_an_abstention_is_no_answer_and_lists_no_evidence(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.reply = Reply(["The sources do not contain the answer."])
    told = ragchat("ask", ON_TOPIC, *NEAR)
    assert told.code == 1
    assert told.out == "The sources do not contain the answer.\n"
    assert "no answer in the sources" in told.err


def test_an_invalid_citation_is_marked(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.reply = Reply(["In March [1], I think [9]."])
    assert "[9]: there is no such source" in ragchat("ask", ON_TOPIC, *NEAR).err


def test_reasoning_before_a_lone_end_mark_never_reaches_a_pipe(
    ragchat: Ragchat, server: OllamaTestServer
) -> None:
    server.reply = Reply(["Let me ", "see. ", "</thi", "nk>", "In March [1]."])
    told = ragchat("ask", ON_TOPIC, *NEAR)
    assert told.out.startswith("In March [1].\n")
    assert "Let me" not in told.out


def test_ctrl_c_keeps_the_partial_answer(ragchat: Ragchat, server: OllamaTestServer) -> None:
    server.reply = Reply(["It ends ", "on ", Stall()])

    def interrupt() -> None:
        server.wait_for("/api/chat", seconds=60)
        threading.Event().wait(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    told = ragchat("ask", ON_TOPIC, *NEAR)
    thread.join()
    assert told.code == 130
    assert told.out.startswith("It ends on")
    assert "stopped" in told.err


def test_what_the_model_and_the_notes_write_cannot_steer_the_terminal(
    ragchat: Ragchat, server: OllamaTestServer, notes: Path
) -> None:
    (notes / "evil.md").write_text("# Evil \x1b]0;pwned\x07\n\nzebra \x1b[2J crossing\x00\n")
    server.reply = Reply(["zebra \x1b[2J", " crossing [1]"])
    for command in ("ask", "search"):
        told = ragchat(command, "zebra crossing", *NEAR)
        assert told.code == 0
        assert not set(told.out + told.err) & set("\x1b\x07\x00")
        assert "\\x1b" in told.out


def test_search_prints_quotes_distances_and_verdicts(ragchat: Ragchat, server: OllamaTestServer) -> None:
    told = ragchat("search", ON_TOPIC, *NEAR)
    assert told.code == 0
    assert "under cosine distance 0.700 (setting)" in told.out
    assert "The lease ends on 31 March 2027." in told.out
    assert "too far" in told.out
    assert server.requests == []


def test_search_refuses_with_the_near_misses(ragchat: Ragchat) -> None:
    told = ragchat("search", OFF_TOPIC, *NEAR)
    assert told.code == 1
    assert told.out.startswith("NO ANSWER: nothing under cosine distance 0.700")
    assert told.out.count("too far") == 3


def test_a_literal_term_is_offered_with_its_command(ragchat: Ragchat) -> None:
    told = ragchat("search", "what about E1187 then", "--threshold", "0.1")
    assert told.code == 1
    assert "E1187 stands word for word in a note: Error E1187" in told.err
    command = told.err.partition("  ragchat ")[2].partition("\n")[0]
    shown = ragchat(*shlex.split(command))
    assert shown.code == 0
    assert "E1187" in shown.out


def test_a_batch_answers_in_order_and_ends_with_0(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, embedder: WordEmbedder
) -> None:
    stdin(monkeypatch, f"{OFF_TOPIC}\n\n{ON_TOPIC}\n")
    told = ragchat("search", "-", "--json", *NEAR)
    answers = [json.loads(line) for line in told.out.splitlines()]
    assert told.code == 0
    assert [(answer["question"], answer["refused"]) for answer in answers] == [
        (OFF_TOPIC, True),
        (ON_TOPIC, False),
    ]
    assert set(answers[0]) == {"question", "threshold", "refused", "sources", "candidates"}


def test_ask_reads_its_question_from_standard_input(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, f"{ON_TOPIC}\n")
    assert ragchat("ask", "-", *NEAR).code == 0


@pytest.mark.parametrize("command", ["ask", "search"])
def test_an_empty_question_is_usage(command: str, ragchat: Ragchat) -> None:
    assert ragchat(command, "  ").code == 2


def test_an_edit_shows_in_the_next_question(ragchat: Ragchat, notes: Path) -> None:
    assert ragchat("search", "quokka habitat", *NEAR).code == 1
    (notes / "animals.md").write_text("quokka habitat\n")
    assert ragchat("search", "quokka habitat", *NEAR, "--no-update").code == 1
    assert ragchat("search", "quokka habitat", *NEAR).code == 0


def test_nothing_to_do_is_quiet(ragchat: Ragchat) -> None:
    ragchat("index")
    assert ragchat("search", ON_TOPIC, *NEAR).err == ""


@pytest.mark.parametrize("prefix", ["house", "house/", "./house/le", "house/lease.md"])
def test_in_limits_the_search(prefix: str, ragchat: Ragchat, notes: Path) -> None:
    (notes / "household.md").write_text("The lease ends on 31 March 2027, says the other one.\n")
    told = ragchat("search", ON_TOPIC, *NEAR, "--in", prefix)
    assert told.code == 0
    assert "household.md" not in told.out


def test_a_scope_that_holds_nothing_is_a_mistake(ragchat: Ragchat) -> None:
    told = ragchat("search", ON_TOPIC, "--in", "hause/")
    assert told.code == 2
    assert "no note's name begins so" in told.err
    assert "hint: there are house/; to search for the words" in told.err


def test_a_folder_that_is_gone_still_answers_from_its_index(ragchat: Ragchat, notes: Path) -> None:
    ragchat("index")
    notes.rename(notes.with_name("elsewhere"))
    told = ragchat("search", ON_TOPIC, *NEAR, "-f", str(notes))
    assert told.code == 0
    assert "searching the index as it is" in told.err


def test_a_folder_that_was_never_there_is_set_up(ragchat: Ragchat) -> None:
    told = ragchat("ask", ON_TOPIC, "-f", "nowhere")
    assert (told.code, told.out) == (3, "")
    assert "hint: " in told.err


@pytest.mark.parametrize("arguments", [("ask", ON_TOPIC), ("search", ON_TOPIC), ("index",)])
def test_a_huge_folder_is_asked_about_first(arguments: tuple[str, ...], ragchat: Ragchat) -> None:
    told = ragchat(*arguments, "--set", "notes.confirm_files=1")
    assert (told.code, told.out) == (3, "")
    assert "more than 1 notes" in told.err
    assert "hint: ragchat index --yes -f " in told.err


def test_a_stale_index_is_set_up(ragchat: Ragchat) -> None:
    ragchat("index")
    told = ragchat("ask", ON_TOPIC, "--set", "chunking.size=300")
    assert told.code == 3
    assert "hint: ragchat index --rebuild" in told.err


def test_an_answer_is_kept_in_the_conversation_one_in_json_is_not(ragchat: Ragchat, notes: Path) -> None:
    ragchat("ask", ON_TOPIC, *NEAR)
    ragchat("ask", "What is the rent? The rent is 1,140", *NEAR, "--json")
    from ragchat.settings import Settings

    assert Workspace(notes, Settings()).conversation().questions() == (ON_TOPIC,)


def test_an_embedding_model_of_the_server_is_no_model_to_ask(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaTestServer(models=[TestModel("bge-m3", capabilities=("embedding",))]) as server:
        monkeypatch.setenv("RAGCHAT_OLLAMA_HOST", server.url)
        told = ragchat("ask", ON_TOPIC, *NEAR)
    assert told.code == 0
    assert "quoted word for word" in told.err
    assert server.count("/api/chat") == 0


def test_a_receipt_stands_under_an_answer_and_not_under_a_refusal(
    ragchat: Ragchat, server: OllamaTestServer
) -> None:
    answered = ragchat("ask", ON_TOPIC, *NEAR)
    assert re.search(r"^\d sources? · [\d,]+ of [\d,]+ tokens · \S+", answered.err, re.MULTILINE)
    assert "tokens" not in ragchat("ask", OFF_TOPIC, *NEAR).err


def test_a_sentence_that_its_source_does_not_say_is_told(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OllamaTestServer(
        answer="The lease ends on 31 March 2027 [1]. The rent is 9,999 a month [1]."
    ) as server:
        monkeypatch.setenv("RAGCHAT_OLLAMA_HOST", server.url)
        told = ragchat("ask", "The lease ends on 31 March 2027", "--threshold", "0.7")
        assert "not found in the source it cites: The rent is 9,999 a month [1]." in told.err
        assert "31 March" not in told.err.partition("not found")[2]
        answer = json.loads(
            ragchat("ask", "The lease ends on 31 March 2027", "--threshold", "0.7", "--json").out
        )
    assert [(support["numbers"], support["found"]) for support in answer["support"]] == [
        ([1], True),
        ([1], False),
    ]


def write_years(notes: Path) -> None:
    (notes / "work").mkdir(exist_ok=True)
    (notes / "work" / "2024-05-01 lease.md").write_text(
        "---\ntags: [tax]\n---\nThe lease ends on 31 March 2027.\n"
    )
    (notes / "work" / "2025-05-01 lease.md").write_text("The lease ends on 31 March 2027. #tax/late\n")


@pytest.mark.parametrize(
    ("typed", "options", "documents"),
    [
        ("in:work/ ", (), {"work/2024-05-01 lease.md", "work/2025-05-01 lease.md"}),
        ("", ("--in", "work"), {"work/2024-05-01 lease.md", "work/2025-05-01 lease.md"}),
        ("in:house/ in:work/ -tag:tax ", (), {"house/lease.md"}),
        ("tag:tax after:2025 ", (), {"work/2025-05-01 lease.md"}),
        ("", ("--tag", "tax", "--before", "2025"), {"work/2024-05-01 lease.md"}),
        ("before:2025 ", ("--in", "work/"), {"work/2024-05-01 lease.md"}),
    ],
)
def test_filters_choose_the_notes(
    typed: str, options: tuple[str, ...], documents: set[str], ragchat: Ragchat, notes: Path
) -> None:
    write_years(notes)
    told = ragchat("search", f"{typed}{ON_TOPIC}", *NEAR, *options, "--json")
    found = json.loads(told.out)
    assert {source["document"] for source in found["sources"]} | {
        other for source in found["sources"] for other in source.get("also_in", ())
    } == documents
    assert found["question"] == ON_TOPIC
    assert found["filters"]["notes"] >= len(documents)


def test_a_filtered_answer_says_what_was_searched(ragchat: Ragchat, notes: Path) -> None:
    write_years(notes)
    ragchat("index")
    total = json.loads(ragchat("status", "--json").out)["documents"]["indexed"]
    told = ragchat("ask", f"in:work/ {ON_TOPIC}", *NEAR)
    assert f"searched 2 of {total} notes (in:work/)" in told.err
    answer = json.loads(ragchat("ask", ON_TOPIC, *NEAR, "--in", "work/", "--tag", "tax", "--json").out)
    assert answer["question"] == ON_TOPIC
    assert answer["filters"] == {"text": "in:work/ tag:tax", "within": ["work/"], "tags": ["tax"], "notes": 2}
    assert answer["coverage"] == {"indexed": 2, "failed": 0, "stale": 0, "outside": total - 2}


def test_a_filtered_refusal_says_where_it_looked(
    ragchat: Ragchat, notes: Path, server: OllamaTestServer
) -> None:
    write_years(notes)
    told = ragchat("ask", f"in:work/ {OFF_TOPIC}", *NEAR)
    assert told.code == 1
    assert told.out == f'NO ANSWER: nothing under cosine distance 0.700 for "{OFF_TOPIC}"\n'
    assert "searched 2 of" in told.err
    assert "notes (in:work/)" in told.err
    told = ragchat("ask", f"in:work/ after:2026 {ON_TOPIC}", *NEAR)
    assert told.code == 1
    assert told.out == f'NO ANSWER: in:work/ after:2026 leaves no notes to search for "{ON_TOPIC}"\n'
    assert "searched 0 of" in told.err
    assert server.count("/api/chat") == 0


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("in:wrok/ x", "in:wrok/: no note's name begins so; did you mean work/"),
        ("tag:tex x", "tag:tex: no note has this tag; did you mean tax"),
        ("after:soon x", "after:soon is no date"),
        ("in:work/", "the question is empty"),
    ],
)
def test_a_filter_that_means_nothing_is_a_mistake(
    typed: str, words: str, ragchat: Ragchat, notes: Path
) -> None:
    write_years(notes)
    told = ragchat("ask", typed)
    assert told.code == 2
    assert told.out == ""
    assert words in told.err


def test_a_follow_up_keeps_the_filters_until_it_has_others(ragchat: Ragchat, notes: Path) -> None:
    write_years(notes)
    ragchat("ask", f"in:work/ {ON_TOPIC}", *NEAR)
    kept = json.loads(ragchat("ask", ON_TOPIC, *NEAR, "--follow-up", "--json").out)
    assert kept["filters"]["text"] == "in:work/"
    assert kept["follows"] == ON_TOPIC
    ragchat("ask", ON_TOPIC, *NEAR, "--follow-up")
    last = Workspace(notes, Settings()).conversation().turns()[-1]
    assert (last.question, last.follows) == (ON_TOPIC, f"in:work/ {ON_TOPIC}")
    third = json.loads(ragchat("ask", ON_TOPIC, *NEAR, "--follow-up", "--json").out)
    assert third["filters"]["text"] == "in:work/"
    others = json.loads(ragchat("ask", f"in:house/ {ON_TOPIC}", *NEAR, "--follow-up", "--json").out)
    assert others["filters"]["text"] == "in:house/"
    dropped = json.loads(ragchat("ask", f"in:/ {ON_TOPIC}", *NEAR, "--follow-up", "--json").out)
    assert dropped["coverage"]["outside"] == 0
    assert "filters" not in json.loads(ragchat("ask", ON_TOPIC, *NEAR, "--json").out)


def test_the_shell_completes_places_and_tags(ragchat: Ragchat, notes: Path) -> None:
    write_years(notes)
    ragchat("index")
    ask = program.get_command(click.Context(program), "ask")
    assert ask is not None
    context = click.Context(ask)
    context.params = {"folder": notes}
    parameters = {parameter.name: parameter for parameter in ask.params}
    for name, typed, wanted in [("within", "wo", "work/"), ("tags", "ta", "tax"), ("tags", "x", None)]:
        found = [item.value for item in parameters[name].shell_complete(context, typed)]
        assert found[:1] == ([wanted] if wanted else [])
