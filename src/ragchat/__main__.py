"""`ragchat`, and `python -m ragchat`."""

from __future__ import annotations

import contextlib
import os
import sys
import threading


def main() -> None:
    """Run the command line and leave with its exit code."""
    from ragchat.cli.program import run

    code = run(sys.argv[1:])
    if threading.active_count() > 1:
        # A thread that comes back from native code (an embedding, say) into an interpreter that is being torn
        # down aborts the whole process. Nothing of ours waits for the tear-down.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
