"""Cold starts: `--help`, the first frame, and one `search` on a warm index."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks.folder import CHUNKS_PER_NOTE, synthetic_folder
from benchmarks.lss import LocalSemanticSearch
from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Measurement, take_turns
from benchmarks.terminal import Terminal

SUBJECT = "start"

_IMPORT = "from textual.app import App; import os; os.write(1, b'ready')"
_SCREEN = (
    "from pathlib import Path; from ragchat.settings import Settings; from ragchat.tui import run;"
    "run(Path({folder!r}), Settings())"
)
_GOAL = "0.6 s, no torch"
_HEAVY = ("torch", "sentence_transformers")


def measure(plan: Plan) -> list[Row]:
    """Each beside what it cannot be faster than, or beside a peer."""
    return [*_help(plan), *_first_frame(plan), *_search(plan)]


def _help(plan: Plan) -> list[Row]:
    environment = plan.environment(plan.work / "help")
    turns = take_turns(
        {
            "python": _process([sys.executable, "-c", "pass"], environment),
            "help": _process([sys.executable, "-m", "ragchat", "--help"], environment),
        },
        plan.rounds,
    )
    return [
        row_of(SUBJECT, "help", "python -c pass", turns["python"]),
        row_of(SUBJECT, "help", "ragchat --help", turns["help"], against=("python", turns["python"])),
    ]


def _first_frame(plan: Plan) -> list[Row]:
    home = plan.work / "first-frame"
    notes = home / "notes"
    notes.mkdir(parents=True)
    (notes / "a.md").write_text("# A note\n\nWith a few words.\n", encoding="utf-8")
    environment = plan.environment(home)
    screen = _SCREEN.format(folder=str(notes))
    turns = take_turns(
        {
            "import": lambda _: _until([sys.executable, "-c", _IMPORT], environment, "ready"),
            "frame": lambda _: _until([sys.executable, "-c", screen], environment, "Ask your notes"),
            "program": lambda _: _until(
                [sys.executable, "-m", "ragchat", str(notes)], environment, "Ask your notes"
            ),
        },
        plan.rounds,
    )
    ratio = turns["frame"].over(turns["import"])
    against = ("import", turns["import"])
    return [
        row_of(SUBJECT, "first frame", "from textual.app import App", turns["import"]),
        row_of(
            SUBJECT,
            "first frame",
            "ragchat's screen",
            turns["frame"],
            against=against,
            goal="1.3 × import",
            met=ratio <= 1.3,
        ),
        row_of(
            SUBJECT,
            "first frame",
            "`ragchat FOLDER`, command line included",
            turns["program"],
            against=against,
        ),
    ]


def _search(plan: Plan) -> list[Row]:
    made = synthetic_folder(plan, plan.files * CHUNKS_PER_NOTE)
    environment = plan.environment(made.home)
    command = [sys.executable, "-m", "ragchat", "search", made.question, "-f", str(made.notes), "--json"]
    _must_find(command, environment)
    contenders = {
        "import": _process([sys.executable, "-c", "import numpy, onnxruntime, tokenizers"], environment),
        "search": _process(command, environment),
        "as it is": _process([*command, "--no-update"], environment),
    }
    case = f"search, {made.chunks:,} chunks in {made.files:,} notes"
    with LocalSemanticSearch.beside(plan, made) as peer:
        if peer is not None:
            contenders["lss"] = _process(peer.command(made.question), peer.environment)
        turns = take_turns(contenders, max(5, plan.rounds // 2))
    searched = turns["search"]
    loaded = [name for name in _HEAVY if name in _modules(command, environment)]
    rows = [
        row_of(SUBJECT, case, "import numpy, onnxruntime, tokenizers", turns["import"]),
        row_of(
            SUBJECT,
            case,
            "ragchat search",
            searched,
            goal=_GOAL if made.chunks == 100_000 else "",
            met=searched.median <= 0.6 and not loaded if made.chunks == 100_000 else None,
            note=f"loads {', '.join(loaded)}" if loaded else "",
        ),
        row_of(SUBJECT, case, "ragchat search --no-update", turns["as it is"]),
    ]
    if "lss" in turns:
        ratio = searched.over(turns["lss"])
        rows.append(
            row_of(
                SUBJECT, case, "local-semantic-search", turns["lss"], note="its embedding answered at once"
            )
        )
        rows.append(
            row_of(
                SUBJECT,
                case,
                "ragchat search",
                searched,
                against=("local-semantic-search", turns["lss"]),
                goal="half of it",
                met=ratio <= 0.5,
            )
        )
    return rows


def _process(command: Sequence[str], environment: Mapping[str, str]) -> Measurement:
    def run(_: int) -> float:
        start = time.perf_counter()
        subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        return time.perf_counter() - start

    return run


def _must_find(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Also the run that calibrates the threshold. Raises RuntimeError when it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not json.loads(done.stdout)["candidates"]:
        raise RuntimeError(f"ragchat search failed: {done.stderr[-500:]}")


def _modules(command: Sequence[str], environment: Mapping[str, str]) -> set[str]:
    """What the same command imports."""
    told = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return {line.rpartition("|")[2].strip() for line in told.stderr.splitlines() if "|" in line}


def _until(command: Sequence[str], environment: Mapping[str, str], sign: str) -> float:
    with Terminal(command, environment) as terminal:
        return terminal.wait_for(sign) - terminal.started
