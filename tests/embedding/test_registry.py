from __future__ import annotations

import subprocess
import sys

import pytest

from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.registry import expected_stamp, open_embedder
from ragchat.errors import UsageError
from ragchat.settings import EmbeddingSettings, Precision
from tests.embedding.conftest import Race


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_both_names_of_the_built_in_model_are_one_model(name: str, race: Race) -> None:
    settings = EmbeddingSettings(model=name, question_prompt="q: ", threads=1)
    embedder = open_embedder(settings, ollama_host="", cache=race.cache)
    assert isinstance(embedder, OnnxEmbedder)
    assert embedder.stamp.model == "all-MiniLM-L6-v2"
    assert embedder.stamp == expected_stamp(settings, ollama_host="", cache=race.cache)


def test_threads_are_no_part_of_the_stamp() -> None:
    one, two = (expected_stamp(EmbeddingSettings(threads=n), ollama_host="") for n in (1, 2))
    assert one == two is not None


PRECISIONS: tuple[Precision, ...] = ("fp32", "int8")


def test_a_precision_is_part_of_the_stamp() -> None:
    exact, rounded = (expected_stamp(EmbeddingSettings(precision=p), ollama_host="") for p in PRECISIONS)
    assert exact is not None
    assert rounded is not None
    assert (exact.runtime, rounded.runtime) == ("onnxruntime-fp32", "onnxruntime-int8")


@pytest.mark.parametrize("model", ["ollama:bge-m3", "./folder"])
def test_only_the_built_in_model_comes_in_int8(model: str) -> None:
    with pytest.raises(UsageError, match="only the built-in model") as caught:
        open_embedder(EmbeddingSettings(model=model, precision="int8"), ollama_host="")
    assert caught.value.hint == "ragchat config set embedding.precision fp32"


def _loaded_by(code: str) -> str:
    heavy = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "onnxruntime", "ollama"}
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(sorted({heavy!r} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_importing_the_room_loads_no_model_library() -> None:
    every_module = (
        "import importlib, pkgutil, ragchat.embedding as room; "
        "names = [module.name for module in pkgutil.iter_modules(room.__path__)]; "
        "[importlib.import_module(f'ragchat.embedding.{name}') for name in names]; assert len(names) > 5"
    )
    assert _loaded_by(every_module) == "[]"


def test_the_expected_stamp_of_the_built_in_model_loads_no_library() -> None:
    assert (
        _loaded_by(
            "from ragchat.embedding.registry import expected_stamp; "
            "from ragchat.settings import EmbeddingSettings; "
            "assert expected_stamp(EmbeddingSettings(), ollama_host='').dimensions == 384"
        )
        == "[]"
    )
