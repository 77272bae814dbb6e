"""`python -m benchmarks.gate CORPORA`: learn the gate's weights, and judge them on corpora they never saw.

Each answerable question is asked of its folder as it is, and once more with the passages of its answer
hidden: a near miss whose every other passage is still there. Real near misses and off-topic questions are
added where a set has them. In the table each corpus is judged with weights learned on the others; what is
shipped is learned on all of them. `--write` puts it into the package.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.gate_fit import Side, learn
from benchmarks.hidden import HidingSnapshot
from ragchat.embedding.embedder import Embedder
from ragchat.evaluation.examination import load_folder_questions
from ragchat.evaluation.questions import Question
from ragchat.evaluation.statistics import area_under_curve, wilson_interval
from ragchat.index.protocol import Scope, Snapshot
from ragchat.paths import gate_path
from ragchat.retrieval.adaptive import FolderGate, Kind, Limits, fit_folder_gate
from ragchat.retrieval.calibration import folder_limits, off_topic_signals, off_topic_subjects
from ragchat.retrieval.off_topic import load_off_topic_questions, off_topic_asked
from ragchat.retrieval.search import Asked, asked_with
from ragchat.retrieval.signals import Signals
from ragchat.settings import RetrievalSettings, Settings

CORPORA = {
    "clapnq": ("clapnq", "ood-en"),
    "xquad-en": ("xquad-en",),
    "chunking-eval-split": ("chunking-eval-split", "ood-en"),
}
"""Folder of notes -> sets of questions. ood-en may be answered in xquad's articles."""
KINDS: tuple[Kind, ...] = ("late", "plain")
_EVERYWHERE = Scope()
_HEAD = """\
# How many spreads of the nearest distance one spread of a signal is worth (ragchat.retrieval.adaptive).
# Made by `python -m benchmarks.gate CORPORA --write` from {corpora}; docs/retrieval.md tells how good it is.
"""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One folder's questions by what they are, as signals of one kind.

    sides: "answerable", "hidden" (its answer hidden), "near", "far". off_topic: what calibrates the folder.
    """

    name: str
    limits: Limits
    off_topic: Sequence[Signals]
    sides: Mapping[str, Sequence[Signals]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; with --write renew the shipped weights."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate", description=__doc__)
    parser.add_argument("corpora", type=Path, help="the folder that holds clapnq, xquad-en, …")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ragchat-gate-") as work:
        os.environ["RAGCHAT_DATA_DIR"] = work
        read = [_read_corpus(given.corpora, name) for name in CORPORA]
    shipped = {}
    for kind in KINDS:
        corpora = [by_kind[kind] for by_kind in read]
        print(f"\n{kind}: each corpus judged with weights learned on the others")
        for corpus in corpora:
            others = [other for other in corpora if other is not corpus]
            _print_judged(corpus, kind, learn(_sides(others, kind)))
        shipped[kind] = learn(_sides(corpora, kind))
        print(f"  learned on all: {_shown(shipped[kind])}")
    if given.write:
        _write(shipped)
    return 0


def _read_corpus(root: Path, name: str) -> Mapping[Kind, Corpus]:
    from ragchat.answering.workspace import Workspace

    settings = Settings()
    folder = root / name / "corpus"
    workspace = Workspace(folder, settings)
    print(f"indexing {name} …", file=sys.stderr)
    workspace.update()
    index, embedder = workspace.index(), workspace.embedder()
    paths = [root / questions / "questions.jsonl" for questions in CORPORA[name]]
    questions = load_folder_questions(paths, folder, index, settings).questions
    corpus = read_corpus(name, index.snapshot(), embedder, questions)
    workspace.close()
    return corpus


def read_corpus(
    name: str, snapshot: Snapshot, embedder: Embedder, questions: Sequence[Question]
) -> Mapping[Kind, Corpus]:
    """The signals of all questions, by kind."""
    off_topic = off_topic_asked(embedder, load_off_topic_questions())
    subjects = off_topic_subjects(snapshot, off_topic)
    limits = folder_limits(off_topic)
    held = _chunks_by_document(snapshot, embedder)
    groups: dict[str, list[tuple[Asked, Snapshot]]] = {"answerable": [], "hidden": [], "near": [], "far": []}
    for question in questions:
        asked = asked_with(embedder, question.text)
        if not question.answerable:
            groups[question.nearness or "far"].append((asked, snapshot))
            continue
        groups["answerable"].append((asked, snapshot))
        hidden = {
            chunk_id
            for gold in question.golds
            for chunk_id, start, end in held.get(gold.document, ())
            if start < gold.end and gold.start < end
        }
        groups["hidden"].append((asked, cast("Snapshot", HidingSnapshot(snapshot, hidden))))
    sides = {
        side: [off_topic_signals(where, [asked], RetrievalSettings().candidates) for asked, where in pairs]
        for side, pairs in groups.items()
    }
    calibrating = off_topic_signals(snapshot, subjects, RetrievalSettings().candidates)
    return {
        kind: Corpus(
            name,
            limits,
            calibrating[kind],
            {side: [signals[kind][0] for signals in found] for side, found in sides.items() if found},
        )
        for kind in KINDS
    }


def _chunks_by_document(snapshot: Snapshot, embedder: Embedder) -> Mapping[str, list[tuple[int, int, int]]]:
    everything = snapshot.dense(embedder.embed_question("?"), snapshot.chunk_count, _EVERYWHERE)
    ids = [hit.chunk_id for hit in everything]
    held: dict[str, list[tuple[int, int, int]]] = {}
    for chunk_id, chunk in zip(ids, snapshot.chunks(ids), strict=True):
        held.setdefault(chunk.document, []).append((chunk_id, chunk.start, chunk.end))
    return held


def _sides(corpora: Sequence[Corpus], kind: Kind) -> list[Side]:
    return [
        Side(fit_folder_gate(kind, corpus.off_topic, corpus.limits), signals, side == "answerable")
        for corpus in corpora
        for side, signals in corpus.sides.items()
    ]


def _print_judged(corpus: Corpus, kind: Kind, weights: Mapping[str, float]) -> None:
    gate = fit_folder_gate(kind, corpus.off_topic, corpus.limits, weights)
    margins = {side: _margins(gate, signals) for side, signals in corpus.sides.items()}
    ours = margins.pop("answerable")
    print(f"  {corpus.name}: threshold {gate.base:.3f}, weights {_shown(weights)}")
    print(f"    refused answerable {_share([margin < 0 for margin in ours])}")
    for side, theirs in margins.items():
        area = area_under_curve(ours, theirs)
        if area is None:
            continue
        at_two, at_five = np.quantile(ours, 0.02), np.quantile(theirs, 0.95)
        print(
            f"    {side:7} AUC {area.value:.3f} [{area.low:.3f}, {area.high:.3f}]"
            f"  passing {_share([margin >= 0 for margin in theirs])}"
            f"  at 2 % lost {_share([bool(margin > at_two) for margin in theirs])}"
            f"  at 5 % passing lost {_share([bool(margin < at_five) for margin in ours])}"
        )


def _margins(gate: FolderGate, signals: Sequence[Signals]) -> list[float]:
    """How far each question's nearest passage lies within its threshold."""
    return [gate.value(gate.parts(one)) - one.nearest for one in signals]


def _share(hits: Sequence[bool]) -> str:
    low, high = wilson_interval(sum(hits), len(hits))
    return f"{sum(hits) / len(hits):.1%} [{low:.1%}, {high:.1%}]"


def _shown(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())


def _write(shipped: Mapping[Kind, Mapping[str, float]]) -> None:
    lines = [_HEAD.format(corpora=", ".join(CORPORA))]
    for kind, weights in shipped.items():
        lines += [f"[{kind}]", *(f'"{name}" = {weight:.2f}' for name, weight in weights.items()), ""]
    gate_path().write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
