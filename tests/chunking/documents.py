"""Documents made by hand and at random: what a chunker has to get right whatever reads the files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from ragchat.documents.document import Block, BlockKind, Document, Locator, Section, Span

KINDS: tuple[BlockKind, ...] = ("paragraph", "list_item", "quote", "table", "code", "html")


class DocumentBuilder:
    """Appends headings and blocks to a text and keeps their ranges."""

    def __init__(self, title: str = "Notes", name: str = "notes.md") -> None:
        self.title = title
        self.name = name
        self.text = ""
        self.blocks: list[Block] = []
        self.silent: list[Span] = []
        self.excluded: list[Span] = []
        self.locators: list[Locator] = []
        self._headings: list[tuple[tuple[str, ...], int, int]] = []

    def heading(self, *path: str) -> DocumentBuilder:
        start = len(self.text)
        self.text += "#" * len(path) + " " + path[-1]
        self.blocks.append(Block("heading", start, len(self.text)))
        self.text += "\n\n"
        self._headings.append((path, start, len(self.text)))
        return self

    def block(
        self, text: str, kind: BlockKind = "paragraph", *, after: str = "\n\n", header: str = ""
    ) -> DocumentBuilder:
        start = len(self.text)
        columns = Span(start, start + len(header)) if header else None
        self.text += header + text
        self.blocks.append(Block(kind, start, len(self.text), columns))
        self.text += after
        return self

    def loose(self, text: str) -> DocumentBuilder:
        self.text += text
        return self

    def exclude(self, text: str) -> DocumentBuilder:
        self.excluded.append(Span(len(self.text), len(self.text) + len(text)))
        self.text += text
        return self

    def silence(self, words: str) -> DocumentBuilder:
        """Make every occurrence of these words silent."""
        position = self.text.find(words)
        while position >= 0:
            self.silent.append(Span(position, position + len(words)))
            position = self.text.find(words, position + len(words))
        return self

    def build(self) -> Document:
        marks = [*self._headings, ((), len(self.text), len(self.text))]
        sections = [Section((), 0, marks[0][1], 0)] if marks[0][1] else []
        sections += [
            Section(path, start, following[1], body) for (path, start, body), following in pairwise(marks)
        ]
        return Document(
            name=self.name,
            title=self.title,
            text=self.text,
            encoding="utf-8",
            sections=tuple(sections),
            blocks=tuple(self.blocks),
            silent=tuple(sorted(self.silent)),
            excluded=tuple(self.excluded),
            locators=tuple(self.locators),
            extractor="hand/1",
            digest="0" * 64,
        )


NEWLINES = ("\n", "\r\n", "\r")
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
WORDS = (
    *("the", "lease", "ends", "Dr.", "e.g.", "3.14", "No.", "stop.", "Really?", "go!", "…", "`` hi . ''"),
    *("契約は三月に終わる。", "「はい。」と", "え？", "句読点、", "नमस्ते।", "١٢٣؟", "ﷺ", "漢" * 60, "x" * 70),
    *(
        FAMILY,
        "\U0001f1ef\U0001f1f5\U0001f1e9\U0001f1ea",
        "e\u0301",
        "\u1100\u1161\u11a8",
        "각",
        "z" + "\u0301" * 50,
    ),
    *("\u200b", "\x1b[2J", "\x00", "\u2028", "\x85", "|", "<b>", "<br>", "](http://a.b/c.d)", "(so.)"),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Documents of any layout: sections, blocks, gaps, silent and excluded ranges, every newline."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    newline = draw(st.sampled_from(NEWLINES))
    builder = DocumentBuilder(
        title=draw(st.sampled_from(("Notes", "", "長い題名" * 30, "T " * 200, "a\ud800b")))
    )
    for _ in range(draw(st.integers(0, 12))):
        match draw(st.sampled_from(("block", "block", "block", "heading", "loose", "excluded"))):
            case "block":
                kind = draw(st.sampled_from(KINDS))
                columns = "| lease | end |" + newline if kind == "table" and rng.random() < 0.7 else ""
                builder.block(
                    _words(rng, newline),
                    kind,
                    after=rng.choice((newline, newline * 2, " ", "")),
                    header=columns,
                )
            case "heading":
                depth = rng.randint(1, 4)
                builder.heading(*(f"{rng.choice(WORDS)} {level}" for level in range(depth)))
            case "loose":
                builder.loose(
                    newline + rng.choice(("", "- ", _words(rng, newline))) + rng.choice(("", newline))
                )
            case "excluded":
                builder.exclude(_words(rng, newline))
    document = builder.build()
    return _with_silence(document, rng) if draw(st.booleans()) else document


def _words(rng: random.Random, newline: str) -> str:
    count = rng.choice((0, 1, 3, 20, 60, 200))
    pool = rng.sample(WORDS, k=rng.randint(1, len(WORDS)))
    gaps = (" ", " ", " ", "", "  ", newline, newline + "    ", "\u3000", "\t")
    return "".join(rng.choice(pool) + rng.choice(gaps) for _ in range(count))


def _with_silence(document: Document, rng: random.Random) -> Document:
    cuts = sorted(
        rng.sample(range(len(document.text) + 1), k=min(len(document.text) + 1, 2 * rng.randint(1, 8)))
    )
    spans: Sequence[Span] = [Span(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    return Document(
        **{
            **{name: getattr(document, name) for name in Document.__slots__},
            "silent": tuple(spans),
        }
    )
