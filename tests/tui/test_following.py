"""Edits in the open folder: the header tells at once that they are not indexed yet, and when they are."""

from __future__ import annotations

import threading

from ragchat.errors import IndexLocked
from tests.tui.fake_workspace import Scene
from tests.tui.stage import Stage, on_stage


async def watched(stage: Stage) -> None:
    await stage.opened()
    await stage.until(lambda: stage.workspace.stir is not None, "watching")
    await stage.until(lambda: "index ● fresh" in stage.text(), "fresh")
    assert stage.workspace.is_watched


async def test_an_edit_is_updating_until_it_is_indexed() -> None:
    async with on_stage() as stage:
        await watched(stage)
        assert stage.workspace.stir is not None
        stage.workspace.stir()
        await stage.until(lambda: "index ◐ updating" in stage.text(), "the header")
        assert not stage.workspace.is_watched
        before = stage.text().replace("index ◐ updating", "index ● fresh")
        assert stage.workspace.change is not None
        stage.workspace.change()
        await stage.until(lambda: len(stage.workspace.updates) == 2, "indexing")
        await stage.until(lambda: "index ● fresh" in stage.text(), "the header again")
        await stage.until(lambda: stage.workspace.is_watched, "watched again")
        assert "Indexed in" not in stage.text()  # a few edits are not worth a word
        assert before.count("index ● fresh") == 1


async def test_what_changes_while_indexing_is_indexed_afterwards() -> None:
    hold = threading.Event()
    scene = Scene()
    async with on_stage(scene) as stage:
        await watched(stage)
        scene.hold = hold
        assert stage.workspace.change is not None
        for _ in range(3):
            stage.workspace.change()
        await stage.until(lambda: len(stage.workspace.updates) == 2, "the first")
        stage.workspace.change()
        hold.set()
        await stage.until(lambda: len(stage.workspace.updates) == 3, "once more")
        await stage.until(lambda: "index ● fresh" in stage.text(), "fresh")
        assert len(stage.workspace.updates) == 3


async def test_another_process_at_the_index_is_waited_for() -> None:
    scene = Scene()
    async with on_stage(scene) as stage:
        await watched(stage)
        scene.index_error = IndexLocked("another ragchat is updating this index")
        assert stage.workspace.stir is not None
        stage.workspace.stir()
        assert stage.workspace.change is not None
        stage.workspace.change()
        await stage.until(lambda: len(stage.workspace.updates) == 2, "trying")
        await stage.until(lambda: "index ◐ updating" in stage.text(), "the header")
        assert "another ragchat" not in stage.text()
        scene.index_error = None
        await stage.until(lambda: "index ● fresh" in stage.text(), "fresh")


async def test_a_folder_that_cannot_be_watched_says_why() -> None:
    async with on_stage(Scene(polled="it lies on nfs4, which may not tell of changes")) as stage:
        await stage.until(lambda: "instead of watched" in stage.text(), "the reason")
        await stage.opened()
        assert not stage.workspace.is_watched
