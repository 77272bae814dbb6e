"""The export made by a process of its own, one at a time on this machine, and moved into place whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.embedding.exported import MANIFEST_FILE
from ragchat.embedding.packaged import MINILM
from ragchat.errors import EmbedderUnavailable
from ragchat.paths import make_private_dir

if TYPE_CHECKING:
    from ragchat.embedding.packaged import PackagedModel
    from ragchat.embedding.prepare import Notify

_POLL_SECONDS = 0.1
_UNUSED_SECONDS = 30 * 24 * 3600


def make_export(
    model: PackagedModel,
    source: Path,
    folder: Path,
    precision: str,
    notify: Notify,
    cancel: threading.Event,
) -> None:
    """Run the export in a process of its own, then move its result into place. The lock must be held."""
    notify(f"preparing the embedding model (once, about {model.seconds} s)")
    for leftover in folder.parent.glob("making-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="making-", dir=folder.parent) as making:
        made = make_private_dir(Path(making) / "model")
        _run_export(model, source, made, precision, cancel)
        if folder.exists():
            folder.rename(Path(making) / "damaged")
        made.rename(folder)
    forget_unused(folder.parent)


def forget_unused(exports: Path) -> None:
    """Delete the exports that nobody has opened for a month: of an older onnxruntime, format or processor."""
    for manifest in exports.glob(f"*/{MANIFEST_FILE}"):
        if time.time() - manifest.stat().st_mtime > _UNUSED_SECONDS:
            # The manifest first: what is deleted by halves is not opened.
            manifest.unlink()
            shutil.rmtree(manifest.parent, ignore_errors=True)
            manifest.parent.with_name(f"{manifest.parent.name}.lock").unlink(missing_ok=True)


def _run_export(
    model: PackagedModel, source: Path, target: Path, precision: str, cancel: threading.Event
) -> None:
    # -P: the current folder may be the user's notes, whose torch.py must not be imported.
    command = [sys.executable, "-P", "-m", "ragchat.embedding.export"]
    command += [model.name, str(source), str(target), precision]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while process.poll() is None:
                if cancel.wait(_POLL_SECONDS):
                    raise EmbedderUnavailable(
                        "preparing the embedding model was stopped", hint="ragchat index"
                    )
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            log.seek(0)
            lines = log.read().decode("utf-8", "replace").strip().splitlines() or ["no output"]
            reason = lines[-1].strip()
            if process.returncode < 0:  # no memory left, most often; the last line tells what it was doing
                reason = f"killed by signal {-process.returncode} while {reason}"
            raise EmbedderUnavailable(
                f"the embedding model could not be prepared: {reason}",
                hint=_way_round(source),
            )


def _way_round(source: Path) -> str:
    if (source / "config.json").is_file():
        return f"RAGCHAT_EMBEDDING_MODEL={source} runs it through sentence-transformers, slower"
    return f"RAGCHAT_EMBEDDING_MODEL={MINILM.name} is the default model"


@contextmanager
def making_lock(folder: Path, notify: Notify, cancel: threading.Event) -> Iterator[None]:
    """Held by the one process that exports; given up by the system when that process dies."""
    from filelock import FileLock, Timeout

    make_private_dir(folder.parent)
    lock = FileLock(folder.parent / f"{folder.name}.lock", mode=0o600, is_singleton=False)
    waiting = False
    while True:
        try:
            lock.acquire(timeout=_POLL_SECONDS)
            break
        except Timeout:
            if cancel.is_set():
                raise EmbedderUnavailable(
                    "waiting for the embedding model was stopped", hint="ragchat index"
                ) from None
            if not waiting:
                notify("waiting for another ragchat that is preparing the embedding model")
            waiting = True
    try:
        yield
    finally:
        lock.release()
