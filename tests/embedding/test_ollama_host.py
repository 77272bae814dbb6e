from __future__ import annotations

import os
import subprocess
import sys

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragchat.embedding.ollama_host import is_loopback, normalise_host
from ragchat.errors import UsageError


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  ", "http://127.0.0.1:11434"),
        ("10.1.2.3", "http://10.1.2.3:11434"),
        ("10.1.2.3:8080", "http://10.1.2.3:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("box.lan", "http://box.lan:11434"),
        ("box.lan:8080/", "http://box.lan:8080"),
        ("http://box.lan", "http://box.lan:80"),
        ("https://box.lan", "https://box.lan:443"),
        ("HTTPS://box.lan:8443", "https://box.lan:8443"),
        ("https://box.lan/ollama/", "https://box.lan:443/ollama"),
        ("http://", "http://127.0.0.1:80"),
        ("'10.1.2.3:8080'", "http://10.1.2.3:8080"),
        (' " 10.1.2.3 " ', "http://10.1.2.3:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://[fd00::7]", "http://[fd00::7]:80"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("::", "http://[::1]:11434"),
        ("[::]:8080", "http://[::1]:8080"),
        ("box.lan:abc", "http://box.lan:11434"),
        ("box.lan:66000", "http://box.lan:11434"),
        (":-1", "http://127.0.0.1:11434"),
        ("https://box.lan:", "https://box.lan:443"),
        ("http://box.lan:１２", "http://box.lan:80"),
    ],
)
def test_an_address_is_read_as_ollama_reads_it(value: str, address: str) -> None:
    assert normalise_host(value) == address


@pytest.mark.parametrize("value", ["ftp://box.lan", "my box", "box\x1b[2J", "http://box/a b"])
def test_what_is_no_address_is_said_to_be_none(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalise_host(value)
    assert caught.value.message.isprintable()
    assert "http://127.0.0.1:11434" in caught.value.hint


@settings(deadline=None)
@given(st.text(max_size=30) | st.from_regex(r"(https?://)?[\[\]:.a-z0-9%@/?#-]{0,20}", fullmatch=True))
@example("a:b:c")
@example("[")
@example("user:secret@box.lan")
def test_any_value_is_refused_or_becomes_an_address_that_stays(value: str) -> None:
    try:
        address = normalise_host(value)
    except UsageError:
        return
    assert normalise_host(address) == address
    url = httpx.URL(address)
    assert url.scheme in ("http", "https")
    assert url.host
    is_loopback(address)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("", True),
        ("localhost", True),
        ("127.3.2.1", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("ollama.localhost", True),
        ("10.1.2.3", False),
        ("localhost.example.com", False),
        ("http://box.lan/127.0.0.1", False),
    ],
)
def test_loopback_means_that_nothing_leaves_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(normalise_host(host)) is loopback


@pytest.mark.parametrize("value", ['"127.0.0.1:11534"', "::1", "box.lan:abc"])
def test_the_client_can_be_imported_whatever_the_environment_says(value: str) -> None:
    code = "from ragchat.embedding.ollama_host import import_ollama as i; import os; i().Client; "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(os.environ['OLLAMA_HOST'])"],
        env={**os.environ, "OLLAMA_HOST": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == value
