"""An indexer to be killed: replaces documents for ever. Run as `python -m … URL LIBRARY SEED`."""

from __future__ import annotations

import random
import sys

from ragchat.index.postgres.store import open_library
from tests.index.building import put


def version(name: str, number: int) -> list[str]:
    """Passages of one version of a document; a reader must never see two versions mixed."""
    return [f"{name} version{number} passage{place} common" for place in range(1 + number % 5)]


def main(url: str, library: str, seed: int, documents: int = 6) -> None:
    randomly = random.Random(seed)
    index = open_library(url, library)
    print("ready", flush=True)
    while True:
        name = f"{randomly.randrange(documents)}.md"
        if randomly.random() < 0.1:
            index.remove(name)
        else:
            put(index, name, *version(name, randomly.randrange(1000)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
