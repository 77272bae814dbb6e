"""Cases 9-11 and 14-21: files, folders and the index, as they are met."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.cases.conftest import Desk
from tests.ollama_server import TestModel

pytestmark = pytest.mark.acceptance

PROGRAM = Path(sys.executable).parent / "ragchat"
LEASE = {"house/lease.md": "# Lease\n\nThe lease of the flat ends on 31 March 2027.\n"}
QUESTION = "When does the lease of the flat end?"


def test_case_09_a_cp1252_file_among_good_ones(desk: Desk) -> None:
    desk.write(LEASE)
    dash = "# Ferry\n\nThe ferry leaves at nine \u2014 tickets are sold on board, \u20ac4 each."
    desk.write({"ferry.md": dash.encode("cp1252"), "noise.md": bytes(range(256)) * 40})
    assert b"\x97" in (desk.notes / "ferry.md").read_bytes()
    said = desk.ragchat("index", "--json")
    told = said.json
    assert (said.code, told["documents"]["indexed"]) == (1, 2)
    assert [failure["document"] for failure in told["failures"]] == ["noise.md"]
    assert told["failures"][0]["reason"]
    found = desk.search("When does the ferry leave?")["sources"][0]
    assert (found["document"], found["quote"]) == ("ferry.md", dash[found["start"] : found["end"]])
    assert "nine \u2014 tickets" in found["quote"]


def test_case_10_a_japanese_name_under_an_ascii_locale(desk: Desk) -> None:
    text = "# 鍵\n\n合鍵は隣の田中さんに預けてある。\n"
    desk.write({"テスト.md": text})
    poor = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [str(PROGRAM), "search", "合鍵", "--json", "--threshold", "2", "-f", str(desk.notes)]
    told = subprocess.run(command, env={**os.environ, **poor}, capture_output=True, timeout=60, check=False)
    assert told.returncode == 0, told.stderr
    (source,) = json.loads(told.stdout)["sources"]
    assert source["document"] == "テスト.md"
    shown = subprocess.run(
        [str(PROGRAM), "show", source["document"] + source["locator"], "--json", "-f", str(desk.notes)],
        env={**os.environ, **poor},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["text"] == source["quote"] == text[source["start"] : source["end"]]


def test_case_11_a_crlf_file_with_the_answer_on_line_200(desk: Desk) -> None:
    lines = [f"Entry {number} is about the harbour at low tide." for number in range(1, 320)]
    lines[199] = "The spare key of the boat shed hangs behind the blue oil can."
    desk.write({"log.txt": "\r\n".join(lines).encode()})
    question = "Where does the spare key of the boat shed hang?"
    source = desk.search(question)["sources"][0]
    on_disk = (desk.notes / "log.txt").read_bytes().decode()
    quote = on_disk[source["start"] : source["end"]]
    assert quote == source["quote"]
    assert lines[199] in quote
    first = on_disk[: source["start"]].count("\n") + 1
    last = on_disk[: source["end"]].count("\n") + 1
    assert first <= 200 <= last
    assert f"L{first}-{last}" in desk.ragchat("search", question).out


def test_case_14_front_matter_is_no_section(desk: Desk) -> None:
    desk.write(
        {
            "trip.md": "---\n# not a heading: a comment\ntitle: Trip\nstars: 1\n---\n\n"
            "The hostel in Aarhus keeps luggage until six.\n",
            "plan.md": "---\nkey: 1\n---\nThe ferry to Samso takes bicycles for free.\n",
        }
    )
    for question in ("Until when does the hostel keep luggage?", "Does the ferry take bicycles?"):
        (source,) = desk.search(question, "--set", "retrieval.sources=1")["sources"]
        assert source["section"] == ""
        assert "---" not in source["quote"]
        assert "key" not in source["quote"]
        assert "comment" not in source["quote"]


def test_case_15_a_note_with_a_huge_picture_in_it(desk: Desk) -> None:
    picture = "iVBORw0KGgoAAAANSUhEUgAA/+8v" * 90_000
    assert len(picture) > 2_500_000
    desk.write(
        {
            "board.md": "# Board\n\nThe whiteboard says: ship on Friday.\n\n"
            f"![board](data:image/png;base64,{picture})\n\nErase it on Monday.\n"
        }
    )
    told = desk.ragchat("index", "--json").json
    assert told["documents"]["indexed"] == 1
    assert told["chunks"] <= 5
    quotes = [source["quote"] for source in desk.search("What does the whiteboard say?")["sources"]]
    assert "ship on Friday" in quotes[0]


def test_case_16_a_moved_note(desk: Desk) -> None:
    desk.write(LEASE)
    desk.write({"garden.md": "# Garden\n\nTomatoes are sown in the second week of March.\n"})
    assert desk.ragchat("index").code == 0
    (desk.notes / "archive").mkdir()
    (desk.notes / "house/lease.md").rename(desk.notes / "archive/contract.md")
    told = desk.ragchat("index", "--json").json
    assert (told["documents"]["moved"], told["chunks_embedded"]) == (1, 0)
    assert desk.search(QUESTION)["sources"][0]["document"] == "archive/contract.md"


def test_case_17_the_folder_is_unmounted_or_empty(desk: Desk) -> None:
    desk.write(LEASE)
    assert desk.ragchat("index").code == 0
    kept = desk.notes.with_name("kept")
    desk.notes.rename(kept)
    gone = desk.ragchat("search", "--json", QUESTION)
    assert gone.json["sources"][0]["document"] == "house/lease.md"
    assert "is not there" in gone.err
    desk.notes.mkdir()
    empty = desk.ragchat("index")
    assert "kept" in empty.err
    assert desk.ragchat("status", "--json").json["documents"]["indexed"] == 1
    assert desk.search(QUESTION)["sources"][0]["document"] == "house/lease.md"
    desk.notes.rmdir()
    kept.rename(desk.notes)
    assert desk.ragchat("index", "--json").json["chunks_embedded"] == 0


def test_case_18_links_to_ancestors(desk: Desk) -> None:
    desk.write(LEASE)
    (desk.notes / "man").symlink_to(".")
    (desk.notes / "house/up").symlink_to("..")
    (desk.notes / "house/far").symlink_to(desk.notes.parent)
    (desk.notes / "again.md").symlink_to("house/lease.md")
    (desk.notes / "a").symlink_to("b")
    (desk.notes / "b").symlink_to("a")
    assert desk.ragchat("index", "--json").json["documents"]["indexed"] == 1
    candidates = desk.search(QUESTION)["candidates"]
    assert [candidate["document"] for candidate in candidates] == ["house/lease.md"]


def test_case_19_a_link_out_of_the_folder(desk: Desk, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "diary.md").write_text("# Secret\n\nThe lease of the flat is a forgery.\n")
    desk.write(LEASE)
    (desk.notes / "x.md").symlink_to("/etc/passwd")
    (desk.notes / "y.md").symlink_to(secret / "diary.md")
    (desk.notes / "z").symlink_to(secret)
    told = desk.ragchat("index", "--json").json
    assert (told["documents"]["indexed"], told["skipped"]) == (1, {"link out of the folder": 3})
    found = desk.search("Was anything forged?", "--threshold", "2")
    assert "forgery" not in json.dumps(found["sources"])
    assert [candidate["document"] for candidate in found["candidates"]] == ["house/lease.md"]


def test_case_20_killed_in_mid_index(desk: Desk) -> None:
    desk.write({f"log/{n}.md": f"# Note {n}\n\n" + f"Entry {n} tells of low tide. " * 8 for n in range(60)})
    desk.write(LEASE)
    command = [str(PROGRAM), "index", "-f", str(desk.notes)]
    killed = 0
    for _ in range(3):
        indexing = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.6)
        indexing.kill()
        killed += indexing.wait() == -signal.SIGKILL
    assert killed
    before = desk.ragchat("status", "--json").json
    assert before["documents"]["stale"] == 0
    said = desk.ragchat("index", "--json")
    assert (said.code, said.json["documents"]["indexed"], said.json["complete"]) == (0, 61, True)
    after = desk.search(QUESTION)
    assert desk.ragchat("index", "--rebuild").code == 0
    fresh = desk.search(QUESTION)
    assert [(c["document"], c["start"]) for c in after["sources"]] == [
        (c["document"], c["start"]) for c in fresh["sources"]
    ]
    assert after["sources"][0]["distance"] == pytest.approx(fresh["sources"][0]["distance"], abs=1e-5)


def test_case_20_an_embedder_that_fails_for_a_while(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.server.models["embedder:latest"] = TestModel("embedder", capabilities=("embedding",))
    monkeypatch.setenv("RAGCHAT_EMBEDDING_MODEL", "ollama:embedder")
    desk.write(LEASE)
    assert desk.ragchat("index").code == 0
    desk.write({"garden.md": "# Garden\n\nTomatoes are sown in the second week of March.\n"})
    embedder = desk.server.models.pop("embedder:latest")
    failing = desk.ragchat("index")
    assert failing.code != 0
    assert "Traceback" not in failing.err
    status = desk.ragchat("status", "--json").json["documents"]
    assert (status["indexed"], status["failed"]) == (1, 0)
    desk.server.models["embedder:latest"] = embedder
    again = desk.ragchat("index", "--json")
    assert (again.code, again.json["documents"]["added"]) == (0, 1)


def test_case_21_another_embedding_model(desk: Desk) -> None:
    for name, dimensions in {"same": 384, "small": 96, "first": 384}.items():
        desk.server.models[f"{name}:latest"] = TestModel(
            name, capabilities=("embedding",), dimensions=dimensions
        )
    desk.write(LEASE)
    assert desk.ragchat("index", "--set", "embedding.model=ollama:first").code == 0
    for name in ("same", "small"):
        for command in (("search", QUESTION), ("ask", QUESTION), ("index",)):
            said = desk.ragchat(*command, "--set", f"embedding.model=ollama:{name}")
            assert said.code == 3, said.err
            assert "first" in said.err
            assert name in said.err
            assert "--rebuild" in said.err
            assert said.out == ""
    status = desk.ragchat("status", "--json", "--set", "embedding.model=ollama:small").json
    assert (status["documents"]["indexed"], status["documents"]["stale"]) == (0, 1)
    assert desk.ragchat("index", "--rebuild", "--set", "embedding.model=ollama:small").code == 0
    assert not desk.search(QUESTION, "--set", "embedding.model=ollama:small", "--threshold", "0.9")["refused"]
    assert desk.ragchat("search", QUESTION).code == 3
