"""tantivy, in memory, words between blanks, any of the question's words (its BM25 has the same constants)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.children.serve import serve

_LIMIT = 40


class Tantivy:
    """One index in memory."""

    def __init__(self) -> None:
        self._index: Any
        self._searcher: Any
        self._questions: list[str] = []

    def build(self, request: dict[str, Any]) -> None:
        """From the texts."""
        schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="whitespace").build()
        self._index = tantivy.Index(schema)
        writer = self._index.writer(500_000_000)
        with Path(request["texts"]).open(encoding="utf-8") as file:
            for line in file:
                writer.add_document(tantivy.Document(text=line))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()
        self._questions = json.loads(Path(request["questions"]).read_text(encoding="utf-8"))

    def query(self, request: dict[str, Any]) -> None:
        """The best for one question."""
        question = self._questions[request["round"] % len(self._questions)]
        self._searcher.search(self._index.parse_query(question, ["text"]), _LIMIT)


if __name__ == "__main__":
    index = Tantivy()
    serve({"build": index.build, "query": index.query})
