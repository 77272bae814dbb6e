"""Contact sheets of the snapshots: python -m tests.tui.sheets FOLDER [WORD…] (needs the extra `docs`).

Eight pictures a sheet; the words keep those whose name holds all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from docs.make.raster import rastered

KEPT = Path(__file__).parent / "__snapshots__" / "test_snapshots"
EIGHT = 8


def make(folder: Path, words: list[str]) -> None:
    """Write the sheets; two pictures stand side by side."""
    found = sorted(path for path in KEPT.iterdir() if all(word in path.name for word in words))
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(0, len(found), EIGHT):
        pictures = [rastered(path.read_text(), 0.62) for path in found[number : number + EIGHT]]
        width, height = max(each.width for each in pictures), max(each.height for each in pictures)
        sheet = Image.new("RGB", (2 * width, (len(pictures) + 1) // 2 * height), "#808080")
        for at, picture in enumerate(pictures):
            sheet.paste(picture, (at % 2 * width, at // 2 * height))
        sheet.save(folder / f"sheet-{number // EIGHT:02}.png")


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2:])
