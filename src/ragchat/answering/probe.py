"""Find out whether a thinking model can do without, by asking it something easy and looking at what comes.

Some models, told `think: false`, reason all the same and write it, untagged, into the answer. Only the answer
shows it.
"""

from __future__ import annotations

import threading

from ragchat.answering.budget import budget_for
from ragchat.answering.model_memory import ModelMemory
from ragchat.answering.server import InstalledModel, ModelServer
from ragchat.errors import BackendError
from ragchat.settings import OllamaSettings

_QUESTION = {"role": "user", "content": "What is 17 + 25? Answer with the number alone, nothing else."}
_ANSWER, _MOST_CHARACTERS, _MOST_TOKENS = "42", 24, 96


def probe_thinking(
    server: ModelServer,
    model: InstalledModel,
    settings: OllamaSettings,
    memory: ModelMemory,
    cancel: threading.Event | None = None,
) -> bool | None:
    """Whether the model answers at once when it is told to; remembered for its digest.

    One short chat, with the window of real questions, so that the model need not be loaded again.
    None: it cannot think at all, the probe was stopped, or the server failed.
    """
    if not model.thinks:
        return None
    if (known := memory.notes(model.digest).thinking_off) is not None:
        return known
    options = {
        "temperature": settings.temperature,
        "seed": settings.seed,
        "num_ctx": budget_for(model, settings, thinks=True).num_ctx,
        "num_predict": _MOST_TOKENS,
    }
    said, thought, ended = "", "", False
    try:
        for delta in server.chat(model.name, [_QUESTION], options, cancel or threading.Event(), think=False):
            said, thought = said + delta.content, thought + delta.thinking
            ended = ended or delta.done
    except BackendError:
        return None
    if not ended:
        return None
    works = _ANSWER in said and len(said.strip()) <= _MOST_CHARACTERS and not thought.strip()
    memory.note_thinking_off(model.digest, works=works)
    return works
