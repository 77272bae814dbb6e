"""One model on one Ollama server: what it is, and its vectors; every failure is put into words here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ragchat.embedding.ollama_host import import_ollama, is_loopback, normalise_host
from ragchat.embedding.texts import readable
from ragchat.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from ragchat.embedding.prepare import Notify

T = TypeVar("T")

_CONNECT_SECONDS = 5.0
_TOO_LONG = 400
_NOT_FOUND = 404
_NO_EMBEDDINGS = 501
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

    Raises UsageError for a host that is no address. Safe to call from several threads.
    """

    def __init__(self, name: str, host: str, *, seconds: float) -> None:
        import httpx

        last = name.rpartition("/")[2]
        self.name = name if ":" in last else f"{name}:latest"
        self.host = normalise_host(host)
        # A proxy from the environment must not stand between this machine and itself.
        trust = not is_loopback(self.host)
        timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)
        # No connection outlives its request: embedders are not closed, and a restarted server is no surprise.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client: Any = import_ollama().Client(
            self.host, timeout=timeout, trust_env=trust, limits=limits, follow_redirects=False
        )
        self._get: Callable[[str], httpx.Response] = lambda path: httpx.get(
            self.host + path, timeout=timeout, trust_env=trust
        )

    def facts(self) -> OllamaFacts:
        """What the server tells about itself and the model. Raises EmbedderUnavailable."""
        version = self._asked(lambda: str(self._get("/api/version").raise_for_status().json()["version"]))
        installed = self._asked(lambda: {model.model: model.digest for model in self._client.list().models})
        digest = installed.get(self.name)
        if not digest:
            raise self._not_installed()
        context, dimensions = self._asked(self._sizes)
        return OllamaFacts(digest, version, context, dimensions)

    def embed(self, inputs: Sequence[str], *, context: int) -> Sequence[Sequence[float]]:
        """One vector an input, whole: never of a truncated input.

        context: tokens to read at most, 0 for the server's default; the same for every call, because another
        value makes the server load the model again. Raises EmbedderUnavailable, and InputRefused (on which no
        input of the call was embedded).
        """
        ollama = import_ollama()

        def ask() -> Sequence[Sequence[float]]:
            try:
                vectors: Sequence[Sequence[float]] = self._client.embed(
                    self.name,
                    [readable(text) for text in inputs],
                    truncate=False,
                    options={"num_ctx": context} if context else None,
                ).embeddings
            except ollama.ResponseError as error:
                if error.status_code not in (_TOO_LONG, _FAILED):
                    raise
                raise InputRefused(_one_line(error.error), too_long=error.status_code == _TOO_LONG) from error
            if len(vectors) != len(inputs) or len({len(vector) for vector in vectors}) != 1:
                raise ValueError("not one vector of one length for every input")
            return vectors

        return self._asked(ask)

    def pull(self, notify: Notify) -> None:
        """Have the server download the model. Raises EmbedderUnavailable."""

        def follow() -> None:
            told = ""
            for progress in self._client.pull(self.name, stream=True):
                if progress.status and progress.status != told:
                    told = progress.status
                    notify(f"ollama: {told}")

        self._asked(follow)

    def _sizes(self) -> tuple[int, int]:
        try:
            info = self._client.show(self.name).modelinfo or {}
        except ValueError:  # an answer without model_info does not pass the client's own check
            return 0, 0
        family = info.get("general.architecture", "")
        return int(info.get(f"{family}.context_length") or 0), int(
            info.get(f"{family}.embedding_length") or 0
        )

    def _asked(self, question: Callable[[], T]) -> T:
        import httpx

        ollama = import_ollama()
        try:
            return question()
        except ollama.ResponseError as error:
            raise self._explained(error.status_code, error.error) from error
        except httpx.HTTPStatusError as error:
            raise self._explained(error.response.status_code, error.response.text) from error
        except httpx.TimeoutException as error:
            raise EmbedderUnavailable(
                f"ollama at {self.host} did not answer in time about {self.name}",
                hint=f"ollama run {self.name}",
            ) from error
        except (ConnectionError, httpx.HTTPError) as error:
            raise EmbedderUnavailable(
                f"no ollama server answers at {self.host}, which embeds with {self.name}", hint="ollama serve"
            ) from error
        except (ValueError, TypeError, KeyError) as error:
            raise EmbedderUnavailable(
                f"what answers at {self.host} does not speak as ollama does", hint="ollama --version"
            ) from error

    def _explained(self, status: int, message: object) -> EmbedderUnavailable:
        if status == _NOT_FOUND:
            return self._not_installed()
        if status == _NO_EMBEDDINGS:
            return EmbedderUnavailable(
                f"{self.name} on ollama at {self.host} is a chat model: it cannot embed",
                hint="RAGCHAT_EMBEDDING_MODEL=ollama:bge-m3, after: ollama pull bge-m3",
            )
        # The client gives an error in the middle of a stream the status -1.
        answered = f"answered {status}" if status > 0 else "gave up"
        return EmbedderUnavailable(
            f"ollama at {self.host} {answered} about {self.name}: {_one_line(message)}", hint="ollama ps"
        )

    def _not_installed(self) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"ollama at {self.host} has no model {self.name}", hint=f"ollama pull {self.name}"
        )


def _one_line(message: object) -> str:
    """A server's words, short, without control characters; its error can be an object."""
    printable = "".join(character if character.isprintable() else " " for character in str(message))
    return " ".join(printable.split())[:200] or "no reason given"
