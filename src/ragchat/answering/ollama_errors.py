"""Whatever the client raises becomes one of our errors: matched on status and type, never on wording.

The cases are those of the recorded `python_client_outcomes.json`.
"""

from __future__ import annotations

from ragchat.answering.escape import escape_line
from ragchat.errors import BackendError, GenerationFailed, ModelMissing, ServerUnreachable

_LONGEST = 300


def explain_failure(error: Exception, host: str, model: str) -> BackendError:
    """What went wrong with an answer of this model."""
    if isinstance(error, BackendError):
        return error
    status = getattr(error, "status_code", None)
    if status is not None:
        return _by_status(int(status), _words(getattr(error, "error", "")), host, model)
    if _is_unreachable(error):
        return _unreachable(host)
    if _is_transport(error):
        return GenerationFailed(
            f"the connection to {model} broke off", hint="ask again; is the server running?"
        )
    return GenerationFailed(
        f"the model server sent what cannot be read ({type(error).__name__}: {_words(error)})",
        hint="ask again; ragchat doctor tells the server's version",
    )


def explain_info_failure(error: Exception, host: str, model: str = "") -> BackendError:
    """What went wrong with a question about the server or one of its models."""
    response = getattr(error, "response", None)
    if response is not None:
        return _by_status(response.status_code, _words(response.text), host, model)
    if _is_unreachable(error):
        return _unreachable(host)
    return GenerationFailed(f"no usable answer from {host} ({type(error).__name__})", hint="ragchat doctor")


def _by_status(status: int, words: str, host: str, model: str) -> BackendError:
    if status == 404 and model:
        return ModelMissing(f"{model} is not installed at {host}", hint=f"ollama pull {model}")
    if status == 403:
        return GenerationFailed(
            f"{host} refuses this address (403)", hint="set OLLAMA_ORIGINS or OLLAMA_HOST at the server"
        )
    if status == 503:
        return GenerationFailed(f"the model server is busy: {words}", hint="ask again in a moment")
    if status == -1:
        return GenerationFailed(f"{model} broke off: {words}", hint="ask again; see the server's own log")
    return GenerationFailed(
        f"the model server refused ({status}): {words or 'no reason given'}", hint="see the server's own log"
    )


def _unreachable(host: str) -> ServerUnreachable:
    return ServerUnreachable(f"no model server answers at {host}", hint="ollama serve")


def _is_unreachable(error: Exception) -> bool:
    import httpx

    # The client turns httpx's own error into the builtin one, but only where it does not stream.
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError)


def _is_transport(error: Exception) -> bool:
    import httpx

    return isinstance(error, httpx.HTTPError | OSError)


def _words(value: object) -> str:
    words = " ".join(escape_line(str(value)).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
