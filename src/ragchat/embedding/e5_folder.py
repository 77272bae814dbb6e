"""multilingual-e5-small as a folder that sentence-transformers loads, made of the packaged file.

The tokenizer is the one of its publisher: SentencePiece's normalisation, words apart, unigram pieces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragchat.embedding.e5_file import E5File
from ragchat.embedding.exported import TOKENIZER_FILE

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
_START, _PAD, _END, _UNKNOWN, _MASK = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
# NFKC would make another character of it, which SentencePiece's rules leave alone.
_KEPT, _MEANWHILE = "\N{FULLWIDTH TILDE}", "\ue000"

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
_ENDINGS = {"w": "weight", "b": "bias"}


def write_e5_folder(file: E5File, folder: Path) -> None:
    """Write the model into an empty folder, about 480 MB: its weights in float32. Raises OSError."""
    from safetensors.numpy import save_file

    save_file(_tensors(file), str(folder / "model.safetensors"), {"format": "pt"})
    e5_tokenizer(file).save(str(folder / TOKENIZER_FILE))
    (folder / "pooling").mkdir()
    (folder / "unit").mkdir()
    for name, content in _configurations(file).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def e5_tokenizer(file: E5File) -> Tokenizer:
    """XLM-R's tokenizer over the file's vocabulary."""
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Nmt, Replace
    from tokenizers.normalizers import Sequence as Normalizers
    from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as PreTokenizers
    from tokenizers.processors import TemplateProcessing

    ids = {text: at for at, (text, _) in enumerate(file.pieces)}
    tokenizer = Tokenizer(Unigram(list(file.pieces), unk_id=ids[_UNKNOWN], byte_fallback=False))
    tokenizer.normalizer = Normalizers(
        [Replace(_KEPT, _MEANWHILE), Nmt(), NFKC(), Replace(_MEANWHILE, _KEPT)]
    )
    tokenizer.pre_tokenizer = PreTokenizers([WhitespaceSplit(), Metaspace(_SPACE, prepend_scheme="always")])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{_START} $A {_END}", special_tokens=[(name, ids[name]) for name in (_START, _END)]
    )
    special = [AddedToken(name, normalized=False) for name in (_START, _PAD, _END, _UNKNOWN, _MASK)]
    tokenizer.add_special_tokens(special)
    return tokenizer


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
    return f"encoder.layer.{layer[1:]}.{_BLOCK_NAMES[block]}.{_ENDINGS[ending]}"


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
            "pad_token_id": [text for text, _ in file.pieces].index(_PAD),
            "type_vocab_size": 2,
            "vocab_size": file.rows,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": file.positions,
            "bos_token": _START,
            "cls_token": _START,
            "eos_token": _END,
            "sep_token": _END,
            "pad_token": _PAD,
            "unk_token": _UNKNOWN,
            "mask_token": _MASK,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "unit", "type": "sentence_transformers.models.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": file.positions, "do_lower_case": False},
        "pooling/config.json": {"word_embedding_dimension": file.width, "pooling_mode_mean_tokens": True},
    }
