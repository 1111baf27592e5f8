"""From a heartbeat's context to its prompt: the public door of `engine.text.prompt`."""

from __future__ import annotations

from collections.abc import Collection

from engine.meters import meter_for
from engine.text.context import HeartbeatContext
from engine.text.packing import PromptTooLarge
from engine.text.prompt import HeartbeatPrompt, render_prompt
from engine.text.sections import Meter

__all__ = ["HeartbeatPrompt", "PromptTooLarge", "build_heartbeat_prompt"]


def build_heartbeat_prompt(
    context: HeartbeatContext, meter: Meter | None = None, *, known_secrets: Collection[str] = ()
) -> HeartbeatPrompt:
    """The two messages of a heartbeat, from plain data alone: no database, no clock, no network.

    `meter` counts the tokens of the model that is asked; without one they are estimated carefully.
    What has the form of a secret is masked, as are the values of `known_secrets`.
    `PromptTooLarge` when what must be shown exceeds the model's room.
    """
    return render_prompt(context, meter or meter_for(""), known_secrets)
