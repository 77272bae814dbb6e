"""Tell when the embedder cannot read the notes: its distances then say little, whatever the threshold.

all-MiniLM-L6-v2 was trained on English. It takes most words of other scripts for unknown, so that any two
Japanese texts lie near each other: on 150 answerable Japanese questions it refused 67 and sent the right
passage for 17.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ragchat.embedding.embedder import EmbedderStamp
from ragchat.embedding.packaged import E5, MINILM
from ragchat.index.progress import IndexProgress, ProgressListener
from ragchat.index.protocol import Index

FOREIGN_SHARE = 0.3
"""From this share of letters of other scripts on, the user is told."""
_DOCUMENTS, _CHARACTERS = 60, 2_000
_ENOUGH = 5
"""Documents that a folder is judged by while it is being indexed."""


def legibility_notice(index: Index, folder: Path) -> str:
    """One line that says so and names the remedy, or "". Looks at the beginnings of some sixty documents."""
    if index.stamp is None or index.stamp.embedder.model != MINILM.name:
        return ""
    names = sorted(index.sources())
    sampled = names[:: max(1, len(names) // _DOCUMENTS)]
    share = foreign_share((index.document_text(name) or "")[:_CHARACTERS] for name in sampled)
    if share < FOREIGN_SHARE:
        return ""
    rebuild = f"ragchat index --rebuild -f {shlex.quote(str(folder))}"
    to_use = "ragchat config set embedding.model"
    return (
        f"{MINILM.name} reads English, and {share:.0%} of the letters here are of another script: expect "
        f"wrong and missing answers. Better: {E5.install} && {to_use} {E5.name} && {rebuild}; "
        f"or, with Ollama: ragchat pull bge-m3 && {to_use} ollama:bge-m3 && {rebuild}"
    )


class NoticedEarly:
    """Hands indexing's progress on, and with it the notice as soon as the first documents show it."""

    def __init__(self, index: Index, folder: Path, listener: ProgressListener) -> None:
        self.notice = ""
        self._index, self._folder, self._listener = index, folder, listener
        self._look_at = _ENOUGH

    def __call__(self, progress: IndexProgress) -> None:
        """One step; looks at 5, 10, 20 … documents, or at all where they are fewer."""
        if not self.notice and progress.documents_done >= min(self._look_at, progress.documents_total or 1):
            self._look_at = 2 * max(self._look_at, progress.documents_done)
            self.notice = legibility_notice(self._index, self._folder)
        self._listener(replace(progress, notice=self.notice))


def can_read(embedder: EmbedderStamp, text: str) -> bool:
    """Whether the embedder knows the script of a text; of others than the built-in one that is assumed."""
    return embedder.model != MINILM.name or foreign_share([text]) < FOREIGN_SHARE


def script_of(text: str) -> str:
    """The script of most letters as Unicode names it, "" for Latin or none; "KANA" where a twentieth is kana.

    Japanese mixes its scripts, and is no Chinese.
    """
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    if not counts:
        return ""
    if 20 * (counts["HIRAGANA"] + counts["KATAKANA"]) >= counts.total():
        return "KANA"
    most = counts.most_common(1)[0][0]
    return "" if most == "LATIN" else most


def foreign_share(texts: Iterable[str]) -> float:
    """Letters of other scripts than Latin, as a share of all letters, in [0, 1]."""
    letters = foreign = 0
    for text in texts:
        for letter in filter(str.isalpha, text):
            letters += 1
            foreign += not (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN"))
    return foreign / letters if letters else 0.0
