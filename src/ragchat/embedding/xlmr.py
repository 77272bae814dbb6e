"""XLM-R's tokenizer: SentencePiece's normalisation, words apart, the best unigram pieces of each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

START, PAD, END, UNKNOWN, MASK = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
SPECIAL = (START, PAD, END, UNKNOWN, MASK)
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
# NFKC would make another character of it, which SentencePiece's rules leave alone.
_KEPT, _MEANWHILE = "\N{FULLWIDTH TILDE}", "\ue000"


def xlmr_tokenizer(pieces: Sequence[tuple[str, float]]) -> Tokenizer:
    """Over pieces with logarithmic scores, among them the special ones; a token is a place in `pieces`."""
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Nmt, Replace
    from tokenizers.normalizers import Sequence as Normalizers
    from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as PreTokenizers
    from tokenizers.processors import TemplateProcessing

    texts = [text for text, _ in pieces]
    tokenizer = Tokenizer(Unigram(list(pieces), unk_id=texts.index(UNKNOWN), byte_fallback=False))
    tokenizer.normalizer = Normalizers(
        [Replace(_KEPT, _MEANWHILE), Nmt(), NFKC(), Replace(_MEANWHILE, _KEPT)]
    )
    tokenizer.pre_tokenizer = PreTokenizers([WhitespaceSplit(), Metaspace(_SPACE, prepend_scheme="always")])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{START} $A {END}", special_tokens=[(name, texts.index(name)) for name in (START, END)]
    )
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in SPECIAL])
    return tokenizer
