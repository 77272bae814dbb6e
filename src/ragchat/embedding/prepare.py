"""The built-in model made ready: exported once, found damaged when it is, opened in a tenth of a second."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ragchat.embedding.embedder import EmbedderStamp
from ragchat.embedding.export import EXPORT_FORMAT, MANIFEST_FILE, PROBE_TEXT, SMALLEST_COSINE
from ragchat.embedding.onnx import OnnxEmbedder, worker_count
from ragchat.embedding.token_vectors import scheme
from ragchat.embedding.vectors import assert_unit
from ragchat.embedding.weights import (
    BUILT_IN_DIMENSIONS,
    BUILT_IN_MODEL,
    BUILT_IN_WEIGHTS,
    BUILT_IN_WINDOW,
    built_in_folder,
    verify_built_in,
)
from ragchat.errors import EmbedderUnavailable
from ragchat.paths import make_private_dir
from ragchat.settings import EmbeddingSettings

Notify = Callable[[str], None]

_POLL_SECONDS = 0.1
# Other flags come and go with the kernel and its microcode.
_VECTOR_INSTRUCTIONS = ("sse", "ssse", "avx", "fma", "f16c", "amx", "asimd", "sve", "i8mm", "bf16")


class _Damaged(Exception):
    """What lies in the cache is not what an export left there."""


def built_in_stamp(settings: EmbeddingSettings) -> EmbedderStamp:
    """The stamp of the built-in model; known without loading anything."""
    return EmbedderStamp(
        model=BUILT_IN_MODEL,
        weights=BUILT_IN_WEIGHTS,
        dimensions=BUILT_IN_DIMENSIONS,
        normalisation="unit",
        question_prompt=settings.question_prompt,
        passage_prompt=settings.passage_prompt,
        window=BUILT_IN_WINDOW,
        runtime="onnxruntime-fp32",
        token_vectors=scheme(BUILT_IN_DIMENSIONS),
    )


def open_built_in(
    settings: EmbeddingSettings, models: Path, *, notify: Notify, cancel: threading.Event
) -> OnnxEmbedder:
    """The built-in model, exported first if this machine has not done so yet or the export is damaged.

    Any number of processes may call it at once: one exports, the others wait for it.
    Raises EmbedderUnavailable.
    """
    weights = built_in_folder()
    try:
        make_private_dir(models)
        verify_built_in(weights, models)
        folder = models / BUILT_IN_WEIGHTS[:24] / _export_name()
        try:
            return _open(folder, settings)
        except _Damaged:
            pass
        with _lock(folder, notify, cancel):
            try:
                return _open(folder, settings)  # another process has made it while we waited
            except _Damaged:
                _export(weights, folder, notify, cancel)
            return _open(folder, settings)
    except OSError as error:
        raise EmbedderUnavailable(
            f"the embedding model cannot be kept in {models}: {error.strerror or error}",
            hint="RAGCHAT_CACHE_DIR=FOLDER names another place, it needs 200 MB",
        ) from error
    except _Damaged as error:
        raise EmbedderUnavailable(
            f"the embedding model in {models} is damaged right after it was made ({error})",
            hint=f"delete {models}",
        ) from error


def _open(folder: Path, settings: EmbeddingSettings) -> OnnxEmbedder:
    """Sizes first (a cut file crashes a process that maps it), then one known vector."""
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        _check_sizes(folder, dict(manifest["bytes"]))
        stamp = built_in_stamp(settings)
        embedder = OnnxEmbedder(folder, stamp, threads=worker_count(settings.threads))
        vector, tokens = embedder.encode_exactly(PROBE_TEXT)
        cosines = float(vector @ manifest["probe"]), float(tokens[-1] @ manifest["probe_token"])
    except _Damaged:
        raise
    except Exception as error:  # onnxruntime and tokenizers raise types of their own on broken files
        raise _Damaged(str(error)) from error
    if not all(cosine >= SMALLEST_COSINE for cosine in cosines):
        raise _Damaged("it gives other vectors than when it was made")
    assert_unit(vector[None, :], model=stamp.model)
    return embedder


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if (folder / name).stat().st_size != size:
            raise _Damaged(f"{name} has another size")


def _export(weights: Path, folder: Path, notify: Notify, cancel: threading.Event) -> None:
    """Run the export in a process of its own, then move its result into place. The lock must be held."""
    notify("preparing the embedding model (once, about 20 s)")
    for leftover in folder.parent.glob("making-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="making-", dir=folder.parent) as making:
        made = make_private_dir(Path(making) / "model")
        _run_export(weights, made, cancel)
        if folder.exists():
            folder.rename(Path(making) / "damaged")
        made.rename(folder)


def _run_export(weights: Path, target: Path, cancel: threading.Event) -> None:
    # -P: the current folder may be the user's notes, whose torch.py must not be imported.
    command = [sys.executable, "-P", "-m", "ragchat.embedding.export", str(weights), str(target)]
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
                hint=f"RAGCHAT_EMBEDDING_MODEL={weights} runs it through sentence-transformers, slower",
            )


@contextmanager
def _lock(folder: Path, notify: Notify, cancel: threading.Event) -> Iterator[None]:
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


def _export_name() -> str:
    """What an export depends on beside the weights: how it is made, onnxruntime's version, the processor."""
    import onnxruntime

    return f"{EXPORT_FORMAT}-onnxruntime-{onnxruntime.__version__}-{_processor()}"


def _processor() -> str:
    """A short name for what the optimiser may use: the vector instructions, where the system tells them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        told = next(line for line in lines if line.lower().startswith(("flags", "features"))).split()
        features = " ".join(sorted(flag for flag in told if flag.startswith(_VECTOR_INSTRUCTIONS)))
    except (OSError, StopIteration):
        features = platform.processor()
    identity = f"{platform.system()} {platform.machine()} {features}"
    return hashlib.sha256(identity.encode()).hexdigest()[:12]
