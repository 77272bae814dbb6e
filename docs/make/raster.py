"""Textual's SVG to a small PNG, with the same letters on every machine.

They are those of DejaVu Sans Mono, which comes with matplotlib, so that a picture does not depend on what is
installed. Chinese and Japanese need Noto Sans CJK on the system.
"""

from __future__ import annotations

import html
import io
import itertools
import re
from functools import cache

import resvg_py
from matplotlib.font_manager import FontProperties, findfont
from PIL import Image
from rich.cells import cell_len

_LARGEST = 100_000
"""Bytes of a picture; one that is larger is made smaller."""
_COLOURS = 128
_CELL = 12.2
"""The width of a cell in Rich's SVG, in pixels."""
_FONT_SIZE = 20.96
"""At which the box characters of DejaVu Sans Mono are as high as a line (24.4): no border is broken."""
_LETTERS, _WIDE = "DejaVu Sans Mono", "Noto Sans CJK JP"
_TEXT = re.compile(
    r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"([^>]*)>([^<]*)</text>'
)


def rastered(svg: str, zoom: float) -> Image.Image:
    """The picture of a screen, RGB."""
    png = resvg_py.svg_to_bytes(
        svg_string=_prepared(svg), zoom=zoom, skip_system_fonts=True, font_files=list(_fonts())
    )
    return Image.open(io.BytesIO(png)).convert("RGB")


def small_png(svg: str) -> bytes:
    """As PNG with a palette: a screen has few colours, and the edges of its letters are their mixtures."""
    for zoom in (1.0, 0.9, 0.8):
        buffer = io.BytesIO()
        picture = rastered(svg, zoom).quantize(_COLOURS, dither=Image.Dither.NONE)
        picture.save(buffer, "png", optimize=True)
        if buffer.tell() < _LARGEST:
            break
    return buffer.getvalue()


@cache
def _fonts() -> tuple[str, ...]:
    """The font files. Raises ValueError where one is not installed."""
    letters = (
        FontProperties(family=_LETTERS, weight=weight, style="oblique" if slanted else "normal")
        for weight, slanted in itertools.product(("normal", "bold"), (False, True))
    )
    wide = (FontProperties(family=_WIDE, weight=weight) for weight in ("normal", "bold"))
    return tuple(findfont(font, fallback_to_default=False) for font in (*letters, *wide))


def _prepared(svg: str) -> str:
    """With our fonts, and each run of wide characters in cells of its own: Rich counts them as narrow."""
    svg = svg.replace("Fira Code, monospace", _LETTERS).replace(
        "font-family: arial", f"font-family: {_LETTERS}"
    )
    svg = svg.replace("font-size: 20px", f"font-size: {_FONT_SIZE}px")
    return _TEXT.sub(_in_cells, svg)


def _in_cells(found: re.Match[str]) -> str:
    kind, x, y, rest, text = found.groups()
    at, placed = float(x), []
    for cells, characters in itertools.groupby(html.unescape(text), cell_len):
        run = "".join(characters)
        width = cell_len(run) * _CELL
        family = f' font-family="{_WIDE}" font-size="22"' if cells == 2 else ""
        placed.append(
            f'<text class="{kind}" x="{at:.1f}" y="{y}" textLength="{width:.1f}"{rest}{family}>'
            f"{html.escape(run)}</text>"
        )
        at += width
    return "".join(placed)
