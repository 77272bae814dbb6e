"""Several machines index one folder into one library, each taking documents that no other has."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ragchat.embedding.embedder import Matrix, TokenVectors
from ragchat.index.postgres.store import open_library
from ragchat.index.progress import IndexReport
from tests.doubles import WordEmbedder
from tests.index.building import indexer, write


class Unhurried(WordEmbedder):
    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        time.sleep(0.02)
        return super().embed_passages_with_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        time.sleep(0.02)
        return super().embed_passages(texts)


def notes(folder: Path, count: int) -> set[str]:
    long_enough = " ".join(f"word{number}" for number in range(400))
    texts = {f"{number:02}.md": f"# Note {number}\n\n{number} {long_enough}\n" for number in range(count)}
    write(folder, texts)
    return set(texts)


def test_two_machines_share_the_work_and_both_end_whole(
    server_url: str, library: str, tmp_path: Path
) -> None:
    names = notes(tmp_path / "notes", 24)
    embedders = [Unhurried(dimensions=64), Unhurried(dimensions=64)]
    reports: list[IndexReport] = []

    def work(embedder: WordEmbedder) -> None:
        index = open_library(server_url, library)
        reports.append(indexer(tmp_path / "notes", index, embedder).run())
        index.close()

    threads = [threading.Thread(target=work, args=(embedder,)) for embedder in embedders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.complete for report in reports] == [True, True]
    texts = [text for embedder in embedders for text in embedder.texts_embedded]
    assert len(texts) == len(set(texts)), "a document was embedded by both"
    assert all(embedder.texts_embedded for embedder in embedders)
    index = open_library(server_url, library)
    assert set(index.sources()) == names
    assert index.coverage().indexed == len(names)
    again = indexer(tmp_path / "notes", index, embedders[0]).run()
    assert (again.unchanged, again.chunks_embedded) == (len(names), 0)
    index.close()


def test_what_a_dead_indexer_had_taken_is_done_by_another(
    server_url: str, library: str, tmp_path: Path
) -> None:
    names = notes(tmp_path / "notes", 3)
    dying, living = open_library(server_url, library), open_library(server_url, library)
    embedder = WordEmbedder(dimensions=64)
    indexer(tmp_path / "notes", living, embedder).run()
    (tmp_path / "notes" / "new.md").write_text("a new note")
    assert dying.claim("new.md", 0) == "ours"
    threading.Timer(0.7, dying.close).start()
    report = indexer(tmp_path / "notes", living, embedder).run()
    assert (report.added, report.complete) == (1, True)
    assert set(living.sources()) == {*names, "new.md"}
    living.close()


def test_what_another_has_done_since_is_not_taken(server_url: str, library: str, tmp_path: Path) -> None:
    notes(tmp_path / "notes", 1)
    first, second = open_library(server_url, library), open_library(server_url, library)
    indexer(tmp_path / "notes", first, WordEmbedder(dimensions=64)).run()
    assert second.claim("00.md", 0) == "done"
    revision = first.sources()["00.md"].revision
    assert second.claim("00.md", revision) == "ours"
    assert first.claim("00.md", revision) == "theirs"
    second.release("00.md")
    assert first.claim("00.md", revision) == "ours"
    first.close()
    second.close()
