"""The parent's half: a process of its own for each contender, so that memory and imports are its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_ROOT = Path(__file__).resolve().parent.parent


class ChildFailed(Exception):
    """The child ended before it answered."""


class Child:
    """Runs `benchmarks.children.<module>`. python: of the environment that has the library."""

    def __init__(
        self, module: str, *, python: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        environ = dict(environment if environment is not None else os.environ)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [environ.get("PYTHONPATH"), str(_ROOT)]))
        self._module = module
        self._process = subprocess.Popen(
            [str(python or sys.executable), "-m", f"benchmarks.children.{module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if not os.environ.get("BENCHMARKS_DEBUG") else None,
            text=True,
            encoding="utf-8",
            env=environ,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, do: str, **request: object) -> dict[str, Any]:
        """Have it do something and wait for the answer. Raises ChildFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # told by the empty answer
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise ChildFailed(
                f"{self._module} ended with {code} when asked to {do}; BENCHMARKS_DEBUG=1 shows its words"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    def seconds(self, do: str, **request: object) -> float:
        """How long it says that it took."""
        return float(self.ask(do, **request)["seconds"])

    def memory(self) -> Memory:
        """What it holds now."""
        return memory_of(self._process.pid)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class Memory:
    """Resident bytes of a process. anonymous: its own; file_backed: pages of files that others may share."""

    def __init__(self, anonymous: int, file_backed: int) -> None:
        self.anonymous = anonymous
        self.file_backed = file_backed


def memory_of(pid: int) -> Memory:
    """As Linux tells it (/proc/PID/smaps_rollup)."""
    fields = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()[1:]:
        name, _, value = line.partition(":")
        fields[name] = int(value.split()[0]) * 1024
    return Memory(fields["Anonymous"], fields["Rss"] - fields["Anonymous"])
