"""Which kind of heartbeat it is, from why the agent was woken and what it is to the issue."""

from __future__ import annotations

from collections.abc import Collection

from engine.text.context import Scenario

CAME_BACK = frozenset({"blocker_resolved", "child_closed", "approval_decided"})


def choose_scenario(
    sources: Collection[str], *, is_routing: bool, is_own: bool, is_asked_to_review: bool = False
) -> Scenario:
    """The first scenario that fits.

    `sources` are those of the wakeups delivered; `is_own` as in `Assignment`; `is_asked_to_review`: the
    issue is in review and the agent's verdict outstanding. A review goes before all else: it is the only
    one with a deadline of somebody else's. Only a heartbeat that nothing but the schedule asked for is a
    check-in.
    """
    if is_asked_to_review or "review_requested" in sources:
        return Scenario.REVIEW
    if is_routing:
        return Scenario.TRIAGE
    if "mention" in sources and not is_own:
        return Scenario.REPLY
    if not CAME_BACK.isdisjoint(sources):
        return Scenario.FOLLOWUP
    if sources and set(sources) == {"schedule"}:
        return Scenario.CHECKIN
    return Scenario.WORK
