"""Recognise that the model said the sources lack the answer, so that they are not shown as evidence.

The prompt asks for one exact sentence. Models also write it in the question's language or in words of their
own; such a variant counts only where it is all that was said: an answer that goes on is an answer.
"""

from __future__ import annotations

import re

from ragchat.answering.citations import without_citations
from ragchat.answering.prompt import ABSTENTION

_LONGEST_VARIANT = 320

_VARIANTS = re.compile(
    r"""
      (?:(?:i\ am\ |i'm\ )?sorry,?\ (?:but\ )?)?
      (?:(?:the|these|your|any\ of\ the|provided|given|numbered|available)\ )*
      (?:sources?|notes?|documents?|context)(?:\ provided|\ given)?
      \ (?:do|does|did)(?:\ not|n't)\ (?:\w+ly\ )?
      (?:contain|include|mention|provide|say|state|specify|give|have|answer|cover|discuss|address|tell
        |indicate|describe|reveal|list|offer|hold)\b
    | (?:there\ is\ no|i\ (?:can(?:not|'t)|could\ ?n[o']t)\ find\ (?:any|the|an)|i\ found\ no)
      \ (?:answer|information|mention)\b.{0,160}\b(?:in|from)\b.{0,30}\b(?:sources?|notes?|documents?)\b
    | (?:die|in\ den|den)\ (?:\w+\ )?(?:quellen|notizen)
      \ (?:enthalten|nennen|erwähnen|liefern|geben|beantworten|ist|findet|steht)\b(?!.*\bdass\b)
      .{0,160}\b(?:nicht|nichts|keine?n?)\b
    | les\ (?:sources|notes)\b.{0,20}\bne\ (?:contiennent|mentionnent|précisent|fournissent|donnent|disent)\b
    | las\ (?:fuentes|notas)\b.{0,20}\bno\ (?:contienen|mencionan|incluyen|indican|proporcionan|dicen)\b
    | le\ (?:fonti|note)\b.{0,20}\bnon\ (?:contengono|menzionano|forniscono|indicano|dicono)\b
    | as\ (?:fontes|notas)\b.{0,20}\bnão\ (?:contêm|mencionam|incluem|indicam|fornecem|dizem)\b
    | de\ (?:bronnen|notities)\ (?:bevatten|noemen|geven|vermelden)\b.{0,80}\b(?:niet|geen)\b
    | .{0,8}(?:ソース|情報源|情報|資料|出典|メモ)[^。]{0,60}
      (?:(?:含まれて|記載されて|書かれて)(?:い|お)|見つかり|あり)(?:ません|ない)
    | .{0,8}(?:来源|资料|笔记|來源|資料|筆記)[^。]{0,8}(?:没有|沒有|未|不)(?:包含|提供|提到|提及|说明|說明)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？](?=.)")
_GOES_ON = re.compile(r"\b(?:but|however|though|aber|jedoch|mais|pero)\b")
_DECORATION = re.compile(r"""[*_`"“”„«»>#\s]+""")


def is_abstention(answer: str) -> bool:
    """Whether the answer is the sentence that was asked for, alone or first, or a common variant alone."""
    words = _plain(without_citations(answer))
    exact = _plain(ABSTENTION).rstrip(".")
    if words == exact or words.startswith((f"{exact}.", f"{exact},", f"{exact};")):
        return True
    if len(words) > _LONGEST_VARIANT or not _VARIANTS.match(words):
        return False
    apology = re.match(r"(?:i am |i'm )?sorry,? (?:but )?", words)
    said = words[apology.end() :] if apology else words
    return _GOES_ON.search(said) is None and len(_SENTENCE_END.findall(said)) <= 1


def _plain(text: str) -> str:
    words = _DECORATION.sub(" ", text.replace("’", "'")).strip().casefold()
    return re.sub(r" (?=[.,;])", "", words)
