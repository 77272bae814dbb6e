"""Where the Ollama server is: its own reading of OLLAMA_HOST, which the Python client does not share.

The rules are those of Ollama's envconfig (recorded in its tests); the one addition is that an address to
listen on everywhere becomes the loopback address, because nothing can connect to it on every system.
"""

from __future__ import annotations

import ipaddress
import os
import re
import threading
from types import ModuleType
from urllib.parse import urlsplit

from ragchat.errors import UsageError

DEFAULT_HOST = "http://127.0.0.1:11434"

_DEFAULT_PORTS = {"": 11434, "http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9_.-]+|\[[0-9a-f:.]+\]")
_PATH = re.compile(r"[A-Za-z0-9_.~/-]*")
_import_lock = threading.Lock()


def normalise_host(value: str) -> str:
    """A full address, `http://127.0.0.1:11434`, from anything OLLAMA_HOST may hold.

    Quotes and spaces around it are dropped; a bare IPv6 address gets its brackets; a missing or impossible
    port becomes 11434 without a scheme, 80 with http and 443 with https; 0.0.0.0 and :: become loopback.
    Raises UsageError for another scheme, and for what is no host name (a foreign one is written as xn--…).
    """
    value = value.strip().strip("\"'").strip()
    scheme, separator, rest = value.partition("://")
    if not separator:
        scheme, rest = "", value
    scheme = scheme.lower()
    authority, slash, path = rest.rstrip("/").partition("/")
    host, port = _host_and_port(authority, _DEFAULT_PORTS.get(scheme, 0))
    if scheme not in _DEFAULT_PORTS or not _HOST.fullmatch(host) or not _PATH.fullmatch(path):
        raise UsageError(
            f"{value!r} is no address of an Ollama server", hint=f"RAGCHAT_OLLAMA_HOST={DEFAULT_HOST}"
        )
    return f"{scheme or 'http'}://{host}:{port}{slash}{path}"


def is_loopback(host: str) -> bool:
    """Whether an address (as `normalise_host` gives it) stays on this machine."""
    name = urlsplit(host).hostname or ""
    address = _address(name)
    return address.is_loopback if address else name == "localhost" or name.endswith(".localhost")


def import_ollama() -> ModuleType:
    """The official client. Importing it makes a client from OLLAMA_HOST, which must be readable for that."""
    with _import_lock:
        raw = os.environ.pop("OLLAMA_HOST", None)
        try:
            import ollama
        finally:
            if raw is not None:
                os.environ["OLLAMA_HOST"] = raw
    return ollama


def _host_and_port(authority: str, default: int) -> tuple[str, int]:
    if _address(authority.strip("[]")):
        host, port = authority.strip("[]"), ""
    else:
        host, _, port = authority.rpartition(":") if ":" in authority else (authority, "", "")
    number = int(port) if port.isascii() and port.isdigit() and int(port) <= 65535 else default
    address = _address(host.strip("[]"))
    if address is None:
        return host or "127.0.0.1", number
    if address.is_unspecified:
        return ("[::1]" if address.version == 6 else "127.0.0.1"), number
    return (f"[{address}]" if address.version == 6 else str(address)), number


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
