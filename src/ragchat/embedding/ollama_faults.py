"""Whatever goes wrong with an Ollama server becomes one kind of error here, with what to do about it.

Matched on status and type, never on wording: a missing model alone is worded in four ways. The cases are
those of the recorded transcripts and of `python_client_outcomes.json`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ragchat.embedding.ollama_host import DEFAULT_HOST, is_loopback

FaultKind = Literal[
    "down",  # nobody answers at the host
    "address",  # somebody answers who is not Ollama
    "proxy",  # a proxy of the environment stands before the host
    "forbidden",  # the server does not let this machine, or this name for it, in
    "missing",  # the model is not installed
    "busy",  # its queue is full
    "not run",  # the model could not be loaded, or crashed before its first word
    "no embeddings",  # a chat model was asked to embed
    "too long",  # the prompt is longer than the window
    "refused",  # any other status
    "timeout",  # no answer within the time that such an answer may take
    "broken off",  # the stream carried an error, was cut, or ended without its last line
    "unreadable",  # no JSON, or JSON without the fields it must have
]

_LONGEST = 300


class OllamaFault(Exception):
    """What went wrong, in one line, and the next thing to do.

    status: the answer's, 0 where none came. words: the server's own reason, "" where it gave none.
    tokens, window: of a prompt that was too long, by the server's own count, and of the server's window.
    """

    def __init__(
        self,
        kind: FaultKind,
        message: str,
        hint: str,
        *,
        status: int = 0,
        words: str = "",
        tokens: int = 0,
        window: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.status = status
        self.words = words
        self.tokens = tokens
        self.window = window


@dataclass(frozen=True, slots=True)
class _Said:
    """A refusal as it was worded. ours: in the JSON in which Ollama puts its errors."""

    words: str
    ours: bool
    tokens: int = 0
    window: int = 0


def fault_of(error: BaseException, host: str, model: str = "") -> OllamaFault:
    """What an exception of the client, or of httpx under it, means.

    host: normalised. model: that the request was about, "" for a request about the server itself.
    """
    import httpx

    from ragchat.embedding.ollama_wire import Refused

    if isinstance(error, OllamaFault):
        return error
    if isinstance(error, Refused):
        return _by_status(error, host, model)
    if hasattr(error, "status_code"):  # the client's own error: in mid-stream, after a status of success
        return _broken_off(_said(str(getattr(error, "error", ""))), model)
    if isinstance(error, httpx.ProxyError):
        return _proxy(host)
    # The client turns httpx's own error into the builtin one, but only where it does not stream.
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        return _unreachable(error, host)
    if isinstance(error, httpx.TimeoutException):
        return OllamaFault(
            "timeout",
            f"{host} did not answer in time{_about(model)}",
            "ollama ps; is the machine overloaded?",
        )
    if isinstance(error, httpx.HTTPError | OSError):
        return OllamaFault(
            "broken off",
            f"the connection to {host} broke off",
            "ask again; is the server running?",
        )
    return _unreadable(error, host)


def ended_early(model: str) -> OllamaFault:
    """A stream that ended cleanly, but without the line that says it is done."""
    return OllamaFault(
        "broken off",
        f"{model} broke off: the answer ended without its last line",
        "ask again; see the server's own log if it happens again",
    )


def one_line(value: object) -> str:
    """A server's words, short, on one line, without control characters."""
    words = " ".join(str(value).split())
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def _by_status(refused: Any, host: str, model: str) -> OllamaFault:
    status, said = refused.status, _said(refused.body)
    fault = _by_known_status(status, said, host, model)
    if not said.ours and status in (502, 503, 504, 407) and (status == 407 or _proxy_for(host)):
        fault = _proxy(host)
    elif fault is None and not said.ours and status != 500:
        fault = _not_ollama(host, status)
    if fault is None:
        fault = OllamaFault(
            "refused", f"{host} refused ({status}): {_reason(said)}", "see the server's own log"
        )
    fault.status, fault.words = status, said.words
    return fault


def _by_known_status(status: int, said: _Said, host: str, model: str) -> OllamaFault | None:
    match status:
        case 400 if said.tokens:
            return _too_long(said, model)
        case 403 if not said.ours:
            return OllamaFault(
                "forbidden",
                f"{host} does not accept requests under this name (403)",
                "OLLAMA_HOST=0.0.0.0 ollama serve, on that machine; or use its IP address",
            )
        case 403:
            return OllamaFault(
                "refused",
                f"{host} does not allow this (403): {_reason(said)}",
                "choose another model: ollama list",
            )
        case 404 if model and said.ours:
            return OllamaFault("missing", f"{model} is not installed at {host}", f"ragchat pull {model}")
        case 500 if model:
            return OllamaFault(
                "not run",
                f"{model} did not run (500): {_reason(said)}",
                "ask again, or choose a smaller model; see the server's own log",
            )
        case 501 if model:
            return OllamaFault(
                "no embeddings",
                f"{model} at {host} is a chat model: it cannot embed",
                "RAGCHAT_EMBEDDING_MODEL=ollama:bge-m3, after: ragchat pull bge-m3",
            )
        case 503 if said.ours:
            return OllamaFault("busy", f"{host} is busy (503): {_reason(said)}", "ask again in a moment")
    return None


def _too_long(said: _Said, model: str) -> OllamaFault:
    return OllamaFault(
        "too long",
        f"{model} has a window of {said.window:,} tokens and was sent {said.tokens:,}",
        "ask again; fewer sources fit, or raise ollama.context_tokens",
        tokens=said.tokens,
        window=said.window,
    )


def _broken_off(said: _Said, model: str) -> OllamaFault:
    if said.tokens:
        return _too_long(said, model)
    return OllamaFault(
        "broken off",
        f"{model or 'the server'} broke off: {_reason(said)}",
        "ask again; see the server's own log",
        words=said.words,
    )


def _unreachable(error: BaseException, host: str) -> OllamaFault:
    name = urlsplit(host).hostname
    if _proxy_for(host):
        return _proxy(host)
    if any(isinstance(cause, socket.gaierror) for cause in _chain(error)):
        return OllamaFault(
            "down", f"there is no machine named {name} here", f"RAGCHAT_OLLAMA_HOST={DEFAULT_HOST}"
        )
    hint = "ollama serve" if is_loopback(host) else f"OLLAMA_HOST=0.0.0.0 ollama serve, on {name}"
    return OllamaFault("down", f"no model server answers at {host}", hint)


def _proxy(host: str) -> OllamaFault:
    variable, name = _proxy_for(host) or "HTTP_PROXY", urlsplit(host).hostname
    return OllamaFault(
        "proxy", f"a proxy ({variable}) stands between this machine and {host}", f"export NO_PROXY={name}"
    )


def _proxy_for(host: str) -> str:
    """The variable that names a proxy for this host, "" for none."""
    parts = urlsplit(host)
    if is_loopback(host) or proxy_bypass(parts.netloc):
        return ""
    scheme = next((scheme for scheme in (parts.scheme, "all") if scheme in getproxies()), "")
    return f"{scheme.upper()}_PROXY" if scheme else ""


def _not_ollama(host: str, status: int) -> OllamaFault:
    return OllamaFault(
        "address",
        f"what answers at {host} is not Ollama ({status})",
        f"name the server alone, as in RAGCHAT_OLLAMA_HOST={DEFAULT_HOST}",
    )


def _unreadable(error: BaseException, host: str) -> OllamaFault:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        what = "no JSON"
    elif type(error).__module__.startswith("pydantic"):
        what = "JSON without the fields it must have"
    else:
        what = f"JSON of another shape: {one_line(error)}"
    if variable := _proxy_for(host):
        what = f"{what}; a proxy ({variable}) stands between"
    return OllamaFault(
        "unreadable",
        f"{host} sent what cannot be read ({what})",
        "ask again; is it Ollama, and up to date? ollama --version",
    )


def _said(body: str) -> _Said:
    """`{"error": …}`, whose text may be JSON once more, with the counts of a prompt that was too long."""
    error: Any = _parsed(body)
    ours = isinstance(error, dict) and "error" in error
    for _ in range(3):
        if isinstance(error, dict) and "error" in error:
            error = error["error"]
        if isinstance(error, str) and isinstance(inner := _parsed(error), dict):
            error = inner
    if not isinstance(error, dict):
        return _Said(one_line(error if error is not None else body), ours)
    tokens, window = error.get("n_prompt_tokens"), error.get("n_ctx")
    return _Said(
        one_line(error.get("message") or json.dumps(error)),
        ours,
        tokens if isinstance(tokens, int) else 0,
        window if isinstance(window, int) else 0,
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _reason(said: _Said) -> str:
    return said.words or "no reason given"


def _about(model: str) -> str:
    return f" about {model}" if model else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
