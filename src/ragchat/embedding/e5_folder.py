"""multilingual-e5-small as a folder that sentence-transformers loads, made of the packaged file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ragchat.embedding.e5_file import E5File
from ragchat.embedding.exported import TOKENIZER_FILE
from ragchat.embedding.tokenizing import write_pieces
from ragchat.embedding.xlmr import END, MASK, PAD, START, UNKNOWN, xlmr_tokenizer

_BLOCK_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDING_NAMES = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}
ENDINGS = {"w": "weight", "b": "bias"}


def write_e5_folder(file: E5File, folder: Path) -> None:
    """Write the model into an empty folder, about 480 MB: its weights in float32. Raises OSError."""
    from safetensors.numpy import save_file

    save_file(_tensors(file), str(folder / "model.safetensors"), {"format": "pt"})
    xlmr_tokenizer(file.pieces).save(str(folder / TOKENIZER_FILE))
    write_pieces(file.pieces, folder)
    (folder / "pooling").mkdir()
    (folder / "unit").mkdir()
    for name, content in _configurations(file).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def _tensors(file: E5File) -> dict[str, Any]:
    shapes = {"emb.pos": (-1, file.width), "emb.type": (-1, file.width)}
    tensors = {name: values.reshape(shapes.get(name, (-1,))) for name, values in file.floats.items()}
    tensors |= {name: values.exact() for name, values in file.rounded.items()}
    return {_bert_name(name): np.ascontiguousarray(values) for name, values in tensors.items()}


def _bert_name(name: str) -> str:
    """l3.ao.w is what BERT calls encoder.layer.3.attention.output.dense.weight."""
    if name in _EMBEDDING_NAMES:
        return f"embeddings.{_EMBEDDING_NAMES[name]}"
    layer, block, ending = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_BLOCK_NAMES[block]}.{ENDINGS[ending]}"


def _configurations(file: E5File) -> Mapping[str, object]:
    return {
        "config.json": {
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_act": "gelu",
            "hidden_size": file.width,
            "intermediate_size": file.feed_forward,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": file.positions,
            "num_attention_heads": file.heads,
            "num_hidden_layers": file.layers,
            "pad_token_id": [text for text, _ in file.pieces].index(PAD),
            "type_vocab_size": 2,
            "vocab_size": file.rows,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": file.positions,
            "bos_token": START,
            "cls_token": START,
            "eos_token": END,
            "sep_token": END,
            "pad_token": PAD,
            "unk_token": UNKNOWN,
            "mask_token": MASK,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "unit", "type": "sentence_transformers.models.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": file.positions, "do_lower_case": False},
        "pooling/config.json": {"word_embedding_dimension": file.width, "pooling_mode_mean_tokens": True},
    }
