"""The animated picture: asking, the answer as it comes, a source, a refusal and why it was refused."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from docs.make.raster import rastered
from docs.make.stage import LEASE, WORLD_CUP, Stage, model_server, on_stage

SIZE = (100, 28)
_ZOOM = 0.72
_COLOURS = 96
_WORD_SECONDS = 0.12
_KEY_MS, _WORD_MS, _LOOK_MS, _READ_MS = 70, 140, 1400, 3200


@dataclass(slots=True)
class Film:
    """The frames taken so far, each with the milliseconds it is shown."""

    stage: Stage
    frames: list[tuple[str, int]] = field(default_factory=list)

    async def take(self, milliseconds: int) -> None:
        """Show what is on the screen for so long; what did not change is shown longer."""
        picture = await self.stage.picture()
        if self.frames and self.frames[-1][0] == picture:
            self.frames[-1] = (picture, self.frames[-1][1] + milliseconds)
        else:
            self.frames.append((picture, milliseconds))

    async def type_and_ask(self, question: str) -> None:
        """Type a question by its keys, ask it, and take the answer as it comes."""
        for end in range(0, len(question), 3):
            self.stage.app.chat.prompt.put(question[: end + 3])
            await self.take(_KEY_MS)
        turns = len(self.stage.app.chat.conversation.turns)
        self.stage.app.chat.prompt.action_ask()
        await self.stage.until(lambda: len(self.stage.app.chat.conversation.turns) > turns, "the turn")
        while not self.stage.finished():
            await self.take(_WORD_MS)
        await self.stage.pilot.pause(1.0)
        await self.take(_READ_MS)


async def filmed(notes: Path) -> bytes:
    """The film as an animated GIF."""
    with model_server(_WORD_SECONDS) as server:
        async with on_stage(notes, server, size=SIZE) as stage:
            film = Film(stage)
            await film.take(_LOOK_MS)
            await film.type_and_ask(LEASE)
            await stage.press("alt+1", shows="exact")
            await film.take(_READ_MS)
            await stage.press("escape", shows="Conversation")
            await film.take(_LOOK_MS)
            await film.type_and_ask(WORLD_CUP)
            await stage.press("ctrl+e", shows="too far")
            await film.take(_READ_MS)
    return _gif(film.frames)


def _gif(frames: list[tuple[str, int]]) -> bytes:
    """One palette for all frames, so that what stands still does not flicker."""
    pictures = [rastered(svg, _ZOOM) for svg, _ in frames]
    sheet = Image.new("RGB", (pictures[0].width, pictures[0].height * 3))
    for place, picture in enumerate((pictures[0], pictures[len(pictures) // 2], pictures[-1])):
        sheet.paste(picture, (0, place * picture.height))
    palette = sheet.quantize(_COLOURS, dither=Image.Dither.NONE)
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    flat[0].save(
        buffer,
        "gif",
        save_all=True,
        append_images=flat[1:],
        duration=[milliseconds for _, milliseconds in frames],
        loop=0,
        optimize=False,
        disposal=1,
    )
    return buffer.getvalue()
