"""Where a sentence-transformers model lies on this machine, and what its files are."""

from __future__ import annotations

import shlex
from pathlib import Path

from ragchat.embedding.weights import remembered_hash
from ragchat.errors import EmbedderUnavailable

FETCH_COMMAND = "ragchat fetch"


def existing_folder(name: str) -> Path:
    """As `local_folder`. Raises EmbedderUnavailable where there is none, with the command that gets it."""
    folder = local_folder(name)
    if folder is not None:
        return folder
    if _looks_like_path(name):
        raise EmbedderUnavailable(
            f"there is no embedding model in the folder {name!r}",
            hint="RAGCHAT_EMBEDDING_MODEL=all-MiniLM-L6-v2 is the built-in model",
        )
    raise EmbedderUnavailable(
        f"the embedding model {name!r} is not on this machine, and nothing is downloaded without being asked",
        hint=f"{FETCH_COMMAND} {shlex.quote(name)}",
    )


def local_folder(name: str) -> Path | None:
    """The model's folder on this machine: a path, or a snapshot in the hub's cache."""
    path = Path(name).expanduser()
    if _is_model(path):
        return path.resolve()
    if _looks_like_path(name):
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in (name,) if "/" in name else (f"sentence-transformers/{name}", name):
        for file in ("modules.json", "config.json"):
            try:
                found = try_to_load_from_cache(repository, file)
            except HFValidationError:
                return None
            if isinstance(found, str):
                return Path(found).parent
    return None


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "~")) or Path(name).is_absolute() or Path(name).is_dir()


def _is_model(folder: Path) -> bool:
    return (folder / "modules.json").is_file() or (folder / "config.json").is_file()


def weights_hash(folder: Path, models: Path) -> str:
    """sha256 over the files that hold numbers; what was hashed once is remembered."""
    files = sorted(file for pattern in ("*.safetensors", "*.bin") for file in folder.rglob(pattern))
    files = [file for file in files if not {"onnx", "openvino"} & set(file.relative_to(folder).parts)]
    if not files:
        raise EmbedderUnavailable(f"{folder} holds no weights (.safetensors or .bin)", hint="ragchat doctor")
    return remembered_hash(files, models)


def identity(folder: Path) -> list[Path]:
    """The files whose change may change the vectors: weights, and the settings beside them."""
    return sorted(
        file for file in folder.rglob("*") if file.suffix in {".safetensors", ".bin", ".json", ".txt"}
    )
