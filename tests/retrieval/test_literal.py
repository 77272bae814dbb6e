from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.index.protocol import Scope
from ragchat.index.tokens import tokenize
from ragchat.retrieval.identifiers import Case, Term, is_code, terms_of
from ragchat.retrieval.literal import Found, _standing, find_literal
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

EMBEDDER = WordEmbedder()
NOWHERE = Scope(prefix="nowhere/")
COOKING = [
    "Roast the beef until the crust is brown. Prime rib needs two hours, and a prime cut is worth it.",
    "The sky over the bay was blue when we ate. 17 minutes at 180 degrees, then 1/2 cup of broth.",
    "Hello Fresh sent the wrong box in March. Tom brought 500g of flour and 3.5 litres of milk.",
    "It is a well-known part-time trick; don't stir. NOT for children.",
]


def pieces(text: str) -> int:
    """A stand-in for word pieces: a word of more than eight letters is unknown to the encoder."""
    return 2 + sum(1 + (len(word) > 8) for word in text.split())


def found(question: str, *notes: str, scope: Scope | None = None) -> Found | None:
    chunks = [passage(note, f"{number}.md") for number, note in enumerate([*COOKING, *notes])]
    return find_literal(question, MemorySnapshot(chunks, EMBEDDER), scope or Scope(), pieces)


@pytest.mark.parametrize(
    "question",
    [
        "is 17 a prime number?",
        "Is 17 a prime number?",
        "why is the sky blue",
        "Why is the sky blue?",
        "WHY IS THE SKY BLUE?",
        "Why Is The Sky Blue Today?",
        "hello",
        "Hello!",
        "what is 1/2 of 180",
        "what is 3.5 times 17?",
        "Is 500g of flour enough for March?",
        "do you know a well-known part-time job",
        "don't you",
        "How do I NOT fail?",
        "Who is blue?",
        "",
        "?!",
    ],
)
def test_an_ordinary_word_is_no_offer_however_rare(question: str) -> None:
    assert found(question) is None


@pytest.mark.parametrize(
    ("question", "note", "term"),
    [
        ("what does E1234 mean", "The boiler shows E1234 again.", "E1234"),
        ("what does e1234 mean?", "The boiler shows E1234 again.", "e1234"),
        ("can I still use 20.04?", "The server runs Ubuntu 20.04 LTS.", "20.04"),
        ("Who wrote v2.3.1?", "Release v2.3.1 was late.", "v2.3.1"),
        ("what is error 1045", "It stopped with error 1045 at night.", "error 1045"),
        ("invoice #4711?", "Paid #4711 by card.", "#4711"),
        ("what was order 88231907", "Order 88231907 came in May.", "order 88231907"),
        ("why ECONNREFUSED?", "curl said ECONNREFUSED twice.", "ECONNREFUSED"),
        ("what does foo_bar do", "Call foo_bar first.", "foo_bar"),
        ("where is readme.md?", "See readme.md for that.", "readme.md"),
        ("Is C++ hard?", "The solver is in C++ now.", "C++"),
        ("what was 88231907", "Order 88231907 came in May.", "88231907"),
        ("what is X17-AB for", "Ordered X17-AB in blue.", "X17-AB"),
        ("What did Oyelaran want?", "Mrs Oyelaran called about the roof.", "Oyelaran"),
        ("What is Oyelaran's number?", "Oyelaran: 555 0199", "Oyelaran"),
        ("Does Ada Oyelaran paint?", "The plumber is Oyelaran from Leeds.", "Oyelaran"),
        ("who is oyelaran", "The plumber is Oyelaran from Leeds.", "oyelaran"),
        ("ask dr oyelaran", "We saw Dr. Oyelaran in June.", "oyelaran"),
        ("wann kommt papadopoulos", "Der Klempner heißt Papadopoulos und ist gut.", "papadopoulos"),
        ("Wer ist Krautwickel?", "Heute mit Krautwickel telefoniert.", "Krautwickel"),
        ("Hat Frau Krautwickel Zeit?", "Heute mit Krautwickel telefoniert.", "Krautwickel"),
        ("田中さんの電話番号は", "会議の議事録は田中が書きます。", "田中"),
        ("アダ・ラブレスとは", "本棚にアダ・ラブレスの伝記がある。", "アダ・ラブレス"),
        ("エラーE1234とは何ですか", "ボイラーにE1234と出た。", "E1234"),
        ("국세청 김민수 씨는 누구", "회계는 김민수 씨가 한다.", "김민수"),
        ("Что говорил Иванов?", "Вчера приходил Иванов с ключами.", "Иванов"),
    ],
)
def test_a_name_or_code_that_stands_in_a_note_is_offered(question: str, note: str, term: str) -> None:
    assert found(question, note) == Found(term, (10 * (len(COOKING) + 1),))


@pytest.mark.parametrize(
    ("query", "note", "term"),
    [
        ("descaling", "The descaling programme is due every six months.", "descaling"),
        ("Descaling", "The descaling programme is due every six months.", "Descaling"),
        ("spare key", "The spare key is with the neighbours.", "spare"),
        ("can't", "Tom can’t eat it.", "can't"),
        ("dill, kombu", "Pickle with dill and mustard seeds.", "dill"),
        ("家賃", "家賃は月九万五千円。", "家賃"),
        ("結婚式 由美", "由美さんの結婚式は十月十二日。", "結婚式"),
    ],
)
def test_a_keyword_typed_alone_is_looked_up(query: str, note: str, term: str) -> None:
    assert found(query, note) == Found(term, (10 * (len(COOKING) + 1),))


@pytest.mark.parametrize(
    "query",
    ["key?", "the spare key", "where is it", "hello", "thanks", "scaling", "des", "flurbnax", "a b c d e"],
)
def test_a_sentence_small_talk_or_part_of_a_word_is_no_keyword(query: str) -> None:
    assert found(query, "The spare key is a b c d e. Descaling, hello, thanks.") is None


def test_a_keyword_of_many_passages_needs_no_offer() -> None:
    assert found("oven", *(f"The oven was cleaned on day {day}." for day in range(6))) is None
    assert found("oven", *(f"The oven was cleaned on day {day}." for day in range(5))) is not None


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("what does E1234 mean", "The boiler shows E12345 again."),
        ("can I still use 20.04?", "The server runs 20.04.1 now, and 120.04 was paid."),
        ("What did Hendrick want?", "Mrs Hendricks called."),
        ("Who sells Mehl?", "500 g mehl und Mehl dazu."),
        ("Wie viel Mehl brauche ich?", "Dann Mehl und Zucker rühren."),
        ("Warum ist der Himmel blau?", "Gestern war der Himmel grau."),
        ("is krautwickel a word", "Krautwickel: with rice."),
        ("what happened in 1969", "My father was born in 1969."),
        ("since 1969?", "Here since 1969."),
        ("今日のニュースは何ですか", "朝はニュースを見た。"),
        ("お医者さんはどこですか", "医者に行った。"),
    ],
)
def test_what_only_looks_alike_is_no_offer(question: str, note: str) -> None:
    assert found(question, note) is None


_WITHIN_A_WORD = "[^\\W々一-鿿豈-﫿\u3040-\u30ff\u0e00-\u0e7f가-힣]"


@given(
    st.sampled_from(["a", "ab a", "20.04", "E1", "d'a", "_a", "山田"]),
    st.text("aAbB_ 1.,E02'4山田、é\u0e01가", max_size=30),
    st.sampled_from(["any", "capitals"]),
)
def test_a_term_stands_where_a_pattern_of_all_letters_has_it(text: str, note: str, case: Case) -> None:
    words = r"\s+".join(map(re.escape, text.split()))
    if text != "山田":
        words = rf"(?<!{_WITHIN_A_WORD}){words}(?!{_WITHIN_A_WORD}|[.,]\d)"
    expected = re.finditer(words, note, re.IGNORECASE if case == "any" else 0)
    assert [m.span() for m in _standing(Term(text, case), note)] == [m.span() for m in expected]


def test_a_whole_name_comes_before_its_parts_and_a_first_name_alone_is_anyone() -> None:
    notes = ["Tea with Ada Oyelaran at noon.", "Bike borrowed by Ben Oyelaran."]
    assert found("What does Ada Oyelaran drink?", *notes) == Found("Ada Oyelaran", (50,))
    assert found("Where does Tom Krautwickel live?") is None


def test_a_common_word_is_not_rare() -> None:
    assert found("what does E1234 mean", *(f"E1234 came up on day {day}." for day in range(4))) is None
    three = found("what does E1234 mean", *(f"E1234 came up on day {day}." for day in range(3)))
    assert three is not None
    assert three.chunk_ids == (50, 60, 70)


def test_the_passage_with_most_of_the_terms_comes_first() -> None:
    notes = ["E1234 only.", "E1234 on the X17-AB.", "X17-AB only.", "Also an X17-AB."]
    assert found("does the X17-AB show E1234?", *notes) == Found("E1234", (60, 50))


def test_a_heading_counts_and_another_folder_does_not() -> None:
    chunk = passage("Press reset for five seconds.", "boiler.md", title="Boiler", section=("E1234",))
    snapshot = MemorySnapshot([chunk], EMBEDDER)
    assert find_literal("what is E1234", snapshot, Scope(), pieces) == Found("E1234", (10,))
    assert find_literal("what is E1234", snapshot, NOWHERE, pieces) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_an_offer_always_stands_in_the_note(question: str, note: str) -> None:
    snapshot = MemorySnapshot([passage(note)], EMBEDDER)
    offer = find_literal(question, snapshot, Scope(), pieces)
    if offer is not None:
        assert set(tokenize(offer.term)) <= set(tokenize(note))
        assert offer.chunk_ids == (10,)


@given(st.text(alphabet="aB1.-_ é日ア'", max_size=40))
def test_no_term_is_named_twice(question: str) -> None:
    texts = [term.text.casefold() for term in terms_of(question, pieces)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("term", ["E1234", "20.04", "error 1045", "node.js", "X17-AB", "0042"])
def test_codes(term: str) -> None:
    assert is_code(term)


@pytest.mark.parametrize("term", ["Oyelaran", "Ada Oyelaran", "NASA", "descaling", "山田", "500g"])
def test_names_and_words_are_no_codes(term: str) -> None:
    assert not is_code(term)
