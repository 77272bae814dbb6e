"""Whatever happened to the folder, an index brought up to date equals one made anew."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from ragchat.index.store import SqliteIndex, open_index
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer, write
from tests.index.notes import FailingEmbedder

NAMES = st.sampled_from(["a.md", "b.md", "A.md", "caf\u00e9.md", "cafe\u0301.md", "in/a.md", "in/deep/b.txt"])
TEXTS = st.sampled_from(
    [
        "",
        "# Lease\n\nIt ends in March.",
        "# Lease\n\nIt ends in April.",
        "# Cats\n\nThey sleep.\n\n## Dogs\n\nThey bark at poison.",
        "just poison",
        "just words",
        "\x00\x01\x02",
    ]
)


class IncrementalIndex(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "notes"
        self.index: SqliteIndex = open_index(self.home / "data")
        self.ticks = itertools.count(10**18, 10**10)

    @initialize()
    def start(self) -> None:
        write(self.folder, {"always.md": "# Here\n\nA folder that is empty keeps its index."})
        self.update()

    @rule(name=NAMES, text=TEXTS)
    def edit(self, name: str, text: str) -> None:
        write(self.folder, {name: text})
        tick = next(self.ticks)
        os.utime(self.folder / name, ns=(tick, tick))

    @rule(name=NAMES, text=TEXTS)
    def edit_just_now(self, name: str, text: str) -> None:
        """Times as they come, often the same for two edits."""
        write(self.folder, {name: text})

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    @rule(old=NAMES, new=NAMES)
    def move(self, old: str, new: str) -> None:
        if (self.folder / old).exists():
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / old).rename(self.folder / new)

    @rule(old=NAMES, new=NAMES)
    def copy(self, old: str, new: str) -> None:
        if (self.folder / old).exists() and old != new:
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.folder / old, self.folder / new)

    @precondition(lambda self: (self.folder / "in").exists())
    @rule()
    def rename_folder(self) -> None:
        shutil.rmtree(self.folder / "moved", ignore_errors=True)
        (self.folder / "in").rename(self.folder / "moved")

    @rule(pattern=st.sampled_from(["", "a.md", "in/", "*.txt", "in/*\n!in/a.md"]))
    def ignore(self, pattern: str) -> None:
        write(self.folder, {".ragchatignore": pattern})

    @rule()
    def update_while_the_embedder_fails(self) -> None:
        indexer(self.folder, self.index, FailingEmbedder("poison")).run()

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = open_index(self.home / "data")

    @rule()
    def update_equals_a_fresh_index(self) -> None:
        self.update()
        fresh = open_index(self.home / "fresh")
        try:
            indexer(self.folder, fresh, WordEmbedder(dimensions=64)).run()
            assert contents(self.index) == contents(fresh)
        finally:
            fresh.close()
            shutil.rmtree(self.home / "fresh")

    def update(self) -> None:
        assert indexer(self.folder, self.index, WordEmbedder(dimensions=64)).run().complete

    def teardown(self) -> None:
        try:
            self.update_equals_a_fresh_index()
        finally:
            self.index.close()
            shutil.rmtree(self.home)


TestIncrementalIndex = IncrementalIndex.TestCase
TestIncrementalIndex.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
