"""What an agent is told in its next prompt when its words and its verbs did not match: the commonest failure."""

from __future__ import annotations

import re

from engine.text.types import AgentReply

_CLAIMS = (
    (
        re.compile(r"\b(?:i(?:'m| am|'ll| will)|now)\s+(?:\w+\s+)?escalat(?:e|ing)\b|\bescalating (?:this|it)\b", re.I),
        ("assign", "request-approval", "ask", "status"),
        "You wrote that you escalate, but gave no /assign, /request-approval, /ask or /status.",
    ),
    (
        re.compile(r"\b(?:i(?:'m| am|'ll| will)\s+)?(?:re)?assign(?:ing|ed)?\s+(?:this|it|the issue)\s+to\b", re.I),
        ("assign", "create-issue", "request-approval"),
        "You wrote that you assign the issue, but gave no /assign.",
    ),
    (
        re.compile(
            r"\b(?:i(?:'m| am)\s+)?(?:marking|setting|moving)\s+(?:this|it|the issue)\s+(?:as\s+|to\s+)?blocked\b", re.I
        ),
        ("status", "blocked-by"),
        "You wrote that the issue is blocked, but gave no /blocked-by or /status blocked.",
    ),
)


def hint_for(reply: AgentReply) -> str:
    """One line for the next prompt if the prose claims what no action did, else empty."""
    verbs = {action.verb for action in reply.actions}
    own_words = "\n".join(line for line in reply.prose.split("\n") if not line.lstrip().startswith(">"))
    for pattern, would_do, hint in _CLAIMS:
        if verbs.isdisjoint(would_do) and pattern.search(own_words):
            return f"{hint} Only verbs move things."
    return ""
