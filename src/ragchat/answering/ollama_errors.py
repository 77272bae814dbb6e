"""A fault of the Ollama server as one of our errors."""

from __future__ import annotations

from ragchat.answering.server import PromptTooLong
from ragchat.embedding.ollama_faults import FaultKind, OllamaFault
from ragchat.errors import BackendError, GenerationFailed, ModelMissing, ServerUnreachable

_NO_SERVER: frozenset[FaultKind] = frozenset({"down", "address", "proxy", "forbidden"})


def backend_error(fault: OllamaFault, model: str = "") -> BackendError:
    """ServerUnreachable where no Ollama lets us in, ModelMissing, PromptTooLong, else GenerationFailed.

    model: that the call was about.
    """
    if fault.kind == "missing":
        return ModelMissing(fault.message, hint=fault.hint, pull=model)
    if fault.kind == "too long":
        return PromptTooLong(fault.message, hint=fault.hint, tokens=fault.tokens, window=fault.window)
    kind = ServerUnreachable if fault.kind in _NO_SERVER else GenerationFailed
    return kind(fault.message, hint=fault.hint)
