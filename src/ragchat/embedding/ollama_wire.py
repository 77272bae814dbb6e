"""What passes between the official Ollama client and the network, made safe for that client.

The client splits a stream wherever `str.splitlines` would, so a U+0085 or U+2028 that a model wrote tears its
line in two; and it stumbles over an error that is no plain string. Both are put right on the raw bytes before
it sees them. Any other status than 2xx is raised here, so that one place reads what a server says in refusal.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx

from ragchat.embedding.ollama_host import is_loopback

# What `str.splitlines` takes for a line end and JSON does not: in a string it may be written as an escape.
_SEPARATOR = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]|[\x0b\x0c\x1c-\x1e]")


class Refused(Exception):
    """A status that is no success. body: as it came."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body[:200]}")
        self.status = status
        self.body = body


def client_options(host: str) -> dict[str, Any]:
    """Options of an httpx client for a normalised host; both clients of `ollama` hand them on.

    No proxy stands between us and loopback; notes follow no redirect to another server; reading certificates
    takes 50 ms, and plain HTTP has none; a compressed stream could not be put right.
    """
    return {
        "trust_env": not is_loopback(host),
        "verify": host.startswith("https:"),
        "follow_redirects": False,
        "headers": {"accept-encoding": "identity"},
    }


def on_response(response: httpx.Response) -> None:
    """Response hook of a synchronous client. Raises Refused."""
    if not response.is_success:
        response.read()
        raise Refused(response.status_code, response.text)


async def on_async_response(response: httpx.Response) -> None:
    """Response hook of an asynchronous client, which is only used for streams. Raises Refused."""
    if not response.is_success:
        await response.aread()
        raise Refused(response.status_code, response.text)
    if "content-encoding" not in response.headers:
        response.stream = _Lines(cast(httpx.AsyncByteStream, response.stream))


def safe_line(line: bytes) -> bytes:
    """One line of NDJSON that the client reads as one line, its error as words."""
    line = _SEPARATOR.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), line)
    return _error_in_words(line) if b'"error"' in line else line


class _Frames:
    """Whole lines out of chunks that may be cut anywhere."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        whole, newline, self._held = (self._held + chunk).rpartition(b"\n")
        return b"\n".join(map(safe_line, whole.split(b"\n"))) + newline if newline else b""

    def finish(self) -> bytes:
        return safe_line(self._held)


class _Lines(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        frames = _Frames()
        async for chunk in self._stream:
            yield frames.feed(chunk)
        yield frames.finish()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _error_in_words(line: bytes) -> bytes:
    """The client parses an error's text once more: what is no object there must be wrapped in one."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if not isinstance(value, dict) or not (error := value.get("error")):
        return line
    words = error if isinstance(error, str) else json.dumps(error)
    return json.dumps({"error": json.dumps({"error": words})}).encode()
