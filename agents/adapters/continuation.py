"""Answers that hit the limit of output: asked for the rest, and joined before anybody reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from agents.adapters.base import Completion, Message, ModelRequest, Role, StopReason, Usage
from agents.adapters.reasoning import visible_text

MOST_CONTINUATIONS = 3

CONTINUE = (
    "Your answer was cut off by the length limit. Continue it exactly from the character where it stops,"
    " in the middle of a word or line if need be. Repeat nothing, add no introduction."
)


@dataclass(frozen=True, slots=True)
class WholeCompletion:
    """An answer and the calls that it took, the first to the last. `text` joins their texts."""

    text: str
    parts: tuple[Completion, ...]

    @property
    def stop_reason(self) -> StopReason:
        """Why the last part ended. Still `MAX_TOKENS` when the answer is not whole even now."""
        return self.parts[-1].stop_reason

    @property
    def model(self) -> str:
        return self.parts[-1].model

    @property
    def usage(self) -> Usage:
        return sum((part.usage for part in self.parts), Usage())

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)


def complete_whole(
    ask: Callable[[ModelRequest], Completion], request: ModelRequest, *, most: int = MOST_CONTINUATIONS
) -> WholeCompletion:
    """Ask, and ask for the rest up to `most` times while the answer stops at its limit.

    `ask` makes each call, so that each can be paid for and recorded as a call of its own; what it raises
    propagates. An answer that spent its whole limit on thinking has nothing to continue and stays as it is.
    """
    parts = [ask(request)]
    text = parts[0].text
    while parts[-1].stop_reason is StopReason.MAX_TOKENS and len(parts) <= most and text.strip():
        parts.append(ask(_for_the_rest(request, text)))
        # A model that thinks aloud does so anew in each part; in mid-line nobody would find it again.
        text += visible_text(parts[-1].text)
    return WholeCompletion(text=text, parts=tuple(parts))


def _for_the_rest(request: ModelRequest, text: str) -> ModelRequest:
    so_far = (Message(Role.ASSISTANT, text), Message(Role.USER, CONTINUE))
    return replace(request, messages=(*request.messages, *so_far))
