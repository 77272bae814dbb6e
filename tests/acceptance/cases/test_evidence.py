"""Cases 1-8, 12, 13, 27: what is evidence for a question, and that `[n]` is one thing everywhere."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.cases.conftest import Desk
from tests.ollama_server import Reply

pytestmark = pytest.mark.acceptance

COOKING = {
    "lasagne.md": "# Lasagne\n\nBake it at 190 degrees for 35 minutes, then let it rest.\n",
    "pancakes.md": "# Pancakes\n\nRest the batter for 15 minutes. Fry in butter until bubbles appear.\n",
    "pickles.md": "# Pickles\n\nThe brine has 5 % salt. A vine leaf keeps the cucumbers crisp.\n",
    "oven.md": "# Oven\n\nIt runs ten degrees too hot. Error E305 means the door is not locked.\n",
}
ON_TOPIC = "How long does the lasagne bake?"
SKY = "why is the sky blue"


def test_case_01_a_prime_number_of_cooking_notes(desk: Desk) -> None:
    desk.write(COOKING)
    question = "What is the largest prime number below one hundred?"
    answer = desk.ask(question)
    assert (answer["refused"], answer["answer"], answer["sources"]) == (True, None, [])
    assert answer["message"] == (
        f'NO ANSWER: nothing under cosine distance {answer["threshold"]:.3f} for "{question}"'
    )
    assert desk.server.requests == []
    said = desk.ragchat("ask", question)
    assert (said.code, said.out.strip()) == (1, answer["message"])
    assert desk.server.requests == []


def test_case_02_history_is_never_evidence(desk: Desk) -> None:
    desk.write(COOKING)
    first = desk.ragchat("ask", ON_TOPIC)
    assert first.code == 0
    assert desk.asked == 1
    second = desk.ragchat("ask", SKY)
    assert second.code == 1
    assert second.out.startswith("NO ANSWER: ")
    assert desk.asked == 1
    assert desk.ragchat("ask", "How long does the batter rest?").code == 0
    assert "lasagne bake" not in desk.prompt
    assert len(desk.server.received("/api/chat")[-1].body["messages"]) == 2


def test_case_03_hello(desk: Desk) -> None:
    desk.write(COOKING)
    for greeting in ("hello", "Hello!", "hi there", "こんにちは", "thanks"):
        answer = desk.ask(greeting)
        assert (answer["refused"], answer["answer"], answer["sources"]) == (True, None, []), greeting
    assert desk.asked == 0


def test_case_04_gibberish_is_clearly_farther_than_a_hit(desk: Desk) -> None:
    desk.write(COOKING)
    real = desk.ask(ON_TOPIC)
    assert not real["refused"]
    for words in ("flurbnax gribblewock zanthipole", "xkcd qwrtz plmbh", "lorem blorf snizzle wug"):
        answer = desk.ask(words)
        assert answer["refused"]
        assert answer["nearest"] > real["nearest"] + 0.2
    assert desk.asked == 1


def test_case_05_panel_prompt_and_link_agree(desk: Desk) -> None:
    desk.write(
        {
            "lease.md": "# Lease\n\nThe lease of the flat ends on 31 March 2027.\n",
            "flat.md": "# Flat\n\nThe flat has two rooms; the lease was signed in the kitchen.\n",
        }
    )
    question = "When does the lease of the flat end?"
    answer = desk.ask(question, "--threshold", "1.0")
    panel = answer["sources"]
    assert [source["document"] for source in panel] == ["lease.md", "flat.md"]
    prompted = desk.prompt_sources()
    assert len(prompted) == len(panel)
    for source, body in zip(panel, prompted, strict=True):
        assert body.startswith(f"File: {source['document']}\n")
        assert body.endswith(source["quote"])
    said = desk.ragchat("ask", question, "--threshold", "1.0")
    assert f"[1] lease.md{panel[0]['locator']}" in said.out
    assert desk.ragchat("show", f"lease.md{panel[0]['locator']}").out == panel[0]["quote"]


def test_case_06_every_number_resolves(desk: Desk) -> None:
    harbour = "The harbour master's office opens at {}. Boats over {} metres pay at the {} window."
    desk.write(
        {
            "north/harbour.md": "# Harbour\n\n"
            + "\n\n".join(f"## Pier {n}\n\n{harbour.format(n, n + 3, 'red')}" for n in (1, 2, 3)),
            "south/harbour.md": "# Harbour\n\n"
            + "\n\n".join(f"## Pier {n}\n\n{harbour.format(n, n + 9, 'blue')}" for n in (7, 8)),
        }
    )
    cited = " ".join(f"Claim {n} [{n}]." for n in (1, 2, 3, 4, 5, 9))
    desk.server.reply = Reply([cited])
    answer = desk.ask(
        "When does the harbour master's office open?", "--threshold", "1", "--set", "retrieval.sources=5"
    )
    assert len(answer["sources"]) == 5
    assert {source["document"] for source in answer["sources"]} == {"north/harbour.md", "south/harbour.md"}
    assert answer["invalid_citations"] == [9]
    for source, body in zip(answer["sources"], desk.prompt_sources(), strict=True):
        assert source["cited"]
        assert desk.ragchat("show", source["document"] + source["locator"]).out == source["quote"]
        assert body.startswith(f"File: {source['document']}\n")
        assert body.endswith(source["quote"])
        assert source["section"].rpartition(" > ")[2] in body


def test_case_07_a_folder_filter_keeps_the_threshold(desk: Desk) -> None:
    desk.write({f"kitchen/{name}": text for name, text in COOKING.items()})
    desk.write({"house/lease.md": "# Lease\n\nThe lease of the flat ends on 31 March 2027.\n"})
    question = "When does the lease of the flat end?"
    inside = desk.ask(question, "--in", "house/")
    assert [source["document"] for source in inside["sources"]] == ["house/lease.md"]
    beside = desk.ask(question, "--in", "kitchen/")
    assert beside["refused"]
    assert beside["candidates"]
    assert all(candidate["document"].startswith("kitchen/") for candidate in beside["candidates"])
    assert all(candidate["distance"] > beside["threshold"] for candidate in beside["candidates"])
    assert beside["threshold"] <= inside["threshold"]
    assert desk.asked == 1


@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        (["<", "thought", ">", "secret plan", "</", "thought", ">", "In 2027 [1]."], "In 2027 [1]."),
        (["<", "think", ">\n", "secret plan\n", "</think", ">\n\nIn 2027 [1]."], "In 2027 [1]."),
        (["secret plan ", "</th", "ink>", "In 2027 [1]."], "In 2027 [1]."),
        (["<think>", "secret plan without end"], None),
    ],
    ids=["in pieces", "think in pieces", "a lone end", "unclosed"],
)
def test_case_08_reasoning_is_never_shown(desk: Desk, steps: list[str], shown: str | None) -> None:
    desk.write({"lease.md": "# Lease\n\nThe lease of the flat ends in 2027.\n"})
    desk.server.reply = Reply(steps)
    said = desk.ragchat("ask", "When does the lease end?")
    assert "secret plan" not in said.out + said.err
    assert said.out.startswith(shown) if shown else said.code == 4
    answer = desk.ragchat("ask", "--json", "When does the lease end?").json
    assert "secret plan" not in str(answer)
    assert (answer["answer"] or None) == shown


def test_case_12_two_words_of_a_japanese_note(desk: Desk) -> None:
    desk.write(
        {
            "旅券.md": "# 旅券\n\n旅券の更新は有楽町の窓口で行う。手数料は一万六千円。\n",
            "庭.md": "# 庭\n\nトマトは三月の第二週に室内で種をまく。\n",
            "家.md": "# 家\n\n家賃は毎月二十七日に引き落とされる。\n",
        }
    )
    for query, document in (("旅券 手数料", "旅券.md"), ("トマト 種", "庭.md"), ("家賃 引き落とし", "家.md")):
        found = desk.search(query)
        assert not found["refused"], query
        assert found["sources"][0]["document"] == document


def test_case_13_queries_that_break_search_syntax(desk: Desk) -> None:
    desk.write(COOKING)
    desk.write(
        {
            "agents.md": "# Agents\n\nOur multi-agent setup has a planner and two workers.\n",
            "ubuntu.md": "# Server\n\nThe server runs Ubuntu 20.04 until spring.\n",
            "rules.md": "# Rules\n\nPlease don't feed the cat after ten.\n",
            "languages.md": "# Languages\n\nThe parser is written in C++ and a bit of Lua.\n",
            "boiler.md": "# Boiler\n\nError E1234 means that the water pressure is low.\n",
        }
    )
    wanted = {"multi-agent": "agents.md", "20.04": "ubuntu.md", "don't": "rules.md"}
    wanted |= {"C++": "languages.md", "E1234": "boiler.md"}
    for query, document in wanted.items():
        found = desk.search(query)
        assert found["candidates"][0]["document"] == document, query
        said = desk.ragchat("search", query)
        # Found, or refused by distance and offered by name.
        assert said.code == 0 or f"{document}#char=" in said.err, query
    for query in ('"', "' OR 1=1 --", "AND", "NEAR(", "*", "(", "lasagne*", "col:umn", "?", "--", "\\", "%s"):
        said = desk.ragchat("search", "--json", "--", query)
        assert said.code in (0, 1), (query, said.err)


def test_case_27_keywords_need_not_all_be_there(desk: Desk) -> None:
    desk.write(COOKING)
    desk.write(
        {
            "errands.md": "# Errands\n\nPassport office: 12 Harbour Road, room 4, mornings only.\n",
            "travel.md": "# Travel\n\nThe ferry to Aarhus leaves at nine. Bring the blue folder.\n",
        }
    )
    answer = desk.ask("what is the passport office address?")
    assert answer["sources"][0]["document"] == "errands.md"
    assert re.search("12 Harbour Road", desk.prompt_sources()[0])
