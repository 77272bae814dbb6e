"""A packaged model made ready: exported once, found damaged when it is, opened in a tenth of a second."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from ragchat.embedding.exported import (
    EXPORT_FORMAT,
    MANIFEST_FILE,
    PROBE_TEXT,
    SMALLEST_COSINE,
    packaged_stamp,
)
from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.packaged import PackagedModel, package_folder, verify
from ragchat.embedding.threads import worker_count
from ragchat.embedding.vectors import assert_unit
from ragchat.errors import EmbedderUnavailable
from ragchat.paths import make_private_dir
from ragchat.settings import EmbeddingSettings

Notify = Callable[[str], None]

# Other flags come and go with the kernel and its microcode.
_VECTOR_INSTRUCTIONS = ("sse", "ssse", "avx", "fma", "f16c", "amx", "asimd", "sve", "i8mm", "bf16")


class _Damaged(Exception):
    """What lies in the cache is not what an export left there."""


def open_packaged(
    model: PackagedModel,
    settings: EmbeddingSettings,
    models: Path,
    *,
    notify: Notify,
    cancel: threading.Event,
) -> OnnxEmbedder:
    """The model, exported first if this machine has not done so yet or the export is damaged.

    Any number of processes may call it at once: one exports, the others wait for it.
    Raises EmbedderUnavailable.
    """
    source = package_folder(model)
    try:
        make_private_dir(models)
        verify(model, source, models)
        folder = models / model.weights[:24] / _export_name(settings)
        try:
            return _open(model, folder, settings)
        except _Damaged:
            pass
        from ragchat.embedding.making import make_export, making_lock

        with making_lock(folder, notify, cancel):
            try:
                return _open(model, folder, settings)  # another process has made it while we waited
            except _Damaged:
                make_export(model, source, folder, settings.precision, notify, cancel)
            return _open(model, folder, settings)
    except OSError as error:
        raise EmbedderUnavailable(
            f"the embedding model cannot be kept in {models}: {error.strerror or error}",
            hint=f"RAGCHAT_CACHE_DIR=FOLDER names another place, it needs {model.megabytes} MB",
        ) from error
    except _Damaged as error:
        raise EmbedderUnavailable(
            f"the embedding model in {models} is damaged right after it was made ({error})",
            hint=f"delete {models}",
        ) from error


def _open(model: PackagedModel, folder: Path, settings: EmbeddingSettings) -> OnnxEmbedder:
    """Sizes first (a cut file crashes a process that maps it), then one known vector."""
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        _check_sizes(folder, dict(manifest["bytes"]))
        stamp = packaged_stamp(model, settings)
        threads, alone = worker_count(settings.threads), settings.precision == "int8"
        embedder = OnnxEmbedder(folder, stamp, threads=threads, alone=alone)
        vector, tokens = embedder.encode_exactly(PROBE_TEXT)
        cosines = float(vector @ manifest["probe"]), float(tokens[-1] @ manifest["probe_token"])
    except _Damaged:
        raise
    except Exception as error:  # onnxruntime and tokenizers raise types of their own on broken files
        raise _Damaged(str(error)) from error
    if not all(cosine >= SMALLEST_COSINE for cosine in cosines):
        raise _Damaged("it gives other vectors than when it was made")
    assert_unit(vector[None, :], model=stamp.model)
    with contextlib.suppress(OSError):
        (folder / MANIFEST_FILE).touch()  # in use: see `making.forget_unused`
    return embedder


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if (folder / name).stat().st_size != size:
            raise _Damaged(f"{name} has another size")


def _export_name(settings: EmbeddingSettings) -> str:
    """What an export depends on beside the weights: how it is made, onnxruntime's version, the processor."""
    import onnxruntime

    return f"{EXPORT_FORMAT}-{settings.precision}-onnxruntime-{onnxruntime.__version__}-{_processor()}"


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
