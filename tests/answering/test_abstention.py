"""An abstention is recognised, and an answer is not mistaken for one."""

from __future__ import annotations

import pytest

from ragchat.answering.abstention import is_abstention
from ragchat.answering.prompt import ABSTENTION


@pytest.mark.parametrize(
    "answer",
    [
        ABSTENTION,
        f"{ABSTENTION} [1][2]",
        f"**{ABSTENTION}**",
        f'"{ABSTENTION}"\n',
        f"{ABSTENTION[:-1]} [1].",
        f"{ABSTENTION} They are about a lease.",
        "The provided sources do not mention the passport office [1].",
        "I'm sorry, but the sources don't contain information about that.",
        "There is no information about the sky in the provided sources.",
        "Die Quellen enthalten die Antwort nicht.",
        "In den Notizen steht nichts darüber.",
        "Les sources ne contiennent pas la réponse.",
        "Las fuentes no contienen la respuesta.",
        "ソースには答えが含まれていません。",
        "资料中没有提到答案。",
    ],
)
def test_forms_of_saying_so(answer: str) -> None:
    assert is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The lease ends on 31 March 2027 [1].",
        "The sources do not allow pets [1].",
        "The sources do not mention the office, but the lease ends in March [1].",
        "The lease ends in March [1]. The sources do not mention the year.",
        "Die Notizen nennen den 3. März [1], dass man nicht zahlen muss, steht da auch [2].",
        "The notes contain the answer: March [1].",
        "資料は三月に届きます [1]。",
        "The sources do not mention fees. The rent is 900 euros [1]. It is due on the third [2].",
    ],
)
def test_answers_are_answers(answer: str) -> None:
    assert not is_abstention(answer)
