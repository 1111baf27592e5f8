"""When to turn to somebody else, and what to do now: the fixed end of every prompt.

Both are tuples of sentences, so that one that names a verb which the agent may not use can be left out.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from engine.text.cheatsheet import permitted
from engine.text.context import HeartbeatContext, Limits, Scenario, Tier

FULL_PLAYBOOK = (
    ("Sensitive (spending money, a destructive or production change, sensitive data): /request-approval before it.",),
    ("Somebody else's: /assign it to one who is named above, else to your manager, and say why.",),
    (
        "Something is missing.",
        "Another issue's result: /blocked-by it.",
        "A person's fact or decision: /ask.",
        "A colleague's answer: write their @handle.",
        "None of these: /status blocked, and say what is missing and who has it.",
    ),
    (
        "Natural sub-tasks: /create-issue for each.",
        "You are woken when the last one closes, and can close this one only then.",
    ),
    ('Writing "I am escalating" moves nothing. The verb does.',),
)
LEAN_PLAYBOOK = (
    ("Sensitive (money, destructive or production change, sensitive data): /request-approval first.",),
    ("Somebody else's: /assign it and say why.",),
    ("Missing another issue's result: /blocked-by.", "A person's decision: /ask.", "Else: /status blocked, and why."),
    ("Natural sub-tasks: /create-issue; they close before this one.",),
    ('Writing "I am escalating" moves nothing. The verb does.',),
)
REMINDERS = ("You cannot decide your own approvals, nor terminate yourself.",)
FULL_REMINDERS = (*REMINDERS, "/write-file paths are relative to the workspace; absolute ones and `..` are refused.")
LEAN_REMINDERS = (*REMINDERS, "/write-file paths are relative to the workspace.")

SCENARIO_LINES = {
    Scenario.WORK: (
        "This issue waits for you.",
        "Decide what done means here, then do the next piece of it now instead of announcing it, and check it.",
        "If all is there, show it and close; if not, leave it so that the next run can go on.",
    ),
    Scenario.REPLY: (
        "You were mentioned on an issue that is not yours.",
        "Answer what you were asked, as far as what stands here allows.",
        "Leave its status and its work to the assignee.",
    ),
    Scenario.TRIAGE: (
        "Hand this issue on; do not work on it yourself.",
        "Match it to a capability first, else to the colleague whom it fits best.",
        "/assign it, set what is missing, and say briefly why.",
        "If nobody fits, ask or escalate.",
    ),
    Scenario.REVIEW: (
        "You are asked to judge this issue's work.",
        "Hold what was asked against the evidence, and check what you can.",
        "Then /review accept, or /review send-back with what has to change and why.",
        "Do not redo the work.",
    ),
    Scenario.FOLLOWUP: (
        "Something that this issue waited for has come back: see Trigger.",
        "Read the result and judge whether it is what was needed; then use it, ask for better, or finish.",
    ),
    Scenario.CHECKIN: (
        "Nobody called: your schedule came round.",
        "See where this issue stands and move it if it can be moved.",
        "Work of any size that you come upon becomes an issue of its own.",
        "If all is well, /pass and say so.",
    ),
}
ANOTHER_RUN = "Change something and leave the issue in todo or in_progress, and you get another run."
"""Not true of the last run before a limit, which says so instead."""
CLOSING_LINES = (
    "Respond with your analysis, work or update, then the verbs.",
    "A question is answered by prose alone.",
    ANOTHER_RUN,
    'Finished or stuck is said by a status, a question or a hand-over: "escalating" in words moves nothing.',
)
LAST_RUN = "No further run follows by itself."
LOW_BUDGET = "Over 80% of the budget is used."
UNDER_PRESSURE = "Finish now, or hand over."


def render_playbook(verbs: Collection[str], tier: Tier) -> str:
    """The Escalation Playbook for an agent with these verbs."""
    is_full = tier is Tier.FULL
    rules = [permitted(rule, verbs) for rule in (FULL_PLAYBOOK if is_full else LEAN_PLAYBOOK)]
    reminders = permitted(FULL_REMINDERS if is_full else LEAN_REMINDERS, verbs)
    return "\n".join([*(f"- {rule}" for rule in rules if rule), reminders])


def render_instructions(context: HeartbeatContext, verbs: Collection[str]) -> str:
    """The Instructions. Their last line is the time: what changes with the clock stands at the very end."""
    closing = [line for line in CLOSING_LINES if line is not ANOTHER_RUN or not context.limits.is_last_run]
    closing += _pressure(context.limits)
    lines = [permitted(SCENARIO_LINES[context.scenario], verbs), permitted(closing, verbs), _time_line(context.now)]
    return "\n".join(lines)


def _pressure(limits: Limits) -> list[str]:
    reasons = [line for line, holds in ((LAST_RUN, limits.is_last_run), (LOW_BUDGET, limits.is_budget_low)) if holds]
    return [*reasons, UNDER_PRESSURE] if reasons else []


def _time_line(now: datetime) -> str:
    zone = getattr(now.tzinfo, "key", None) or now.tzname() or "UTC"
    return f"Time now: {now:%Y-%m-%d %H:%M} ({zone})."
