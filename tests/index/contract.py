"""What every index must do, whatever it is kept in: a backend's tests derive from `IndexContract`."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pytest

from ragchat.documents.document import FailedDocument, Locator
from ragchat.errors import IndexMissing, RevisionConflict
from ragchat.index.packing import text_digest
from ragchat.index.protocol import Coverage, Hit, Index, IndexStamp, Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.filters import Filters, narrow
from tests.doubles import WordEmbedder
from tests.index.building import EMBEDDER, STAMP, chunks_of, document, embed, put, source, tokens_of

ANYWHERE = Scope()


def found(snapshot: Snapshot, hits: list[Hit]) -> list[str]:
    return [chunk.content for chunk in snapshot.chunks([hit.chunk_id for hit in hits])]


def everything(snapshot: Snapshot) -> object:
    """What searches find, with all that belongs to it; no ids."""
    question = EMBEDDER.embed_question("note 4 about 2")
    hits = snapshot.dense(question, 10**6, ANYWHERE)
    ids = [hit.chunk_id for hit in hits]
    matrices = snapshot.token_vectors(ids)
    assert matrices is not None
    lexical = snapshot.lexical(["note", "4", "about", "2", "end"], 10**6, ANYWHERE)
    return (
        [round(hit.value, 12) for hit in hits],
        snapshot.chunks(ids),
        snapshot.vectors(ids).tobytes(),
        [matrix.tobytes() for matrix in matrices],
        [round(hit.value, 9) for hit in lexical],
        found(snapshot, lexical),
        snapshot.document_frequency("note"),
        snapshot.chunk_count,
    )


class IndexContract(ABC):
    @abstractmethod
    def make(self) -> Iterator[Index]:
        """A new, empty index."""

    @pytest.fixture
    def index(self) -> Iterator[Index]:
        yield from self.make()

    @pytest.fixture
    def begun(self, index: Index) -> Index:
        index.begin(STAMP)
        return index

    def test_an_empty_index_says_so(self, index: Index) -> None:
        assert index.stamp is None
        assert index.coverage() == Coverage(0, 0, 0)
        assert (index.chunk_count(), index.sources(), list(index.failures())) == (0, {}, [])
        with pytest.raises(IndexMissing) as missing:
            index.snapshot()
        assert missing.value.hint == "ragchat index"

    def test_nothing_is_stored_before_a_stamp(self, index: Index) -> None:
        with pytest.raises(ValueError, match="begin"):
            put(index, "a.md", "one")

    def test_a_document_is_found_with_its_words_and_its_distance(self, begun: Index) -> None:
        whole = put(begun, "a.md", "the lease ends in March", "cats sleep")
        snapshot = begun.snapshot()
        (hit, other) = snapshot.dense(EMBEDDER.embed_question("when ends the lease"), 5, ANYWHERE)
        assert found(snapshot, [hit, other]) == ["the lease ends in March", "cats sleep"]
        vector = snapshot.vectors([hit.chunk_id])[0]
        half_square = np.sum((vector - EMBEDDER.embed_question("when ends the lease")) ** 2) / 2
        assert hit.value == pytest.approx(half_square, abs=1e-6)
        assert begun.document_text("a.md") == whole.text
        assert snapshot.coverage == begun.coverage() == Coverage(1, 0, 0)
        assert snapshot.chunk_count == begun.chunk_count() == 2

    def test_the_words_before_a_passage_are_the_documents_own(self, begun: Index) -> None:
        whole = document("a.md", "first words, second words")
        (chunk,) = chunks_of(whole, (13, 25))
        chunk = dataclasses.replace(chunk, context_start=6, lead=whole.text[6:13])
        begun.replace(whole, source("a.md", whole.text), [chunk], embed([chunk]))
        snapshot = begun.snapshot()
        hits = snapshot.dense(EMBEDDER.embed_question("second"), 1, ANYWHERE)
        assert snapshot.chunks([hit.chunk_id for hit in hits]) == [chunk]
        assert chunk.sent == "words, second words"

    def test_places_and_gaps_are_kept_with_the_document(self, begun: Index) -> None:
        place = Locator("page", "2", 0, 5)
        whole = dataclasses.replace(document("a.pdf", "words"), locators=(place,), gaps=("page 1: blurred",))
        begun.replace(whole, source("a.pdf", whole.text), [], embed([]))
        put(begun, "b.md", "whole")
        assert begun.document_locators("a.pdf") == (place,)
        assert begun.document_locators("b.md") == begun.document_locators("no.md") == ()
        assert [begun.passages_of(name) for name in ("a.pdf", "b.md", "no.md")] == [0, 1, 0]
        assert begun.gaps() == {"a.pdf": ("page 1: blurred",)}
        assert {name: bool(known.has_gaps) for name, known in begun.sources().items()} == {
            "a.pdf": True,
            "b.md": False,
        }

    def test_tags_and_day_are_kept_with_the_document(self, begun: Index) -> None:
        whole = dataclasses.replace(
            document("2024-05-06.md", "words"), tags=("tax", "r\xe9nt"), dated="2025-01-31"
        )
        begun.replace(whole, source("2024-05-06.md", whole.text), [], embed([]))
        put(begun, "2024-05-06 b.md", "whole")
        begun.fail(FailedDocument("c.md", "r", "h"), source("c.md", state="failed"))
        known = begun.snapshot().sources()
        assert known == begun.sources()
        assert {name: (each.tags, each.day) for name, each in known.items() if name != "c.md"} == {
            "2024-05-06.md": (("tax", "r\xe9nt"), "2025-01-31"),
            "2024-05-06 b.md": ((), "2024-05-06"),
        }
        assert known["c.md"].state == "failed"
        assert known["c.md"]._replace(modified_ns=10**25).day == ""

    def test_a_snapshot_knows_the_files_of_its_own_state(self, begun: Index) -> None:
        put(begun, "a.md", "words")
        snapshot = begun.snapshot()
        put(begun, "b.md", "words")
        assert snapshot.sources().keys() == {"a.md"}

    def test_the_neighbours_of_a_passage_stand_in_its_section(self, begun: Index) -> None:
        whole = document("a.md", "one two three four")
        chunks = chunks_of(whole, (0, 3), (4, 7), (8, 13), (14, 18))
        chunks = [*chunks[:3], dataclasses.replace(chunks[3], section=("Another",))]
        begun.replace(whole, source("a.md", whole.text), chunks, embed(chunks))
        put(begun, "b.md", "five")
        snapshot = begun.snapshot()
        hits = snapshot.dense(EMBEDDER.embed_question("one"), 9, ANYWHERE)
        ids = [hit.chunk_id for hit in hits]
        beside = dict(zip(found(snapshot, hits), snapshot.neighbours(ids), strict=True))
        assert beside == {
            "one": (None, chunks[1]),
            "two": (chunks[0], chunks[2]),
            "three": (chunks[1], None),
            "four": (None, None),
            "five": (None, None),
        }

    def test_equal_distances_come_in_order_of_their_ids(self, begun: Index) -> None:
        put(begun, "a.md", *["same words"] * 9)
        snapshot = begun.snapshot()
        hits = snapshot.dense(EMBEDDER.embed_question("same words"), 4, ANYWHERE)
        everything = snapshot.dense(EMBEDDER.embed_question("same words"), 100, ANYWHERE)
        assert hits == everything[:4]
        assert [hit.chunk_id for hit in hits] == sorted(hit.chunk_id for hit in everything)[:4]

    def test_equals_stand_by_name_then_place_whatever_was_written_first(self, begun: Index) -> None:
        for name in ("b.md", "\xe9.md", "a/z.md", "a.md", "c.md"):
            put(begun, name, "same words", "the others", "same words")
        begun.remove("b.md")
        put(begun, "a.md", "same words", "the others", "same words")
        snapshot = begun.snapshot()
        places = [(name, start) for name in ("a.md", "a/z.md", "c.md", "\xe9.md") for start in (0, 22)]
        for limit in (1, 3, 8):
            dense = snapshot.dense(EMBEDDER.embed_question("same words"), limit, ANYWHERE)
            lexical = snapshot.lexical(["words", "same"], limit, ANYWHERE)
            holding = snapshot.containing("same", ANYWHERE, limit)
            for ids in ([hit.chunk_id for hit in dense], [hit.chunk_id for hit in lexical], holding):
                found = [(chunk.document, chunk.start) for chunk in snapshot.chunks(ids)]
                assert found == places[:limit]

    def test_bm25_never_returns_a_score_of_zero(self, begun: Index) -> None:
        put(begun, "a.md", "error E1234 in the log", "nothing of the kind", "the E1234 again E1234")
        snapshot = begun.snapshot()
        assert found(snapshot, snapshot.lexical(tokenize("e1234"), 10, ANYWHERE)) == [
            "the E1234 again E1234",
            "error E1234 in the log",
        ]
        assert snapshot.lexical(tokenize("unheard"), 10, ANYWHERE) == []
        assert snapshot.lexical(tokenize('"'), 10, ANYWHERE) == []
        assert len(snapshot.containing("e1234", ANYWHERE, 1)) == 1
        assert (snapshot.document_frequency("e1234"), snapshot.document_frequency("unheard")) == (2, 0)

    def test_a_scope_narrows_every_search(self, begun: Index) -> None:
        for name in ("house/a.md", "house.md", "work/a.md"):
            put(begun, name, f"lease of {name}")
        snapshot = begun.snapshot()
        question, tokens = EMBEDDER.embed_question("lease"), ["lease"]
        for scope, names in [
            (ANYWHERE, {"house/a.md", "house.md", "work/a.md"}),
            (Scope(prefix="house/"), {"house/a.md"}),
            (Scope(documents=frozenset({"work/a.md", "absent"})), {"work/a.md"}),
            (Scope(prefix="house/", documents=frozenset({"work/a.md"})), set()),
        ]:
            dense = [hit.chunk_id for hit in snapshot.dense(question, 9, scope)]
            lexical = [hit.chunk_id for hit in snapshot.lexical(tokens, 9, scope)]
            for ids in (dense, lexical, snapshot.containing("lease", scope, 9)):
                assert {chunk.document for chunk in snapshot.chunks(ids)} == names

    @pytest.mark.parametrize(
        ("filters", "names"),
        [
            (Filters(within=("house/",)), {"house/2024-01-01 a.md", "house/b.md"}),
            (Filters(without=("house/",)), {"house.md", "work/2025-06-30.md"}),
            (Filters(within=("b.md",)), {"house/b.md"}),
            (Filters(tags=("tax",)), {"house/b.md", "work/2025-06-30.md"}),
            (Filters(tags=("tax",), not_tags=("tax/late",)), {"house/b.md"}),
            (Filters(after="2025", before="2025-06-30"), {"house/b.md"}),
            (Filters(after="2025"), {"house/b.md", "work/2025-06-30.md"}),
            (Filters(within=("house.md",), after="2025"), set()),
        ],
    )
    def test_a_filter_is_a_set_of_documents_before_the_search(
        self, begun: Index, filters: Filters, names: set[str]
    ) -> None:
        for name, tags, dated in [
            ("house/2024-01-01 a.md", (), ""),
            ("house/b.md", ("Tax",), "2025-01-31"),
            ("house.md", ("taxes",), "2023-05-05"),
            ("work/2025-06-30.md", ("tax/late",), ""),
        ]:
            passages = [f"lease of {name}", "lease and more"]
            whole = dataclasses.replace(document(name, "\n".join(passages)), tags=tags, dated=dated)
            end = len(passages[0])
            chunks = chunks_of(whole, (0, end), (end + 1, len(whole.text)))
            begun.replace(whole, source(name, whole.text), chunks, embed(chunks))
        snapshot = begun.snapshot()
        everywhere = snapshot.lexical(["lease"], 99, ANYWHERE)
        scope = narrow(filters, snapshot.sources()).scope
        question = EMBEDDER.embed_question("lease")
        # The best of those that are left, however many better ones there are outside.
        for limit in (1, 99):
            dense, lexical = snapshot.dense(question, limit, scope), snapshot.lexical(["lease"], limit, scope)
            assert len(dense) == len(lexical) == min(limit, 2 * len(names))
            for hits in (dense, lexical):
                assert {chunk.document for chunk in snapshot.chunks([hit.chunk_id for hit in hits])} <= names
        assert len(snapshot.containing("lease", scope, 99)) == 2 * len(names)
        # A word is as rare as it is in the whole folder, so a passage scores what it scores without a filter.
        scores = {hit.chunk_id: hit.value for hit in everywhere}
        for hit in snapshot.lexical(["lease"], 99, scope):
            assert hit.value == pytest.approx(scores[hit.chunk_id], abs=1e-9)

    def test_replacing_a_document_leaves_nothing_of_the_old_one(self, begun: Index) -> None:
        put(begun, "a.md", "old words", "older words")
        before = begun.snapshot()
        put(begun, "a.md", "new words")
        after = begun.snapshot()
        assert found(after, after.lexical(["words"], 9, ANYWHERE)) == ["new words"]
        assert begun.chunk_count() == 1
        # What was opened before still answers as it was.
        assert sorted(found(before, before.lexical(["words"], 9, ANYWHERE))) == ["old words", "older words"]

    def test_an_id_is_never_given_to_another_chunk(self, begun: Index) -> None:
        put(begun, "a.md", "one")
        (first,) = begun.snapshot().containing("one", ANYWHERE, 1)
        begun.remove("a.md")
        put(begun, "a.md", "two")
        with pytest.raises(KeyError):
            begun.snapshot().chunks([first])

    def test_a_refused_document_changes_nothing(self, begun: Index) -> None:
        put(begun, "a.md", "old words")
        whole = document("a.md", "new words")
        chunks = chunks_of(whole, (0, 3), (4, 9))
        good = embed(chunks)
        bad_vectors = [good[:1], good[:, :5], good * 2, good * np.float32("nan")]
        for vectors in bad_vectors:
            with pytest.raises(ValueError, match="vectors"):
                begun.replace(whole, source("a.md"), chunks, vectors)
        shifted = [dataclasses.replace(chunk, content="xxx") for chunk in chunks]
        with pytest.raises(ValueError, match="slice"):
            begun.replace(whole, source("a.md"), shifted, good)
        with pytest.raises(ValueError, match=r"b\.md"):
            begun.replace(document("b.md", "new words"), source("b.md"), chunks, good)
        assert begun.document_text("a.md") == "old words"
        assert begun.chunk_count() == 1

    def test_a_document_without_chunks_is_indexed_all_the_same(self, begun: Index) -> None:
        put(begun, "empty.md")
        assert begun.coverage() == Coverage(1, 0, 0)
        snapshot = begun.snapshot()
        assert snapshot.dense(EMBEDDER.embed_question("x"), 5, ANYWHERE) == []
        assert snapshot.lexical(["x"], 5, ANYWHERE) == []
        assert snapshot.dense_of_each(embed(chunks_of(document("q", "x"), (0, 1))), 5) == [[]]

    def test_a_failure_takes_the_place_of_the_document_and_back(self, begun: Index) -> None:
        put(begun, "a.md", "words")
        failure = FailedDocument("a.md", "it is binary", "leave it out", "d" * 64, "test/1")
        begun.fail(failure, source("a.md", state="failed")._replace(digest="d" * 64))
        assert list(begun.failures()) == [failure]
        assert begun.sources()["a.md"].state == "failed"
        assert (begun.coverage(), begun.document_text("a.md")) == (Coverage(0, 1, 0), None)
        put(begun, "a.md", "words")
        assert (list(begun.failures()), begun.coverage()) == ([], Coverage(1, 0, 0))

    def test_an_index_under_another_stamp_is_built_beside_the_old_one(self, begun: Index) -> None:
        put(begun, "a.md", "old words")
        put(begun, "b.md", "more old words")
        embedder = WordEmbedder(name="other", dimensions=64)
        other = IndexStamp(embedder.stamp, "test/1")
        begun.begin(other)
        assert (begun.stamp, begun.building) == (STAMP, other)
        # What is written and asked for while writing belongs to the new one; no vector of the old serves it.
        assert (begun.coverage(), begun.chunk_count(), begun.sources()) == (Coverage(0, 0, 0), 0, {})
        assert begun.vectors_of_texts([text_digest("[T]\nold words")]) == {}
        put(begun, "a.md", "new words", embedder=embedder)
        begun.fail(FailedDocument("c.md", "r", "h"), source("c.md", state="failed"))
        assert (begun.coverage(), list(begun.sources())) == (Coverage(1, 1, 0), ["a.md", "c.md"])
        # Until it is whole, the old one answers.
        snapshot = begun.snapshot()
        assert (snapshot.stamp, snapshot.coverage, snapshot.chunk_count) == (STAMP, Coverage(2, 0, 0), 2)
        assert snapshot.lexical(["new"], 5, ANYWHERE) == []
        assert begun.document_text("a.md") == "old words"
        begun.finish()
        assert (begun.stamp, begun.building, begun.coverage()) == (other, None, Coverage(1, 1, 0))
        assert begun.document_text("a.md") == "new words"
        assert begun.document_text("b.md") is None
        after = begun.snapshot()
        assert (after.stamp, found(after, after.lexical(["words"], 5, ANYWHERE))) == (other, ["new words"])
        assert found(snapshot, snapshot.lexical(["more"], 5, ANYWHERE)) == ["more old words"]

    def test_a_rebuild_that_is_given_up_leaves_the_old_index(self, begun: Index) -> None:
        put(begun, "a.md", "old words")
        embedder = WordEmbedder(name="other", dimensions=64)
        begun.begin(IndexStamp(embedder.stamp, "test/1"))
        put(begun, "b.md", "new words", embedder=embedder)
        begun.begin(STAMP)
        begun.finish()
        assert (begun.stamp, begun.building, list(begun.sources())) == (STAMP, None, ["a.md"])
        assert begun.snapshot().chunk_count == begun.chunk_count() == 1

    def test_another_stamp_for_an_index_without_documents_is_taken_at_once(self, begun: Index) -> None:
        other = IndexStamp(EMBEDDER.stamp, "test/2")
        begun.begin(other)
        assert (begun.stamp, begun.building, begun.snapshot().stamp) == (other, None, other)

    def test_a_document_that_another_has_replaced_is_not_overwritten(self, begun: Index) -> None:
        put(begun, "a.md", "words", expected_revision=0)
        seen = begun.sources()["a.md"].revision
        assert seen > 0
        with pytest.raises(RevisionConflict, match=r"a\.md"):
            put(begun, "a.md", "unseen words", expected_revision=0)
        put(begun, "a.md", "other words", expected_revision=seen)
        assert begun.sources()["a.md"].revision > seen
        with pytest.raises(RevisionConflict):
            put(begun, "a.md", "late words", expected_revision=seen)
        begun.remove("a.md")
        with pytest.raises(RevisionConflict):
            put(begun, "a.md", "late words", expected_revision=seen)
        assert begun.document_text("a.md") is None

    def test_token_vectors_are_kept_with_their_chunks(self, begun: Index) -> None:
        passages = ["the lease ends", "in March", "!"]
        put(begun, "a.md", *passages, tokens=True)
        put(begun, "b.md", "plain")
        snapshot = begun.snapshot()
        ids = [hit.chunk_id for hit in snapshot.dense(EMBEDDER.embed_question("x"), 9, ANYWHERE)]
        chunks = snapshot.chunks(ids)
        own = [key for key, chunk in zip(ids, chunks, strict=True) if chunk.document == "a.md"]
        matrices = snapshot.token_vectors(own)
        assert matrices is not None
        for chunk, matrix in zip(snapshot.chunks(own), matrices, strict=True):
            np.testing.assert_array_equal(matrix, tokens_of([chunk]).rows(0))
        assert snapshot.token_vectors(ids) is None
        known = begun.token_vectors_of_document("a.md")
        assert known.keys() == {text_digest(f"[T]\n{passage}") for passage in passages}
        digest = text_digest("[T]\nin March")
        np.testing.assert_array_equal(begun.token_vectors_of_texts([digest])[digest], known[digest])

    def test_a_renamed_document_keeps_its_token_vectors(self, begun: Index) -> None:
        old = put(begun, "old.md", "words", "more words", tokens=True)
        new = dataclasses.replace(old, name="new.md")
        chunks = chunks_of(new, (0, 5), (6, 16))
        begun.rename("old.md", new, source("new.md", new.text), chunks)
        snapshot = begun.snapshot()
        matrices = snapshot.token_vectors(snapshot.containing("words", ANYWHERE, 9))
        assert matrices is not None
        for matrix, chunk in zip(matrices, chunks, strict=True):
            np.testing.assert_array_equal(matrix, tokens_of([chunk]).rows(0))

    def test_putting_in_order_changes_nothing_that_is_found(self, begun: Index) -> None:
        for number in range(40):
            put(begun, f"{number}.md", f"note {number} about {number % 7}", "and its end", tokens=True)
        for number in range(0, 40, 3):
            begun.remove(f"{number}.md")
        before = everything(begun.snapshot())
        begun.finish()
        assert everything(begun.snapshot()) == before
        begun.finish()
        assert everything(begun.snapshot()) == before

    def test_a_question_of_other_dimensions_is_refused(self, begun: Index) -> None:
        put(begun, "a.md", "words")
        with pytest.raises(ValueError, match="dimensions"):
            begun.snapshot().dense(np.ones(5, dtype=np.float32), 5, ANYWHERE)

    def test_vectors_are_known_by_the_text_they_were_made_of(self, begun: Index) -> None:
        put(begun, "a.md", "words", "more words")
        digests = [text_digest(f"[T]\n{number}") for number in range(2_000)]
        known = begun.vectors_of_texts([*digests, text_digest("[T]\nwords")])
        np.testing.assert_array_equal(known[text_digest("[T]\nwords")], EMBEDDER.embed_question("[T]\nwords"))
        assert len(known) == 1

    def test_vectors_of_one_document(self, begun: Index) -> None:
        put(begun, "a.md", "words", "more words")
        put(begun, "b.md", "others")
        assert begun.vectors_of_document("a.md").keys() == {
            text_digest("[T]\nwords"),
            text_digest("[T]\nmore words"),
        }
        assert begun.vectors_of_document("absent.md") == {}
        begun.begin(IndexStamp(EMBEDDER.stamp, "test/2"))
        assert begun.vectors_of_document("a.md") == {}

    def test_a_renamed_document_keeps_its_vectors(self, begun: Index) -> None:
        old = put(begun, "old.md", "words", "more words")
        new = dataclasses.replace(old, name="new/name.md")
        chunks = chunks_of(new, (0, 5), (6, 16))
        begun.rename("old.md", new, source("new/name.md", new.text), chunks)
        assert begun.sources().keys() == {"new/name.md"}
        snapshot = begun.snapshot()
        ids = snapshot.containing("words", ANYWHERE, 9)
        assert snapshot.chunks(ids) == chunks
        np.testing.assert_array_equal(snapshot.vectors(ids), embed(chunks))

    def test_a_rename_that_would_need_embedding_is_refused(self, begun: Index) -> None:
        old = put(begun, "old.md", "words")
        new = dataclasses.replace(old, name="new.md", title="Another")
        with pytest.raises(ValueError, match="never embedded"):
            begun.rename("old.md", new, source("new.md"), chunks_of(new, (0, 5)))
        assert begun.sources().keys() == {"old.md"}

    def test_touching_changes_the_facts_alone(self, begun: Index) -> None:
        put(begun, "a.md", "words")
        begun.fail(FailedDocument("b.md", "r", "h"), source("b.md", state="failed"))
        snapshot = begun.snapshot()
        for name in ("a.md", "b.md"):
            now = begun.sources()[name]._replace(size=9, modified_ns=8, checked_ns=7)
            begun.touch(now)
            assert begun.sources()[name] == now
        assert begun.snapshot() is snapshot

    def test_names_that_differ_in_case_or_form_are_two_documents(self, begun: Index) -> None:
        names = ["Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md", "a\nb.md", "テスト.md"]
        for name in names:
            put(begun, name, f"words {name}")
        assert set(begun.sources()) == set(names)
        begun.remove("note.md")
        assert begun.document_text("Note.md") == "words Note.md"

    def test_small_values_are_kept(self, begun: Index) -> None:
        assert begun.read_value("threshold") is None
        begun.write_value("threshold", "0.5")
        begun.write_value("threshold", "0.6 é\n")
        assert begun.read_value("threshold") == "0.6 é\n"

    def test_many_questions_at_once_find_what_each_finds(self, begun: Index) -> None:
        for number in range(30):
            put(begun, f"{number}.md", f"note {number} about {number * 7 % 11}")
        begun.remove("4.md")
        snapshot = begun.snapshot()
        questions = EMBEDDER.embed_passages(["note 4", "about 3", "unrelated"])
        for limit in (0, 1, 7, 40):
            alone = [snapshot.dense(question, limit, ANYWHERE) for question in questions]
            assert snapshot.dense_of_each(questions, limit) == alone

    def test_the_generation_tells_of_every_change(self, begun: Index) -> None:
        told = [begun.generation()]
        for change in (
            lambda: put(begun, "a.md", "one"),
            lambda: put(begun, "a.md", "two"),
            lambda: put(begun, "b.md", "three"),
            lambda: begun.remove("a.md"),
        ):
            change()
            told.append(begun.generation())
        begun.write_value("key", "value")
        begun.snapshot()
        assert begun.generation() == told[-1]
        assert len(set(told)) == 5

    def test_sections_are_told_with_their_first_passage(self, begun: Index) -> None:
        assert list(begun.sections()) == []
        put(begun, "z.md", "the last")
        note = document("b.md", "one\ntwo\n三つ")
        sections = [("Lease", "家賃"), ("Lease",), ("Lease",)]
        chunks = [
            dataclasses.replace(chunk, section=section)
            for chunk, section in zip(chunks_of(note, (8, 10), (0, 3), (4, 7)), sections, strict=True)
        ]
        begun.replace(note, source("b.md", note.text), chunks, embed(chunks, EMBEDDER), None)
        told = [(each.document, each.section, each.start, each.end) for each in begun.sections()]
        assert told[:2] == [("b.md", ("Lease",), 0, 3), ("b.md", ("Lease", "家賃"), 8, 10)]
        assert [each[0] for each in told[2:]] == ["z.md"]
