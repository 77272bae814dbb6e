"""Synthetic notes on disk with their index, made once for all subjects that need so many; kept if wished."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import Child
from benchmarks.plan import ROOT, Plan
from benchmarks.synthetic import Material, material_in, write_material

CHUNKS_PER_NOTE = 10

_DECIDING = (
    "benchmarks/folder.py",
    "benchmarks/notes.py",
    "benchmarks/synthetic.py",
    *(
        f"src/ragchat/index/{name}.py"
        for name in ("bm25", "packing", "postings", "segment", "segment_file", "shelf", "tables", "tokens")
    ),
)
"""What the notes and the files of their index follow from: a kept folder serves while none of it changes."""


@dataclass(frozen=True, slots=True)
class SyntheticFolder:
    """notes: the folder; home: what holds its index; question: one that finds something.

    material: the same chunks for other contenders. seconds: how long filling the index took.
    """

    notes: Path
    home: Path
    material: Material
    question: str
    seconds: float

    @property
    def chunks(self) -> int:
        """How many it holds."""
        return self.material.size

    @property
    def files(self) -> int:
        """How many notes they stand in."""
        return -(-self.chunks // CHUNKS_PER_NOTE)


def synthetic_folder(plan: Plan, chunks: int) -> SyntheticFolder:
    """The folder with so many chunks: that of this run, or one that an earlier run kept."""
    home = (plan.kept or plan.work) / f"{chunks}-chunks"
    whole = home / "whole.json"
    if not whole.exists() or json.loads(whole.read_text(encoding="utf-8"))["made_by"] != _stamp():
        shutil.rmtree(home, ignore_errors=True)
        (home / "notes").mkdir(parents=True)
        material = write_material(home, chunks)
        with Child("ragchat_index", environment=plan.environment(home)) as child:
            seconds = child.seconds(
                "build",
                **material.as_request(),
                folder=str(home / "notes"),
                on_disk=True,
                chunks_per_note=CHUNKS_PER_NOTE,
            )
        whole.write_text(json.dumps({"seconds": seconds, "made_by": _stamp()}), encoding="utf-8")
    material = material_in(home, chunks)
    question = json.loads(material.questions.read_text(encoding="utf-8"))[0]
    seconds = json.loads(whole.read_text(encoding="utf-8"))["seconds"]
    return SyntheticFolder(home / "notes", home, material, question, seconds)


def _stamp() -> str:
    digest = hashlib.sha256()
    for name in _DECIDING:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()[:12]
