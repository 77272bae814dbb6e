"""Notes in scripts that the built-in model does not read: said when indexed, searched by their words."""

from __future__ import annotations

import numpy as np
import pytest

from ragchat.embedding.packaged import MINILM
from ragchat.retrieval.legibility import FOREIGN_SHARE, can_read, foreign_share
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

NOTES = {
    "Russian": ("Ошибка E1187 значит, что давление воды низкое.", "что значит ошибка E1187"),
    "Russian, ё": ("Счётчик воды стоит в подвале.", "где счетчик"),
    "Greek": ("Το συμβόλαιο λήγει στις 31 Μαρτίου.", "ΠΟΤΕ ΛΗΓΕΙ ΤΟ ΣΥΜΒΟΛΑΙΟ"),
    "Arabic": ("ينتهي عقد الإِيجَار في ٣١ مارس.", "متى ينتهي عقد الايجار 31"),
    "Hindi": ("किराये का अनुबंध ३१ मार्च को समाप्त होता है।", "अनुबंध 31 मार्च"),
    "Korean": ("임대 계약은 3월 31일에 끝납니다.", "임대 계약이 언제 끝나요"),
    "Chinese": ("租约于三月三十一日结束。", "租约什么时候结束"),
    "Thai": ("สัญญาเช่าสิ้นสุดวันที่ ๓๑ มีนาคม", "สัญญาเช่าสิ้นสุดเมื่อไร"),
}


@pytest.mark.parametrize("language", NOTES)
def test_its_words_find_a_note_that_distance_puts_last(language: str) -> None:
    note, question = NOTES[language]
    passages = [passage("Εντελώς άλλο. その他。", f"{number}.md") for number in range(3)]
    passages.append(passage(note, "wanted.md"))
    embedder = WordEmbedder(name=MINILM.name)
    near = embedder.embed_question(question)
    vectors = np.stack([near, near, near, -near])
    assert foreign_share([note]) >= FOREIGN_SHARE
    assert not can_read(embedder.stamp, question)
    snapshot = MemorySnapshot(passages, embedder, vectors)
    trace = Retriever(snapshot, embedder, RetrievalSettings(), Threshold(0.5, "auto")).retrieve(question)
    assert trace.candidates[0].chunk.document == "wanted.md"
