"""How soon the screen shows: from the start of Python to the first frame, beside importing Textual alone.

Both are run in a terminal of their own, interleaved, and the medians compared; the contract is a ratio of at
most 1.3. Run: python benchmarks/first_frame.py [ROUNDS]
"""

from __future__ import annotations

import os
import pty
import select
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 1.3
_SECONDS = 30.0
IMPORT = "from textual.app import App; import os; os.write(1, b'ready')"
SCREEN = (
    "from pathlib import Path; from ragchat.settings import Settings; from ragchat.tui import run;"
    "run(Path({folder!r}), Settings())"
)


def seconds_until(code: str, sign: bytes, environment: dict[str, str]) -> float:
    """Seconds from the start of a Python that runs `code` in an 120x36 terminal until it prints `sign`."""
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], environment)
    seen = b""
    try:
        while sign not in seen:
            if not select.select([terminal], [], [], _SECONDS)[0]:
                raise TimeoutError(f"no {sign!r} within {_SECONDS:.0f} s: {seen[-300:]!r}")
            seen += os.read(terminal, 65536)
        return time.perf_counter() - start
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def measure(rounds: int) -> tuple[float, float]:
    """Median seconds of (import, first frame)."""
    with tempfile.TemporaryDirectory() as home:
        notes = Path(home) / "notes"
        notes.mkdir()
        (notes / "a.md").write_text("# A note\n\nWith a few words.\n", encoding="utf-8")
        environment = {
            **os.environ,
            "HOME": home,
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            "LINES": "36",
            "RAGCHAT_DATA_DIR": f"{home}/data",
            "RAGCHAT_CONFIG_DIR": f"{home}/config",
        }
        screen = SCREEN.format(folder=str(notes))
        imports, frames = [], []
        for _ in range(rounds + 1):
            imports.append(seconds_until(IMPORT, b"ready", environment))
            frames.append(seconds_until(screen, b"Ask your notes", environment))
    # the first round warms the page cache
    return statistics.median(imports[1:]), statistics.median(frames[1:])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    imported, frame = measure(rounds)
    print(f"import textual.app  {imported * 1000:6.0f} ms   (median of {rounds}, interleaved)")
    print(f"first frame         {frame * 1000:6.0f} ms")
    print(f"ratio               {frame / imported:6.2f}      (contract: at most {LIMIT})")
    sys.exit(frame > LIMIT * imported)


if __name__ == "__main__":
    main()
