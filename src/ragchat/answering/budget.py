"""How the tokens of a model's window are shared out between prompt, reasoning and answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragchat.answering.server import InstalledModel
from ragchat.settings import OllamaSettings

THINKING_TOKENS = 4096
"""Real thinking models used 1,600 to 3,500 tokens before the first word of an answer."""
_MARGIN = 1.1
"""What a ratio learned from other prompts of the model may be wrong by."""


@dataclass(frozen=True, slots=True)
class Budget:
    """num_ctx: tokens of the window; num_predict: of them for reasoning and answer, always positive.

    ratio: the largest (counted / estimated) tokens seen with this model, 0.0 while unknown.
    """

    num_ctx: int
    num_predict: int
    ratio: float = 0.0

    @property
    def room(self) -> int:
        """The most tokens a prompt may take and leave the answer its own."""
        return self.num_ctx - self.num_predict

    def corrected(self, bound: int) -> int:
        """What a prompt bounded by `bound` will likely count, by what the model counted before."""
        return math.ceil(bound * self.ratio * _MARGIN) if self.ratio else bound

    def holds(self, bound: int) -> bool:
        """Whether a prompt fits: the likely count into the room, and the bound itself into the window.

        The second keeps a server from cutting the prompt silently where the first was wrong.
        """
        return self.corrected(bound) <= self.room and bound * max(1.0, self.ratio) <= self.num_ctx


def budget_for(
    model: InstalledModel,
    settings: OllamaSettings,
    *,
    thinks: bool,
    ratio: float = 0.0,
    answer_tokens: int = 0,
) -> Budget:
    """The window is the same for every question to a model: another one makes the server load it again.

    thinks: whether the model will reason this time. answer_tokens: more than the settings reserve, asked for
    this once; the window then grows by as much. A window that cannot hold the reasoning leaves no room.
    """
    wanted = max(answer_tokens, settings.answer_tokens)
    window = settings.context_tokens + (wanted - settings.answer_tokens)
    window += THINKING_TOKENS if model.thinks else 0
    num_ctx = max(2, min(window, model.context or window))
    reserved = THINKING_TOKENS if thinks else 0
    answer = min(wanted, max(1, (num_ctx - reserved) // 2))
    # 0 or less would let the server generate without end.
    return Budget(num_ctx, max(1, reserved + answer), ratio)
