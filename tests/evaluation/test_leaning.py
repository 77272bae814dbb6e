"""Passages that point at what stood before them."""

from __future__ import annotations

import pytest

from ragchat.evaluation.leaning import leaning_chunks, leans
from tests.retrieval.doubles import passage


@pytest.mark.parametrize(
    "words",
    [
        "This applies only to tenants.",
        "- It is due on the first day.",
        "“They may keep dogs.”",
        "The latter is cheaper.",
        "Diese Regel gilt nicht.",
        "Это правило не действует.",
        "これは契約に適用される。",
        "同項の規定にかかわらず、",
        "当該の契約は終了する。",
        "前項の場合において",
        "「その日」は含まない。",
        "It's due on the first day.",
        "In this case the deposit is kept.",
        "В этом случае залог не возвращается.",
        "Указанный срок продлевается.",
        "本項の規定は",
        "해당 조항은 적용되지 않는다.",
        "該條款不適用。",
        "هذا الشرط لا ينطبق.",
        "यह नियम लागू नहीं होता।",
        "Αυτό δεν ισχύει.",
    ],
)
def test_what_leans(words: str) -> None:
    assert leans(words)


@pytest.mark.parametrize(
    "words",
    [
        "The lease ends in March.",
        "Thistles grow here.",
        "It's-a-me is a name.",
        "IT-Abteilung: Raum 3",
        "Items are listed below.",
        "契約は三月に終わる。",
        "同級生の名前",
        "In the kitchen stands a stove.",
        "Томаты сажают в мае.",
        "Итоги года",
        "",
    ],
)
def test_what_stands_alone(words: str) -> None:
    assert not leans(words)


def test_the_first_passage_of_a_section_has_its_header() -> None:
    first = passage("This chapter is about dogs.", "a.md", start=0, section=("Dogs",))
    second = passage("They need a deposit.", "a.md", start=40, section=("Dogs",))
    third = passage("It is about cats.", "a.md", start=80, section=("Cats",))
    other = passage("It begins another note.", "b.md", start=0, section=("Cats",))
    assert leaning_chunks([other, third, second, first]) == [second]
