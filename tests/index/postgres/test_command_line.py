"""What `index` and `forget` do to a library that other people use too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragchat.cli.program import run
from ragchat.embedding import registry
from ragchat.index.postgres.store import open_library
from tests.doubles import WordEmbedder
from tests.index.building import write

Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(
    server_url: str,
    library: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """`command("index", "-f", folder)` on the library: its exit code and what it said."""
    words = WordEmbedder()
    monkeypatch.setattr(registry, "open_embedder", lambda *args, **kwargs: words)
    monkeypatch.setattr(registry, "expected_stamp", lambda *args, **kwargs: words.stamp)
    for kind in ("data", "cache", "config"):
        monkeypatch.setenv(f"RAGCHAT_{kind.upper()}_DIR", str(tmp_path / kind))

    def command(*arguments: str) -> tuple[int, str]:
        code = run((*arguments, "--index", server_url, "--set", f"index.library={library}"))
        told = capsys.readouterr()
        return code, told.out + told.err

    return command


def names(server_url: str, library: str) -> set[str]:
    index = open_library(server_url, library)
    try:
        return set(index.sources())
    finally:
        index.close()


@pytest.mark.parametrize("count", [1, 3, 5, 8])
def test_another_folder_does_not_empty_a_library_of_any_size(
    command: Command, server_url: str, library: str, tmp_path: Path, count: int
) -> None:
    ours = {f"{number}.md": f"Note {number}.\n" for number in range(count)}
    write(tmp_path / "ours", ours)
    write(tmp_path / "other", {"other.md": "Something else.\n"})
    assert command("index", "-f", str(tmp_path / "ours"))[0] == 0
    code, told = command("index", "-f", str(tmp_path / "other"))
    assert code == 2
    assert "nothing was changed" in told
    assert names(server_url, library) == set(ours)
    assert command("index", "--yes", "-f", str(tmp_path / "other"))[0] == 0
    assert names(server_url, library) == {"other.md"}


def test_a_few_deletions_are_ordinary(
    command: Command, server_url: str, library: str, tmp_path: Path
) -> None:
    write(tmp_path / "ours", {f"{number}.md": f"Note {number}.\n" for number in range(4)})
    command("index", "-f", str(tmp_path / "ours"))
    for number in range(3):
        (tmp_path / "ours" / f"{number}.md").unlink()
    assert command("index", "-f", str(tmp_path / "ours"))[0] == 0
    assert names(server_url, library) == {"3.md"}


def test_forget_leaves_the_library_and_says_so(
    command: Command, server_url: str, library: str, tmp_path: Path
) -> None:
    write(tmp_path / "ours", {"a.md": "A note.\n"})
    command("index", "-f", str(tmp_path / "ours"))
    for _ in range(2):  # the second time nothing of ours is left
        code, told = command("forget", "--yes", "-f", str(tmp_path / "ours"))
        assert code == 0
        assert f"the shared library {library} in postgresql://" in told
        assert "was not touched" in told
        assert names(server_url, library) == {"a.md"}


def test_forget_reaches_no_server(command: Command, tmp_path: Path) -> None:
    """What is deleted lies on this machine; a server that is down must not stand in the way."""
    write(tmp_path / "ours", {"a.md": "A note.\n"})
    command("index", "-f", str(tmp_path / "ours"))
    away = ("--set", "index.library=notes", "--index", "postgresql://nobody@127.0.0.1:9/none")
    assert run(("forget", "--yes", "-f", str(tmp_path / "ours"), *away)) == 0
