"""Makes what the documentation shows from the program itself.

    python -m docs.make                      # every picture, the film, and the pages made of tables
    python -m docs.make viewer refusal       # only these
    python -m docs.make tables               # only docs/keys.md and docs/settings.md

The pictures need `pip install -e '.[docs,test]'`, and Noto Sans CJK for the Japanese note.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from docs.make.scenes import SCENES, Scene
from docs.make.stage import home, model_server, on_stage
from docs.make.tables import pages

PICTURES = Path(__file__).resolve().parent.parent / "pictures"
FILM, TABLES = "film", "tables"
PAGE = PICTURES.parent / "screens.md"

_HEAD = """# The screens

Made by `python -m docs.make` from the program itself, with the sample notes of `ragchat demo`, the built-in \
embedder, the real search and gate. Only the model server is scripted.

![Asking, the answer as it comes, a source, a refusal and every candidate of it](pictures/{film}.gif)

"""


async def taken(scene: Scene, notes: Path) -> str:
    """The scene as SVG."""
    with model_server() as server:
        async with on_stage(
            notes, server, size=scene.size, theme=scene.theme, first_start=scene.first_start
        ) as stage:
            await scene.act(stage)
            return await stage.picture()


def page() -> str:
    """The page of all screens."""
    parts = [_HEAD.format(film=FILM)]
    for scene in SCENES:
        size = "×".join(str(cells) for cells in scene.size)
        parts.append(f"## {scene.caption}\n\n![{scene.caption}](pictures/{scene.name}.png)\n\n")
        parts.append(f"`{scene.theme}`, {size}\n\n")
    return "".join(parts).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write `docs/pictures/` and the pages that are made."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m docs.make", description=description)
    names = [TABLES, *(scene.name for scene in SCENES), FILM]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; none means all")
    wanted = parser.parse_args(arguments).names or names
    if unknown := set(wanted) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}: {', '.join(names)}")
    if TABLES in wanted:
        for path, text in (pages() | {PAGE: page()}).items():
            path.write_text(text, encoding="utf-8")
            print(f"docs/{path.name}")
    if wanted != [TABLES]:
        _take(wanted)


def _take(wanted: Sequence[str]) -> None:
    from docs.make.film import filmed
    from docs.make.raster import small_png

    os.environ["COLORTERM"] = "truecolor"
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, home(Path(folder)) as notes:
        for scene in SCENES:
            if scene.name in wanted:
                _write(f"{scene.name}.png", small_png(asyncio.run(taken(scene, notes))))
        if FILM in wanted:
            _write(f"{FILM}.gif", asyncio.run(filmed(notes)))


def _write(name: str, content: bytes) -> None:
    (PICTURES / name).write_bytes(content)
    print(f"docs/pictures/{name}  {len(content) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
