from __future__ import annotations

import pytest

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document, Locator
from ragchat.errors import UsageError
from tests.chunking.documents import DocumentBuilder
from tests.doubles import WordEmbedder

SENTENCE = "The lease number {} ends in spring, says Dr. Lee of St. Mary. "


def chunks_of(document: Document, options: ChunkOptions | None = None, *, window: int = 256) -> list[Chunk]:
    return chunk_document(document, options or ChunkOptions(), WordEmbedder(window=window))


def test_an_empty_document_gives_no_chunk() -> None:
    assert chunks_of(DocumentBuilder().build()) == []
    assert chunks_of(DocumentBuilder().loose(" \r\n\u200b\t").build()) == []


def test_the_header_says_where_we_are_and_is_never_quoted() -> None:
    document = (
        DocumentBuilder("Flat").heading("Lease").heading("Lease", "Term").block("It ends in May.").build()
    )
    (chunk,) = chunks_of(document)
    assert chunk.text == "[Flat > Lease > Term]\nIt ends in May."
    assert chunk.content == "It ends in May."
    assert chunk.section == ("Lease", "Term")
    assert chunk.header_tokens == 3


def test_a_title_that_is_the_first_heading_is_said_once() -> None:
    document = DocumentBuilder("The flat").heading("The  Flat").block("Two rooms.").build()
    assert chunks_of(document)[0].text == "[The Flat]\nTwo rooms."


def test_a_header_never_takes_more_than_a_third_of_the_window() -> None:
    path = tuple(f"heading {level} " + "word " * 20 for level in range(4))
    document = DocumentBuilder("title " * 30).heading(*path).block("Body of the note.").build()
    (chunk,) = chunks_of(document, window=60)
    assert 0 < chunk.header_tokens <= 20
    assert "heading 3" in chunk.text
    assert chunk.content == "Body of the note."


def test_whole_paragraphs_are_packed_and_none_is_cut_that_fits() -> None:
    builder = DocumentBuilder()
    paragraphs = [
        f"Paragraph {number}. " + "It goes on and on. " * length for number, length in enumerate((9, 15, 20))
    ]
    for paragraph in paragraphs:
        builder.block(paragraph.strip())
    assert [chunk.content for chunk in chunks_of(builder.build())] == [
        "\n\n".join(paragraph.strip() for paragraph in paragraphs[:2]),
        paragraphs[2].strip(),
    ]


def test_a_long_paragraph_is_cut_at_sentence_ends_only() -> None:
    document = DocumentBuilder().block("".join(SENTENCE.format(number) for number in range(40))).build()
    chunks = chunks_of(document)
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.content.startswith("The lease")
        assert chunk.content.endswith("St. Mary.")


def test_sections_are_not_mixed_and_text_before_the_first_heading_is_kept() -> None:
    document = (
        DocumentBuilder().block("Intro.").heading("A").block("Short.").heading("B").block("Also.").build()
    )
    assert [(chunk.section, chunk.content) for chunk in chunks_of(document)] == [
        ((), "Intro."),
        (("A",), "Short."),
        (("B",), "Also."),
    ]


def test_headings_with_nothing_below_them_are_found_together() -> None:
    document = DocumentBuilder().heading("Shop").heading("Shop", "Milk").heading("Shop", "Eggs").build()
    (chunk,) = chunks_of(document)
    assert chunk.section == ("Shop",)
    assert chunk.content == "## Milk\n\n## Eggs"


def test_a_chunk_never_reaches_over_what_is_excluded() -> None:
    document = DocumentBuilder().block("Before.").exclude("A" * 30).loose("\n\n").block("After.").build()
    assert [chunk.content for chunk in chunks_of(document)] == ["Before.", "After."]


def test_silent_ranges_are_quoted_but_not_embedded() -> None:
    builder = DocumentBuilder().block(
        "See [the lease](http://a.b/c. D) now.<br>Then H<sub>2</sub>O.  <!-- x -->"
    )
    for silent in ("[", "](http://a.b/c. D)", "<br>", "<sub>", "</sub>", "<!-- x -->"):
        builder.silence(silent)
    (chunk,) = chunks_of(builder.build())
    assert chunk.text == "[Notes]\nSee the lease now. Then H2O."
    assert chunk.content.startswith("See [the lease](http://a.b/c. D) now.")


def test_a_sentence_is_not_cut_within_a_link_target() -> None:
    link = "[lease](<http://a.b/one. Two three>)"
    builder = (
        DocumentBuilder().block(f"See {link} here for more. " * 30).silence("(<http://a.b/one. Two three>)")
    )
    for chunk in chunks_of(builder.build(), ChunkOptions(size=60)):
        assert chunk.content.startswith("See [lease](<")
        assert chunk.content.endswith("more.")


def test_a_block_in_which_nothing_can_be_read_gives_no_chunk() -> None:
    document = (
        DocumentBuilder().heading("A").heading("A", "B").block("![](x.png)").silence("![](x.png)").build()
    )
    assert [chunk.content for chunk in chunks_of(document)] == ["## B"]


def test_later_parts_of_a_table_repeat_its_column_names_in_what_is_embedded() -> None:
    header = "| tenant | rent in euro |\n"
    rows = "".join(f"| Tenant number {number} | {number} |\n" for number in range(60))
    chunks = chunks_of(DocumentBuilder().block(rows, "table", header=header).build())
    assert len(chunks) > 2
    assert chunks[0].text.count("rent in euro") == 1
    for chunk in chunks[1:]:
        assert chunk.text.startswith("[Notes]\n| tenant | rent in euro |\n| Tenant number")
        assert chunk.content.startswith("| Tenant number")
        assert chunk.content.endswith("|")


def test_code_is_cut_between_lines_and_can_be_dropped() -> None:
    code = "".join(f"print('line {number}. Done')  # e.g. this\n" for number in range(40))
    document = DocumentBuilder().block("Run this.").block(code, "code").block("Done.").build()
    for chunk in chunks_of(document)[1:-1]:
        assert chunk.content.startswith("print(")
        assert chunk.content.endswith("# e.g. this")
    assert [chunk.content for chunk in chunks_of(document, ChunkOptions(code=False))] == [
        "Run this.",
        "Done.",
    ]


def test_japanese_is_cut_to_the_window_at_full_stops() -> None:
    class ByCharacter(WordEmbedder):
        def count_tokens(self, text: str) -> int:
            return len(text) + 2

    document = DocumentBuilder().block("契約は三月の終わりに満了する。" * 60).build()
    chunks = chunk_document(document, ChunkOptions(), ByCharacter(window=256))
    assert all(chunk.tokens <= 256 and chunk.content.endswith("。") for chunk in chunks)
    assert min(len(chunk.content) for chunk in chunks[:-1]) > 200


def test_a_whole_section_is_one_passage_as_far_as_the_window_reads() -> None:
    builder = DocumentBuilder().heading("A").block("one " * 100).block("two " * 100)
    document = builder.heading("B").block("three " * 400).build()
    whole, *parts = chunks_of(document, ChunkOptions(strategy="sections", size=100))
    assert (whole.section, whole.content[:3], whole.content[-3:]) == (("A",), "one", "two")
    assert {chunk.section for chunk in parts} == {("B",)}
    assert len(parts) == 2  # 400 words and a window of 256


def test_overlap_grows_what_is_embedded_and_not_what_is_quoted() -> None:
    document = DocumentBuilder().block("".join(SENTENCE.format(number) for number in range(20))).build()
    first, second, *_ = chunks_of(document, ChunkOptions(overlap=40))
    assert first.context_start == first.start == 0
    assert 0 < second.start - second.context_start <= 40
    context = document.text[second.context_start : second.start]
    assert context == "in spring, says Dr. Lee of St. Mary. "
    assert second.text == f"[Notes]\n{context}{second.content}"
    assert (second.lead, second.sent) == (context, context + second.content)


def test_a_blind_window_halved_for_the_encoder_is_labelled_where_each_half_begins() -> None:
    class CountsMore(WordEmbedder):
        """The passage with its header has more tokens than the two counted apart."""

        def count_tokens(self, text: str) -> int:
            return 100 if "[Notes" in text and "# A" in text and "word" in text else 2

    document = DocumentBuilder().heading("A").heading("B").block("word " * 8).build()
    chunks = chunk_document(document, ChunkOptions(strategy="blind", size=100), CountsMore(window=64))
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.section == (("A",) if chunk.start < document.text.index("# B") else ("B",))


def test_blind_windows_ignore_structure_but_not_exclusions() -> None:
    builder = DocumentBuilder().block("a" * 150).exclude("b" * 10).heading("H").block("c" * 90)
    chunks = chunks_of(builder.build(), ChunkOptions(strategy="blind", size=100))
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 100), (100, 150), (162, 257)]
    assert [chunk.section for chunk in chunks] == [(), (), ("H",)]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_an_editor_counts_them(newline: str) -> None:
    text = newline.join(["one\x0btwo\u2028x", "", "three", "four"])
    document = DocumentBuilder().block("a" * 500, after=newline * 2).block(text, after="").build()
    assert [(chunk.first_line, chunk.last_line) for chunk in chunks_of(document)] == [(1, 1), (3, 6)]


def test_a_chunk_knows_the_page_on_which_it_begins() -> None:
    builder = DocumentBuilder().block("a" * 500).block("b" * 500)
    builder.locators += [Locator("page", "1", 0, 502), Locator("page", "2", 502, 1004)]
    assert [chunk.locator for chunk in chunks_of(builder.build())] == ["page=1", "page=2"]


def test_list_marks_that_no_block_holds_stay_with_their_item() -> None:
    builder = DocumentBuilder()
    for item in ("buy milk " * 30, "buy eggs " * 30):
        builder.loose("- ").block(item.strip(), "list_item", after="\n")
    first, second = chunks_of(builder.build())
    assert first.content.startswith("- buy milk")
    assert second.content.startswith("- buy eggs")


def test_a_window_without_room_for_a_passage_is_refused() -> None:
    with pytest.raises(UsageError, match="reads only 16 tokens"):
        chunks_of(DocumentBuilder().block("Words.").build(), window=16)


def test_a_title_that_is_no_unicode_does_not_stop_the_tokenizer() -> None:
    (chunk,) = chunks_of(DocumentBuilder("caf\udce9").block("Words.").build())
    chunk.text.encode()
    assert chunk.title == "caf\udce9"
