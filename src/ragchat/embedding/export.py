"""Export a packaged model to onnxruntime's format: a program of its own, run once by `making`.

    python -P -m ragchat.embedding.export MODEL SOURCE_FOLDER TARGET_FOLDER fp32|int8

It is a process of its own because importing torch takes seconds and stalls every thread of its process. The
target gets model.onnx and model.bin (optimised for this machine's processor, weights apart so that a session
maps them), tokenizer.json, and export.json, which is written last and only if the result agrees with
sentence-transformers.

In int8 the weights of the matrix products are rounded, each column by its own scale and to 7 bits (with 8 the
sums overflow on processors without VNNI: cosine 0.82 instead of 0.98); activations are rounded as they come.

multilingual-e5-small is computed in fp32 as well, from the 4 bits that its package has; only its table of a
quarter of a million words stays in whole numbers, 106 MB instead of 384, with nothing lost.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragchat.embedding.e5_file import Rounded, read_e5_file
from ragchat.embedding.e5_folder import write_e5_folder
from ragchat.embedding.embedder import Matrix
from ragchat.embedding.exported import (
    MANIFEST_FILE,
    MODEL_FILE,
    PIECES_FILE,
    PROBE_TEXT,
    SCORES_FILE,
    SMALLEST_COSINE,
    TEXT_VECTORS,
    TOKEN_VECTORS,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    packaged_stamp,
)
from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.packaged import E5, PackagedModel, packaged_model
from ragchat.embedding.transformer_tokens import encode_with_tokens, projection_for
from ragchat.embedding.vectors import unit_rows
from ragchat.settings import EmbeddingSettings, Precision

_PLAIN_FILE = "plain.onnx"
_INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
_SMALLEST_COSINES = {"fp32": SMALLEST_COSINE, "int8": 0.95}
_OUTPUTS = [TEXT_VECTORS, TOKEN_VECTORS]

# Scripts that notes come in.
_SENTENCES = (
    PROBE_TEXT,
    "The lease ends on 31 March 2027; notice must be given two months before, in writing.",
    "def area(r: float) -> float:\n    return 3.14159 * r ** 2  # error E1234 on negative r",
    "| Quantity | Unit |\n|---|---|\n| 20.04 | kg/m² |",
    "Der Mietvertrag läuft am 31. März aus, die Kündigungsfrist beträgt zwei Monate.",
    "Où est rangée la clé du grenier ? Dans le tiroir, à côté du vieux téléphone.",
    "¿Cuándo vence el contrato? El año que viene, según la cláusula número ocho.",
    "Договор аренды заканчивается 31 марта, предупредить нужно за два месяца.",
    "賃貸契約は2027年3月31日に終了します。解約は二か月前に通知してください。",
    "租约于三月三十一日到期，须提前两个月通知。",
    "ينتهي عقد الإيجار في نهاية شهر مارس ويجب الإخطار قبل شهرين.",
    "किराया अनुबंध मार्च के अंत में समाप्त होता है।",
    "สัญญาเช่าสิ้นสุดในเดือนมีนาคม",
    "🗝️ → ☎️ 42 % ±0.5 · x²+y² ≤ r² · naïve café Straße",
)


def main(arguments: Sequence[str]) -> int:
    """Export a model from the first folder into the second, in the precision named last; the exit code."""
    model = packaged_model(arguments[0])
    if model is None:
        raise ValueError(f"{arguments[0]} is no packaged model")
    source, target = map(Path, arguments[1:3])
    precision: Precision = "int8" if arguments[3] == "int8" else "fp32"
    os.umask(0o077)
    _keep_offline_and_quiet()
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        print("reading the weights", flush=True)
        folder, table = _loadable(model, source, Path(scratch))
        return _export_checked(model, folder, table, target, precision)


def _loadable(model: PackagedModel, source: Path, scratch: Path) -> tuple[Path, Rounded | None]:
    """A folder for sentence-transformers, and the table of words where it came in whole numbers."""
    if model is not E5:
        return source, None
    file = read_e5_file(source / E5.files[0][0])
    write_e5_folder(file, scratch)
    return scratch, file.rounded["emb.word"]


def _export_checked(
    model: PackagedModel, source: Path, table: Rounded | None, target: Path, precision: Precision
) -> int:
    print("loading the model in sentence-transformers", flush=True)
    reference = _load_reference(source, model.window)
    print("exporting it to onnxruntime", flush=True)
    projection = projection_for(reference, model.name)
    _export(reference, projection, table, target / _PLAIN_FILE)
    if precision == "int8":
        _round_weights(target / _PLAIN_FILE)
    _optimise(target / _PLAIN_FILE, target / MODEL_FILE)
    (target / _PLAIN_FILE).unlink()
    for name in _tokenizer_files(source):
        shutil.copyfile(source / name, target / name)
    print("checking it against sentence-transformers", flush=True)
    stamp = packaged_stamp(model, EmbeddingSettings(precision=precision))
    embedder = OnnxEmbedder(target, stamp, threads=1, alone=precision == "int8")
    smallest = _smallest_cosine(reference, projection, embedder)
    if not smallest >= _SMALLEST_COSINES[precision]:
        print(
            f"the exported model differs from the original: smallest cosine {smallest:.6f}", file=sys.stderr
        )
        return 1
    _write_manifest(target, embedder, smallest)
    return 0


def _keep_offline_and_quiet() -> None:
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    # The exporter warns that it is the older one and that tracing fixes branches; its result is checked.
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    if hasattr(os, "nice"):
        os.nice(5)


def _load_reference(source: Path, window: int) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    model = SentenceTransformer(
        str(source),
        device="cpu",
        local_files_only=True,
        # The fused attention has no counterpart in the export format.
        model_kwargs={"attn_implementation": "eager"},
    )
    if model.max_seq_length != window:
        raise ValueError(f"unexpected window of {model.max_seq_length} tokens")
    return model.eval()


def _export(reference: Any, projection: Matrix, table: Rounded | None, path: Path) -> None:
    import torch

    class TextAndTokenVectors(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self, encoder: Any) -> None:
            super().__init__()
            self.encoder = encoder
            self.projection = torch.from_numpy(projection)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            hidden = self.encoder(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state
            weight = attention_mask.unsqueeze(1).to(hidden.dtype)
            return torch.matmul(weight, hidden).squeeze(1), torch.matmul(hidden, self.projection)

    class WholeNumbers(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self, table: Rounded) -> None:
            super().__init__()
            self.whole, self.scales = torch.from_numpy(table.whole), torch.from_numpy(table.scales.copy())

        def forward(self, tokens: Any) -> Any:
            return (self.whole[tokens].float() * self.scales[tokens].float()).flatten(2)

    encoder = reference[0].auto_model
    original = encoder.embeddings.word_embeddings
    if table is not None:
        encoder.embeddings.word_embeddings = WholeNumbers(table)
    tokens = torch.ones(2, 8, dtype=torch.int64)
    torch.onnx.export(
        TextAndTokenVectors(encoder),
        (tokens, tokens, torch.zeros_like(tokens)),
        str(path),
        input_names=_INPUTS,
        output_names=_OUTPUTS,
        dynamic_axes={name: {0: "texts", 1: "tokens"} for name in [*_INPUTS, TOKEN_VECTORS]}
        | {TEXT_VECTORS: {0: "texts"}},
        opset_version=17,
        dynamo=False,
    )
    encoder.embeddings.word_embeddings = original


def _round_weights(model: Path) -> None:
    """In place; all matrix products with weights but the token vectors' projection."""
    import onnx
    from onnxruntime.quantization import quantize_dynamic

    nodes = onnx.load(str(model)).graph.node
    quantize_dynamic(
        str(model),
        str(model),
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=True,
        nodes_to_exclude=[node.name for node in nodes if TOKEN_VECTORS in node.output],
    )


def _optimise(plain: Path, target: Path) -> None:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options: Any = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    prefix = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{prefix}_file_name", WEIGHTS_FILE)
    options.add_session_config_entry(f"{prefix}_min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(str(plain), options, providers=["CPUExecutionProvider"])


def _smallest_cosine(reference: Any, projection: Matrix, embedder: OnnxEmbedder) -> float:
    """Over texts of every length, in batches; and over the short ones, each alone."""
    short = ["", *_SENTENCES]
    texts = [*short, *_long_texts(embedder)]
    as_passages = _encode(reference, texts, embedder.stamp.passage_prompt)
    together = np.sum(as_passages * embedder.embed_passages(texts), axis=1)
    as_questions = _encode(reference, short, embedder.stamp.question_prompt)
    alone = [
        float(vector @ embedder.embed_question(text))
        for vector, text in zip(as_questions, short, strict=True)
    ]
    return float(min([*together, *alone, *_token_cosines(reference, projection, embedder, short)]))


def _encode(reference: Any, texts: Sequence[str], prompt: str) -> Matrix:
    vectors: Matrix = reference.encode(
        list(texts), prompt=prompt, batch_size=8, convert_to_numpy=True, show_progress_bar=False
    )
    return vectors


def _token_cosines(
    reference: Any, projection: Matrix, embedder: OnnxEmbedder, texts: Sequence[str]
) -> Iterator[float]:
    _, expected = encode_with_tokens(reference, texts)
    for rows, text in zip(expected, texts, strict=True):
        projected = unit_rows(rows @ projection, model=embedder.stamp.model)
        yield from np.sum(projected * embedder.encode_exactly(text)[1], axis=1)


def _long_texts(embedder: OnnxEmbedder) -> list[str]:
    """Each sentence three times, and some repeated until the window is full."""
    thrice = [" ".join([sentence] * 3) for sentence in _SENTENCES]
    filled = []
    for sentence in _SENTENCES[::3]:
        times = embedder.window // embedder.count_tokens(sentence)
        filled.append(" ".join([sentence] * times))
    return thrice + filled


def _tokenizer_files(folder: Path) -> list[str]:
    return [name for name in (TOKENIZER_FILE, PIECES_FILE, SCORES_FILE) if (folder / name).exists()]


def _write_manifest(target: Path, embedder: OnnxEmbedder, smallest: float) -> None:
    files = (MODEL_FILE, WEIGHTS_FILE, *_tokenizer_files(target))
    vector, tokens = embedder.encode_exactly(PROBE_TEXT)
    manifest = {
        "weights": embedder.stamp.weights,
        "smallest_cosine": smallest,
        "bytes": {name: (target / name).stat().st_size for name in files},
        "probe": vector.tolist(),
        "probe_token": tokens[-1].tolist(),
    }
    (target / MANIFEST_FILE).write_text(json.dumps(manifest), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
