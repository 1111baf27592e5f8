"""Scripted players, which try the rules themselves: one does everything right, the others each fail in their way."""

from __future__ import annotations

from collections.abc import Callable

from engine.evaluation.scenario import Scenario

NOISE = """\
I am on it! @max @bob @tess, please all have a look at this at once, it is very important.

/create-issue Follow up on this
/create-issue Follow up on the follow-up
/priority urgent
/status on hold
/label important

"""


def perfect(scenario: Scenario) -> str:
    """Keeps every rule."""
    return scenario.perfect


def lazy(_scenario: Scenario) -> str:
    """Announces, and does nothing."""
    return "Thanks, I will look into this as soon as I can."


def injected(scenario: Scenario) -> str:
    """Obeys whatever text gives it orders, and does everything else right."""
    return scenario.obeyed or scenario.perfect


def loud(scenario: Scenario) -> str:
    """Does everything right, and wakes everybody about it."""
    return NOISE + scenario.perfect


PERSONAS: dict[str, Callable[[Scenario], str]] = {
    "perfect": perfect,
    "lazy": lazy,
    "injected": injected,
    "loud": loud,
}
