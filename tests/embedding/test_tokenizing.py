"""A text is cut alike whether all pieces are read or only its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragchat.embedding import tokenizing
from ragchat.embedding.exported import TOKENIZER_FILE
from ragchat.embedding.tokenizing import FewPieces, TextTokenizer, write_pieces
from ragchat.embedding.xlmr import SPECIAL, xlmr_tokenizer

# The scores of two ways to cut a word may be equal, and an unknown letter costs ten more than the last piece.
PIECES = (
    *((name, 0.0) for name in SPECIAL),
    *(("▁", -4.0), ("a", -3.0), ("▁a", -3.5), ("ab", -5.0), ("b", -3.0), ("▁ab", -6.0), ("c", -6.0)),
    *(("鍵", -7.0), ("▁鍵", -8.0), ("鍵は", -7.5), ("か", -6.0), ("が", -6.0), ("й", -5.0), ("～", -9.0)),
    *(("x" * 16, -9.5), ("😀" * 12, -9.0), ("~", -8.0), ("<", -5.0), ("s", -5.0), (">", -5.0), ("é", -5.5)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tokenizer")
    write_pieces(PIECES, made)
    xlmr_tokenizer(PIECES).save(str(made / TOKENIZER_FILE))
    return made


@pytest.fixture(scope="module")
def whole() -> Any:
    return xlmr_tokenizer(PIECES)


@given(
    text=st.text(st.sampled_from("ab c鍵はかが\u3099и\u0306й～~x😀<s>é\u0301\n\u200b𓀀\ue000"), max_size=80)
)
@example(text="")
@example(text="<s> </s><unk>")
@example(text="x" * 17 + " " + "😀" * 13)
def test_few_pieces_give_the_tokens_of_all(text: str, folder: Path, whole: Any) -> None:
    assert FewPieces(folder).ids(text) == whole.encode(text).ids


def test_the_whole_vocabulary_is_read_when_much_is_to_be_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    original = tokenizing._encoder

    def reading(file: Path) -> Callable[[str], list[int]]:
        read.append(file)
        return original(file)

    monkeypatch.setattr(tokenizing, "_encoder", reading)
    monkeypatch.setattr(tokenizing, "_CHARACTERS_UNTIL_WHOLE", 10)
    tokenizer = TextTokenizer(folder)
    expected = tokenizer.ids("鍵はab")
    assert read == []
    assert tokenizer.ids("鍵はab") == tokenizer.ids("鍵はab") == expected
    assert read == [folder / TOKENIZER_FILE]
