"""Every kind of note on the command line: cited by its page, told when it could not be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Ragchat
from tests.documents.pdfs import Picture, column, pdf

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
PAGES = [
    column(72, 700, ["The lease ends on 31 March 2027 with a notice of two months."]),
    column(72, 700, ["The boiler shows error E1187 when the water pressure is low."]),
]


@pytest.fixture
def folder(notes: Path) -> Path:
    """With a PDF, a sheet, a broken file and an archive."""
    (notes / "scan.pdf").write_bytes(pdf(*PAGES, [Picture(2, 2, b"\0\xff\xff\0")]))
    (notes / "rents.csv").write_text("Room,Rent\nKitchen,300\nBathroom,80\n")
    (notes / "locked.pdf").write_bytes(pdf(*PAGES, password="x"))
    (notes / "photos.zip").write_bytes(b"PK")
    return notes


def test_a_citation_has_its_page_and_shows_what_it_points_to(ragchat: Ragchat, folder: Path) -> None:
    assert ragchat("index", "--set", "notes.ocr_languages=").code == 1
    told = json.loads(ragchat("search", "error E1187 water pressure boiler", "--json").out)
    [found] = [
        each for each in told["candidates"] if each["document"] == "scan.pdf" and "page=2" in each["locator"]
    ]
    assert found["locator"] == f"#char={found['start']},{found['end']}&page=2"
    shown = ragchat("show", found["document"] + found["locator"], "--json")
    told = json.loads(shown.out)
    assert told["text"] == "The boiler shows error E1187 when the water pressure is low."
    assert told["locator"] == found["locator"]
    told = json.loads(ragchat("search", "Bathroom Rent Room", "--json").out)
    [row] = [each for each in told["candidates"] if each["document"] == "rents.csv"]
    assert row["locator"].endswith("&sheet=rents!A1:B3")


def test_status_tells_what_failed_what_was_read_in_part_and_what_was_skipped(
    ragchat: Ragchat, folder: Path
) -> None:
    ragchat("index", "--set", "notes.ocr_languages=")
    told = json.loads(ragchat("status", "--json").out)
    assert told["documents"] == {"indexed": 4, "failed": 1, "skipped": 1, "stale": 0}
    assert [failure["document"] for failure in told["failures"]] == ["locked.pdf"]
    assert "opens only with its password" in told["failures"][0]["reason"]
    assert told["gaps"] == [
        {"document": "scan.pdf", "missing": ["page 3: it is a picture, and pictures are not read"]}
    ]
    assert told["skipped"] == {"unsupported .zip": 1}
    out = ragchat("status").out
    assert "failed: locked.pdf: it is encrypted" in out
    assert "read in part: scan.pdf: page 3: it is a picture" in out
    assert "1 unsupported .zip" in out


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("corpus", "indexed", "failed", "skipped"), [("nasty-pdf", 61, 26, 0), ("nasty-text", 112, 2, 0)]
)
def test_the_nasty_folders_end_with_a_truthful_status(
    ragchat: Ragchat, corpus: str, indexed: int, failed: int, skipped: int
) -> None:
    folder = CORPORA / corpus / "corpus"
    if not folder.is_dir():
        pytest.skip("the shared corpora are not here")
    # A novel of 3 MB is over this limit.
    settings = ("-f", str(folder), "--set", "notes.ocr_languages=", "--set", "notes.max_file_mb=1")
    assert ragchat("index", *settings).code == 1
    told = json.loads(ragchat("status", *settings, "--json").out)
    assert told["documents"] == {"indexed": indexed, "failed": failed, "skipped": skipped, "stale": 0}
    assert len(told["failures"]) == failed
    assert all(failure["reason"] and failure["hint"] for failure in told["failures"])


def test_retry_reads_again_what_was_read_in_part(ragchat: Ragchat, folder: Path) -> None:
    ragchat("index", "--set", "notes.ocr_languages=")
    (folder / "locked.pdf").unlink()
    told = json.loads(ragchat("index", "--retry", "--json").out)
    assert told["documents"]["updated"] == 1
    assert told["documents"]["unchanged"] == 3
