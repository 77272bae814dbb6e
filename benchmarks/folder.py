"""Ten thousand notes on disk with their index, made once in a run for all subjects that need them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import Child
from benchmarks.plan import Plan
from benchmarks.synthetic import write_material

CHUNKS_PER_NOTE = 10


@dataclass(frozen=True, slots=True)
class SyntheticFolder:
    """notes: the folder; home: what holds its index; question: one that finds something."""

    notes: Path
    home: Path
    files: int
    chunks: int
    question: str


def synthetic_folder(plan: Plan) -> SyntheticFolder:
    """The folder with `plan.files` notes."""
    home = plan.work / "folder"
    notes = home / "notes"
    chunks = plan.files * CHUNKS_PER_NOTE
    material_folder = plan.work / "folder-material"
    if not notes.exists():
        notes.mkdir(parents=True)
        material = write_material(material_folder, chunks)
        with Child("ragchat_index", environment=plan.environment(home)) as child:
            child.ask(
                "build",
                **material.as_request(),
                folder=str(notes),
                on_disk=True,
                chunks_per_note=CHUNKS_PER_NOTE,
            )
    question = json.loads((material_folder / "questions.json").read_text(encoding="utf-8"))[0]
    return SyntheticFolder(notes, home, plan.files, chunks, question)
