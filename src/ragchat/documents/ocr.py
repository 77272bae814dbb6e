"""Words in a picture, read by Tesseract where it is installed: with a confidence, and failed below one."""

from __future__ import annotations

import csv
import functools
import shutil
import subprocess
from dataclasses import dataclass
from itertools import groupby

PROGRAM = "tesseract"
INSTALL = "apt-get install tesseract-ocr, brew install tesseract, or see https://tesseract-ocr.github.io"
_RETRY = "then: ragchat index --retry"


@dataclass(frozen=True, slots=True)
class Recognised:
    """paragraphs: of lines. confidence: percent, the mean over all letters; 0 without any."""

    paragraphs: tuple[tuple[str, ...], ...]
    confidence: float


class NotRecognisedError(Exception):
    """Why a picture could not be read; reason and hint are for the user."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


@functools.cache
def installed_languages() -> frozenset[str] | None:
    """What Tesseract can read here; None where it is not installed."""
    if shutil.which(PROGRAM) is None:
        return None
    told = subprocess.run(
        [PROGRAM, "--list-langs"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    return frozenset(told.stdout.split("\n")[1:]) - {"", "osd"}


def recognise(pixels: bytes, width: int, height: int, languages: str, confidence: int) -> Recognised:
    """The words in a grey picture, rows of bytes from the top. languages: "eng+jpn".

    Raises NotRecognisedError: no Tesseract, a language it lacks, or less confidence than asked for.
    """
    if not languages:
        raise NotRecognisedError(
            "it is a picture, and pictures are not read", "set notes.ocr_languages to eng, " + _RETRY
        )
    there = installed_languages()
    if there is None:
        raise NotRecognisedError(
            "it is a picture without text, and Tesseract is not installed", f"{INSTALL}; {_RETRY}"
        )
    if missing := [language for language in languages.split("+") if language not in there]:
        raise NotRecognisedError(
            f"it is a picture, and Tesseract lacks the language {', '.join(missing)}",
            f"apt-get install {' '.join(f'tesseract-ocr-{language}' for language in missing)}; {_RETRY}",
        )
    done = subprocess.run(
        [PROGRAM, "stdin", "stdout", "-l", languages, "--dpi", "300", "-c", "tessedit_create_tsv=1"],
        input=b"P5 %d %d 255\n" % (width, height) + pixels,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NotRecognisedError(
            f"Tesseract failed on it: {why[-1] if why else f'exit code {done.returncode}'}", _RETRY
        )
    found = _read(done.stdout.decode("utf-8", "replace"))
    if found.paragraphs and found.confidence < confidence:
        raise NotRecognisedError(
            f"it is a picture, and what Tesseract reads in it has a confidence of {found.confidence:.0f} %,"
            f" below the {confidence} % asked for",
            f"scan it again, or set notes.ocr_languages or notes.ocr_confidence otherwise; {_RETRY}",
        )
    return found


def _read(table: str) -> Recognised:
    words = [
        row
        for row in csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
        if row["level"] == "5" and row["text"] and row["text"].strip()
    ]
    letters = sum(len(row["text"]) for row in words)
    paragraphs = []
    for _, paragraph in groupby(words, key=lambda row: (row["block_num"], row["par_num"])):
        lines = groupby(paragraph, key=lambda row: row["line_num"])
        paragraphs.append(tuple(" ".join(row["text"].strip() for row in line) for _, line in lines))
    confidence = sum(float(row["conf"]) * len(row["text"]) for row in words) / max(1, letters)
    return Recognised(tuple(paragraphs), confidence)
