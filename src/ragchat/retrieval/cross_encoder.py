"""A cross-encoder reads question and passage together: better than two vectors, and a thousand times slower.

Optional (`retrieval.cross_encoder`): any model by path or name that sentence-transformers can load, as
cross-encoder/ms-marco-MiniLM-L-6-v2. Loading it loads torch. Only the order of the best candidates changes;
the gate still judges by distance.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.texts import readable
from ragchat.embedding.transformer_folder import local_folder, weights_hash
from ragchat.errors import EmbedderUnavailable

_BATCH = 8
_HINT = 'ragchat config set retrieval.cross_encoder ""'


class CrossEncoderReranker:
    """Implements `Reranker`. A passage longer than the model reads is judged by its beginning."""

    def __init__(self, model: Any, weights: str) -> None:
        self._model = model
        self.weights = weights
        self._predicting = threading.Lock()

    def scores(self, question: str, chunks: Sequence[Chunk]) -> Sequence[float]:
        """The model's own score of each passage with its header, higher for better."""
        if not chunks:
            return []
        pairs = [(readable(question), readable(chunk.text)) for chunk in chunks]
        with self._predicting:
            scores = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return [float(score) for score in scores]


def open_cross_encoder(name: str, models: Path) -> CrossEncoderReranker:
    """Load the model of this name or path; nothing is downloaded. Blocks for seconds.

    models: the private cache folder in which hashes of weights are remembered.
    Raises EmbedderUnavailable for one that is not on this machine, or gives no single score.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"
    folder = local_folder(name)
    if folder is None:
        raise EmbedderUnavailable(f"the cross-encoder {name!r} is not on this machine", hint=_HINT)
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(str(folder), device="cpu", local_files_only=True)
        weights = weights_hash(folder, models)
        labels = int(model.config.num_labels)
    except EmbedderUnavailable:
        raise
    except Exception as error:  # whatever a broken folder makes of it
        raise EmbedderUnavailable(
            f"the cross-encoder {name!r} cannot be loaded: {str(error).splitlines()[0][:200]}", hint=_HINT
        ) from error
    if labels != 1:
        raise EmbedderUnavailable(
            f"{name!r} gives {labels} scores a passage, not one: it is no reranker", hint=_HINT
        )
    return CrossEncoderReranker(model, weights)
