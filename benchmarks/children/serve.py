"""The child's half: one JSON request a line on standard input, one answer a line on standard output."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Command = Callable[[dict[str, Any]], dict[str, Any] | None]


def serve(commands: Mapping[str, Command]) -> None:
    """Carry out what is asked for until there is nothing more; `seconds` of each answer is what it took.

    A command may measure itself and give its own `seconds`.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries that print would break the protocol
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        answer = commands[request["do"]](request) or {}
        seconds = time.perf_counter() - start
        answers.write(json.dumps({"seconds": seconds, **answer}) + "\n")
        answers.flush()
