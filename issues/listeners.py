"""Where the layers above are told. Each tuple is filled once, at start-up, by the app that listens; this is the only
way in which the tracker reaches the agents that build on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from issues.actors import Actor, Person
    from issues.effects import Wake
    from issues.models import Approval, Company

wake_listeners: tuple[Callable[[Wake], int | None], ...] = ()
"""Called inside the transaction for each cause to wake an agent; `agents` turns it into a wakeup row, and answers its
id if it is a new one that waits."""

wakeup_withdrawers: tuple[Callable[[Person, Sequence[int]], None], ...] = ()
"""Called inside the transaction that undoes what a person did, with the ids of the wakeups that it caused."""

approval_carriers: tuple[Callable[[Approval, Actor], None], ...] = ()
"""Called inside the deciding transaction for an approved action; `engine` carries it out."""

approval_listeners: tuple[Callable[[Approval], None], ...] = ()
"""Called inside the transaction in which an approval ended, after what was approved was carried out, and when undoing
lets it wait again; `agents` writes what became of the actions that waited for it."""

known_secrets: tuple[Callable[[Company], Collection[str]], ...] = ()
"""Called when a text of the company is saved; `engine` answers the keys that models are called with for it, which no
text may hold."""
