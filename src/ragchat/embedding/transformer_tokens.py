"""Token vectors out of a sentence-transformers model, and the projection that is made for it once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragchat.embedding.bundled_questions import load_off_topic_questions
from ragchat.embedding.embedder import Matrix, Vector
from ragchat.embedding.token_vectors import principal_directions, scheme, token_dimensions
from ragchat.embedding.weights import note_path
from ragchat.paths import make_private_dir

BATCH = 16

_SPECIAL_TOKENS = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")


def encode_with_tokens(
    model: Any, texts: Sequence[str], prompt: str = ""
) -> tuple[list[Vector], list[Matrix]]:
    """Each text's vector, shape (dimensions,), and token vectors, shape (tokens, width), of any length.

    The tokens are the text's own, in order: without padding, special tokens and prompt; a text of nothing
    else keeps those.
    """
    features = model.encode(
        list(texts), prompt=prompt, batch_size=BATCH, output_value=None, show_progress_bar=False
    )
    ahead = _own_count(model, prompt)
    vectors = [feature["sentence_embedding"].float().cpu().numpy() for feature in features]
    special = _special_tokens(model)
    return vectors, [_token_rows(feature, special, ahead) for feature in features]


def token_width(model: Any) -> int:
    """Width of the token vectors that this kind of model gives beside a text's vector, 0 for none."""
    (feature,) = model.encode(["probe"], output_value=None, show_progress_bar=False)
    try:
        return int(_token_rows(feature, [], 0).shape[1])
    except (KeyError, IndexError):
        return 0


def projection_for(model: Any, name: str) -> Matrix:
    """The projection of the model's token vectors, shape (width, token dimensions); runs 650 short texts."""
    _, tokens = encode_with_tokens(model, load_off_topic_questions())
    return principal_directions(np.concatenate(tokens), model=name)


def remembered_projection(model: Any, name: str, width: int, files: Sequence[Path], models: Path) -> Matrix:
    """As `projection_for`, made once for these files and questions; shape (0, 0) for a width of 0.

    models: the private cache folder. Raises OSError.
    """
    if not width:
        return np.zeros((0, 0), dtype=np.float32)
    rule = scheme(width).replace(" ", "_").replace(">", "-")
    path = note_path(files, models).with_suffix(f".{rule}.npy")
    try:
        known: Matrix = np.load(path, allow_pickle=False)
        if known.shape == (width, token_dimensions(width)) and known.dtype == np.float32:
            return known
    except (FileNotFoundError, ValueError, EOFError):
        pass
    made = projection_for(model, name)
    make_private_dir(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        np.save(file, made)
    Path(temporary).replace(path)
    return made


def _special_tokens(model: Any) -> list[int]:
    found = (getattr(model.tokenizer, name, None) for name in _SPECIAL_TOKENS)
    return [token for token in found if token is not None]


def _own_count(model: Any, prompt: str) -> int:
    """Tokens of the prompt, special tokens apart."""
    if not prompt:
        return 0
    tokens = model.tokenizer(prompt, verbose=False)["input_ids"]
    return int(np.sum(~np.isin(tokens, _special_tokens(model))))


def _token_rows(feature: dict[str, Any], special: Sequence[int], ahead: int) -> Matrix:
    """The token vectors of one text of a batch, shape (tokens, width), without the first `ahead`."""
    attended = feature["attention_mask"].bool().cpu().numpy()
    states: Matrix = feature["token_embeddings"].float().cpu().numpy()[attended]
    own = states[~np.isin(feature["input_ids"].cpu().numpy()[attended], special)][ahead:]
    return own if len(own) else states
