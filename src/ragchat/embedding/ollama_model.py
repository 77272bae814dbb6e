"""One embedding model on one Ollama server: what it is, and its vectors; every failure is put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragchat.embedding.ollama_call import ask_json, model_sizes
from ragchat.embedding.ollama_faults import OllamaFault, fault_of
from ragchat.embedding.ollama_host import import_ollama, normalise_host
from ragchat.embedding.ollama_pull import pull_model
from ragchat.embedding.texts import readable
from ragchat.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from ragchat.embedding.prepare import Notify

_CONNECT_SECONDS = 5.0
_TOO_LONG = 400
# A vector with a NaN in it, say, for which the server has no JSON.
_FAILED = 500


class InputRefused(Exception):
    """The server would not embed an input; it may embed others.

    too_long: whether a shorter input can help.
    """

    def __init__(self, message: str, *, too_long: bool) -> None:
        super().__init__(message)
        self.too_long = too_long


@dataclass(frozen=True, slots=True)
class OllamaFacts:
    """What a server says of a model.

    digest: of the installed model. version: of the server. context, dimensions: 0 where it does not tell.
    """

    digest: str
    version: str
    context: int
    dimensions: int


class OllamaModel:
    """Talks to the server through the official client; nothing is sent when it is made.

    seconds: how long vectors may take, loading included.
    Raises UsageError for a host that is no address. Safe to call from several threads.
    """

    def __init__(self, name: str, host: str, *, seconds: float) -> None:
        last = name.rpartition("/")[2]
        self.name = name if ":" in last else f"{name}:latest"
        self.host = normalise_host(host)
        self._seconds = seconds
        self._client: Any = None

    def facts(self) -> OllamaFacts:
        """What the server tells about itself and the model. Raises EmbedderUnavailable."""
        try:
            version = str(ask_json(self.host, "/api/version")["version"])
            listed = ask_json(self.host, "/api/tags")["models"]
            installed = {str(entry["model"]): str(entry.get("digest") or "") for entry in listed}
            if not (digest := installed.get(self.name)):
                raise self._not_installed()
            context, dimensions = model_sizes(
                ask_json(self.host, "/api/show", {"model": self.name}, model=self.name)
            )
        except (OllamaFault, KeyError, TypeError, AttributeError) as error:
            raise self._unavailable(fault_of(error, self.host)) from error
        return OllamaFacts(digest, version, context, dimensions)

    def embed(self, inputs: Sequence[str], *, context: int) -> Sequence[Sequence[float]]:
        """One vector an input, whole: never of a truncated input.

        context: tokens to read at most, 0 for the server's default; the same for every call, because another
        value makes the server load the model again. Raises EmbedderUnavailable, and InputRefused (on which no
        input of the call was embedded).
        """
        try:
            vectors: Sequence[Sequence[float]] = (
                self._opened()
                .embed(
                    self.name,
                    [readable(text) for text in inputs],
                    truncate=False,
                    options={"num_ctx": context} if context else None,
                )
                .embeddings
            )
            _require_matrix(vectors, len(inputs))
        except Exception as error:
            fault = fault_of(error, self.host, self.name)
            if fault.status in (_TOO_LONG, _FAILED):
                raise InputRefused(fault.message, too_long=fault.status == _TOO_LONG) from error
            raise self._unavailable(fault) from error
        return vectors

    def pull(self, notify: Notify) -> None:
        """Have the server download the model. Raises EmbedderUnavailable."""
        told = ""
        try:
            for progress in pull_model(self.host, self.name):
                if progress.status and progress.status != told:
                    told = progress.status
                    notify(f"ollama: {told}")
        except OllamaFault as fault:
            raise self._unavailable(fault) from fault

    def _opened(self) -> Any:
        import httpx

        from ragchat.embedding.ollama_wire import client_options, on_response

        if self._client is None:
            self._client = import_ollama().Client(
                self.host,
                timeout=httpx.Timeout(self._seconds, connect=_CONNECT_SECONDS),
                # No connection outlives its request: embedders are not closed, and a server may restart.
                limits=httpx.Limits(max_keepalive_connections=0),
                event_hooks={"response": [on_response]},
                **client_options(self.host),
            )
        return self._client

    def _unavailable(self, fault: OllamaFault) -> EmbedderUnavailable:
        if fault.kind == "missing":
            return self._not_installed()
        about = "" if self.name in fault.message else f"embedding with {self.name}: "
        return EmbedderUnavailable(f"{about}{fault.message}", hint=fault.hint)

    def _not_installed(self) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"ollama at {self.host} has no model {self.name}", hint=f"ragchat pull {self.name}"
        )


def _require_matrix(vectors: Sequence[Sequence[float]], rows: int) -> None:
    if len(vectors) != rows or len({len(vector) for vector in vectors}) > 1:
        raise ValueError("not one vector of one length for every input")
