"""`python -m benchmarks [SUBJECT …]`: measure, print a table, write JSON."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import peers
from benchmarks.plan import Plan
from benchmarks.report import Row, as_json, as_table, machine_facts

SUBJECTS = {
    "start": "cold starts: --help, the first frame, one search beside local-semantic-search",
    "embedding": "passages and questions, beside the plain sentence-transformers loop",
    "updates": "ten thousand unchanged notes; one edited paragraph",
    "queries": "a question over 1 k to 1 M chunks: every part, opening, memory, growth",
    "library": "the same in PostgreSQL, beside the local index: parts, opening, a filter, loading, disk",
    "new": "two thousand new notes: until the first frame, and until the first answer",
    "screen": "key to paint while idle, indexing, streaming; leaving in mid-answer",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for; 0 also when a goal is missed, because the machine may be the reason."""
    given = _parser().parse_args(arguments)
    load = os.getloadavg()
    given.cache.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="ragchat-benchmarks-", dir=given.work))
    try:
        plan = Plan(
            sizes=given.sizes,
            files=given.files,
            texts=given.texts,
            rounds=given.rounds,
            work=work,
            cache=given.cache.resolve(),
            kept=None if given.keep is None else given.keep.resolve(),
            peers=None if given.no_peers else peers.install(given.cache.resolve()),
        )
        rows: list[Row] = []
        for subject in given.subjects or SUBJECTS:
            start = time.monotonic()
            measured = importlib.import_module(f"benchmarks.subjects.{subject}").measure(plan)
            print(f"\n## {subject} ({time.monotonic() - start:.0f} s)\n\n{as_table(measured)}", flush=True)
            rows += measured
            if given.json is not None:
                given.json.write_text(as_json(rows, machine_facts(load)), encoding="utf-8")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:12}{line}" for name, line in SUBJECTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Measures ragchat beside its peers.\n\nsubjects:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="default: all", type=_subject)
    parser.add_argument(
        "--sizes", type=_numbers, default=(1_000, 10_000, 100_000), help="chunks: 1000,100000"
    )
    parser.add_argument("--files", type=int, default=10_000, help="notes of the synthetic folder")
    parser.add_argument("--texts", type=int, default=128, help="passages to embed")
    parser.add_argument("--rounds", type=int, default=32, help="how often each contender is measured")
    parser.add_argument("--json", type=Path, help="write the rows there")
    parser.add_argument("--no-peers", action="store_true", help="measure ragchat and its floors alone")
    parser.add_argument("--cache", type=Path, default=_cache(), help="keeps the model and the peers")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the filled indexes of `queries` and `start` there, and use them",
    )
    parser.add_argument("--work", type=Path, help="where scratch is made (5 GB for a million chunks)")
    return parser


def _subject(name: str) -> str:
    if name not in SUBJECTS:
        raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(SUBJECTS)}")
    return name


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number.replace("_", "")) for number in text.split(","))


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ragchat-benchmarks"


if __name__ == "__main__":
    sys.exit(main())
