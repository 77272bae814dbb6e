"""Texts embedded: ours beside the plain sentence-transformers loop, and the processor's limit."""

from __future__ import annotations

import json
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from benchmarks.child import Child
from benchmarks.children.matrix_product import FLOPS
from benchmarks.plan import ROOT, Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Series, take_turns
from ragchat.documents.document import FailedDocument
from ragchat.documents.reader import read_document

SUBJECT = "embedding"

_QUESTION = "How much notice must I give before the lease ends?"
_CORPUS = ROOT.parent / "shared" / "corpora" / "clapnq" / "corpus"
_CHARACTERS = 512
_LAYERS, _HIDDEN, _INNER = 6, 384, 1536
_PRODUCTS = 60


def measure(plan: Plan) -> list[Row]:
    """The same texts for all, in one process each, in turns."""
    texts = passages(plan.texts)
    path = plan.work / "texts.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    environment = plan.environment(plan.work / "embedding")
    with ExitStack() as stack:
        loop = stack.enter_context(Child("sentence_transformers_loop", environment=environment))
        default = stack.enter_context(Child("ragchat_embedder", environment=environment))
        both = stack.enter_context(Child("ragchat_embedder", environment=environment))
        rounded = stack.enter_context(Child("ragchat_embedder", environment=environment))
        product = stack.enter_context(Child("matrix_product", environment=environment))
        loop.ask("open", texts=str(path))
        lengths = default.ask("open", texts=str(path), settings={})["lengths"]
        both.ask("open", texts=str(path), settings={"threads": 2})
        rounded.ask("open", texts=str(path), settings={"threads": 2, "precision": "int8"})
        rounds = max(3, plan.rounds // 6)
        turns = take_turns(
            {
                "loop": lambda _: loop.seconds("passages"),
                "default": lambda _: default.seconds("passages"),
                "both": lambda _: both.seconds("passages"),
                "int8": lambda _: rounded.seconds("passages"),
                "product": lambda _: product.seconds("multiply", times=_PRODUCTS),
            },
            rounds,
        )
        asked = take_turns(
            {
                "loop": lambda _: loop.seconds("question", question=_QUESTION),
                "default": lambda _: default.seconds("question", question=_QUESTION),
            },
            plan.rounds,
            warm_up=3,
        )
        cosine = _smallest_cosine(plan.work, loop, default)
    return [
        *_rows_of_passages(lengths, turns, cosine),
        row_of(SUBJECT, "one question", "sentence-transformers", asked["loop"]),
        row_of(SUBJECT, "one question", "ragchat", asked["default"], against=("its", asked["loop"])),
    ]


def _rows_of_passages(lengths: list[int], turns: dict[str, Series], cosine: float) -> list[Row]:
    case = f"{len(lengths)} passages of {sum(lengths) / len(lengths):.0f} tokens"
    loop = turns["loop"]
    faster, rounded = loop.over(turns["both"]), loop.over(turns["int8"])
    needed = sum(_flops(length) for length in lengths)
    speed = FLOPS * _PRODUCTS / turns["product"].median
    floor = needed / speed
    rows = [row_of(SUBJECT, case, "sentence-transformers, its defaults", loop, "s")]
    ours = {
        "default": "ragchat, as it indexes",
        "both": "ragchat, two threads",
        "int8": "ragchat, two threads in int8",
    }
    for name, label in ours.items():
        rows.append(row_of(SUBJECT, case, label, turns[name], "s", against=("loop", loop)))
    for name, label in {"loop": "sentence-transformers", **ours}.items():
        seconds = turns[name].median
        note = f"{sum(lengths) / seconds:,.0f} tokens/s"
        rows.append(Row(SUBJECT, case, label, len(lengths) / seconds, "passages/s", note=note))
    return [
        *rows,
        Row(
            SUBJECT, case, "times the loop's speed, two threads", faster, "×", goal="2.3 ×", met=faster >= 2.3
        ),
        Row(SUBJECT, case, "times the loop's speed, int8", rounded, "×", goal="3 ×", met=rounded >= 3),
        Row(
            SUBJECT,
            case,
            "smallest cosine to the loop's vectors",
            cosine,
            "",
            goal="0.9999",
            met=cosine >= 0.9999,
        ),
        Row(SUBJECT, case, "matrix product in fp32, all cores", speed / 1e9, "GFLOP/s"),
        Row(
            SUBJECT,
            case,
            "the limit: its products at that speed",
            floor,
            "s",
            note=f"{needed / len(lengths) / 1e9:.2f} GFLOP each; {loop.median / floor:.2f} × the loop",
        ),
    ]


def passages(count: int) -> list[str]:
    """So many pieces of 512 characters: from the shared corpus where it is, else from our own docs."""
    folder = _CORPUS if _CORPUS.is_dir() else ROOT
    found = [piece for path in sorted(folder.rglob("*.md"))[:200] for piece in _pieces(path)]
    return list(islice(cycle(found), count))


def _pieces(path: Path) -> list[str]:
    document = read_document(path, path.name, max_bytes=1_000_000)
    if isinstance(document, FailedDocument):
        return []
    text = " ".join(document.text.split())
    return [text[at : at + _CHARACTERS] for at in range(0, len(text) - _CHARACTERS // 2, _CHARACTERS)]


def _flops(tokens: int) -> float:
    """Multiplications and additions of one passage's matrix products.

    A layer has four products of hidden × hidden, two of hidden × inner, two of tokens × hidden.
    """
    weights = 4 * _HIDDEN * _HIDDEN + 2 * _HIDDEN * _INNER
    return 2.0 * _LAYERS * tokens * (weights + 2 * tokens * _HIDDEN)


def _smallest_cosine(work: Path, one: Child, other: Child) -> float:
    vectors = []
    for at, child in enumerate((one, other)):
        path = work / f"embedded-{at}.npy"
        child.ask("save", path=str(path))
        vectors.append(np.load(path).astype(np.float64))
    lengths = np.linalg.norm(vectors[0], axis=1) * np.linalg.norm(vectors[1], axis=1)
    return float(((vectors[0] * vectors[1]).sum(axis=1) / lengths).min())
