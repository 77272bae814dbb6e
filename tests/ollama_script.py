"""What the stand-in for Ollama can be told to say, and the shapes of its lines as recorded."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

VERSION = "0.33.0-rc2"
MADE_AT = "2026-11-29T19:14:03.173429169Z"


@dataclass(frozen=True, slots=True)
class TestModel:
    """An installed model. A name without a tag means `:latest`."""

    __test__ = False

    name: str
    context: int = 40960
    capabilities: tuple[str, ...] = ("completion",)
    size: int = 2_500_000_000
    dimensions: int = 384

    @property
    def tagged(self) -> str:
        return self.name if ":" in self.name else f"{self.name}:latest"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.tagged.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Pause:
    """Send nothing for so many seconds (before the first piece: the model is loading)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing more until the client goes away or the server is closed."""


@dataclass(frozen=True, slots=True)
class Break:
    """Drop the connection here; reset: as a killed process does, instead of a mere cut body."""

    reset: bool = False


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """`{"error": …}` in mid-stream, then a clean end."""

    error: object


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they stand, in place of a line."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Think:
    """A piece of reasoning in its own field."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last line, with counts by whoever really counted."""

    reason: str
    prompt_tokens: int
    answer_tokens: int


Step = str | Pause | Stall | Break | ErrorLine | Raw | Think | Done


@dataclass(frozen=True, slots=True)
class Reply:
    """What one `/api/chat` is answered with. status: another than 200 sends `error` and no stream.

    done: False leaves out the last line. prompt_tokens: None estimates, 0 is left out.
    """

    steps: Sequence[Step] = ()
    status: int = 200
    error: str = ""
    done: bool = True
    done_reason: str = "stop"
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in. body: parsed JSON, the raw text where it is not JSON, None when empty."""

    method: str
    path: str
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


def pieces(answer: str) -> tuple[str, ...]:
    """An answer cut as tokens are: each word with the space before it."""
    return tuple(re.findall(r"\s*\S+|\s+$", answer))


def message_line(model: str, fields: Mapping[str, str]) -> dict[str, object]:
    return {"model": model, "created_at": MADE_AT, "message": {"role": "assistant", **fields}, "done": False}


def last_line(body: Mapping[str, Any], reply: Reply, answered: int) -> dict[str, object]:
    read = sum(len(str(message.get("content", ""))) for message in body.get("messages") or ()) // 4 + 16
    counted = read if reply.prompt_tokens is None else reply.prompt_tokens
    durations = {"total_duration": 1_071_323_433, "load_duration": 832_984_202, "eval_count": answered}
    line = {**message_line(body["model"], {"content": ""}), "done": True, "done_reason": reply.done_reason}
    return {**line, **durations, **({"prompt_eval_count": counted} if counted else {})}


def _details(model: TestModel) -> dict[str, object]:
    family = "llama" if "completion" in model.capabilities else "bert"
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": "4.0B",
        "quantization_level": "Q4_K_M",
    }


def tag_entry(model: TestModel) -> dict[str, object]:
    details = {**_details(model), "context_length": model.context, "embedding_length": model.dimensions}
    named = {"name": model.tagged, "model": model.tagged, "modified_at": MADE_AT, "digest": model.digest}
    return {**named, "size": model.size, "details": details, "capabilities": list(model.capabilities)}


def show_card(model: TestModel) -> dict[str, object]:
    details = _details(model)
    family = details["family"]
    info = {
        "general.architecture": family,
        f"{family}.context_length": model.context,
        f"{family}.embedding_length": model.dimensions,
    }
    card = {"modelfile": f"FROM {model.tagged}\n", "template": "{{ .Prompt }}", "details": details}
    return {**card, "model_info": info, "capabilities": list(model.capabilities), "modified_at": MADE_AT}


def word_vector(text: str, dimensions: int) -> list[float]:
    """A unit vector of hashed words, so that texts that share words are near."""
    vector = [1e-3] * dimensions
    for word in re.findall(r"\w+", text.casefold()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dimensions] += 1.0
    length = math.sqrt(math.fsum(x * x for x in vector))
    return [x / length for x in vector]
