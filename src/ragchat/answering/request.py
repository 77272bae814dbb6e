"""One question as it is sent to a model, and what is kept of that as a receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragchat.answering.budget import Budget, budget_for
from ragchat.answering.events import Context
from ragchat.answering.model_memory import ModelMemory
from ragchat.answering.prompt import Prompt, build_prompt
from ragchat.answering.server import InstalledModel
from ragchat.answering.tokens import fewest_tokens
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.settings import OllamaSettings


@dataclass(frozen=True, slots=True)
class Request:
    """think: None for a model that cannot."""

    model: InstalledModel
    prompt: Prompt
    budget: Budget
    think: bool | None
    temperature: float
    seed: int

    @property
    def options(self) -> Mapping[str, float | int]:
        """Ollama's options for it."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "num_ctx": self.budget.num_ctx,
            "num_predict": self.budget.num_predict,
        }

    def receipt(self, counted: int | None, answer_tokens: int | None) -> Context:
        """What the model was sent. counted: the prompt's tokens by the server, None where it did not tell."""
        least = sum(fewest_tokens(message["content"]) for message in self.prompt.messages)
        verdicts = [candidate.verdict for candidate in self.prompt.trace.candidates]
        return Context(
            prompt_tokens=self.prompt.tokens if counted is None else counted,
            num_ctx=self.budget.num_ctx,
            truncated=counted is not None and counted < least,
            counted=counted is not None,
            sources=len(self.prompt.trace.sources),
            dropped=verdicts.count("did not fit"),
            model=self.model.name,
            digest=self.model.digest,
            temperature=self.temperature,
            seed=self.seed,
            num_predict=self.budget.num_predict,
            answer_tokens=answer_tokens,
            thinking=self.think,
        )


def would_be_sent(trace: RetrievalTrace, settings: OllamaSettings) -> Prompt:
    """The prompt as a model would get it that has the settings' whole window and does not think.

    No server is asked; a model with a smaller window may get fewer sources.
    """
    unknown = InstalledModel("", 0, "", 0)
    return build_prompt(trace, budget_for(unknown, settings, thinks=False))


def plan_request(
    model: InstalledModel,
    trace: RetrievalTrace,
    settings: OllamaSettings,
    memory: ModelMemory,
    *,
    answer_tokens: int = 0,
) -> Request:
    """The request for a question with evidence; its prompt's trace is refused if not one source fits.

    A model that can think is asked to, because some mix their reasoning into the answer when they are told
    not to; only one that was seen to obey (`probe_thinking`) is told not to.
    """
    notes = memory.notes(model.digest)
    think = (notes.thinking_off is not True) if model.thinks else None
    budget = budget_for(
        model, settings, thinks=bool(think), ratio=notes.tokens_ratio, answer_tokens=answer_tokens
    )
    return Request(model, build_prompt(trace, budget), budget, think, settings.temperature, settings.seed)
