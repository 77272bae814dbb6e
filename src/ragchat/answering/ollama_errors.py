"""A fault of the Ollama server as one of our errors."""

from __future__ import annotations

from ragchat.embedding.ollama_faults import FaultKind, OllamaFault
from ragchat.errors import BackendError, GenerationFailed, ModelMissing, ServerUnreachable

_NO_SERVER: frozenset[FaultKind] = frozenset({"down", "address", "proxy", "forbidden"})


def backend_error(fault: OllamaFault) -> BackendError:
    """ServerUnreachable where no Ollama lets us in, ModelMissing, else GenerationFailed."""
    if fault.kind == "missing":
        return ModelMissing(fault.message, hint=fault.hint)
    kind = ServerUnreachable if fault.kind in _NO_SERVER else GenerationFailed
    return kind(fault.message, hint=fault.hint)
