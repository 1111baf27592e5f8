"""Where the layers above are told. Each tuple is filled once, at start-up, by the app that listens; this is the only
way in which the tracker reaches the agents that build on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from issues.actors import Actor
    from issues.effects import Wake
    from issues.models import Approval

wake_listeners: tuple[Callable[[Wake], None], ...] = ()
"""Called inside the transaction for each cause to wake an agent; `agents` turns it into a wakeup row."""

approval_carriers: tuple[Callable[[Approval, Actor], None], ...] = ()
"""Called inside the deciding transaction for an approved action; `engine` carries it out."""
