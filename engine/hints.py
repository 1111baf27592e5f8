"""What an agent is told in its next prompt when its words and its verbs did not match: the commonest failure."""

from __future__ import annotations

import re

from engine.text.types import AgentReply

LOOKED_AT = 20_000
"""Characters at the end of a comment in which a claim is sought: that is where one says what one does."""

_I = r"\b(?:i(?:'m|'ll|'ve| am| will| have)?|now)\s+(?:(?:(?!only\b)\w+ly|now|also|just|already|then)\s+)?"
"""Who claims something of itself. With a `not`, `can` or `would` between, it is no claim."""
_BEGINS = r"^[ \t*_-]{0,9}"
_IT = r"(?:this|it|the issue)"
_NOT = r"(?<!not )(?<!never )(?<!cannot )"
_CLAIMS = (
    (
        re.compile(
            rf"{_I}escalat(?:e|ed|ing)\b|{_NOT}\bescalating {_IT}\b|{_BEGINS}escalat(?:ing|ed)\b",
            re.IGNORECASE | re.MULTILINE,
        ),
        ("assign", "request-approval", "ask", "status"),
        "You wrote that you escalate, but gave no /assign, /request-approval, /ask or /status.",
    ),
    (
        re.compile(
            rf"{_NOT}\b(?:re)?assign(?:ing|ed)?\s+{_IT}\s+to\b|{_I}(?:re)?assign(?:ing|ed)?\s+(?:to\s+)?@"
            rf"|{_BEGINS}(?:re)?assigning\s+(?:to\s+)?@",
            re.IGNORECASE | re.MULTILINE,
        ),
        ("assign", "create-issue", "request-approval"),
        "You wrote that you assign the issue, but gave no /assign.",
    ),
    (
        re.compile(
            rf"(?:{_NOT}\b(?:marking|setting|moving)|{_I}(?:mark|marked|set|move|moved))\s+{_IT}\s+(?:as\s+|to\s+)?blocked\b",
            re.IGNORECASE,
        ),
        ("status", "blocked-by"),
        "You wrote that the issue is blocked, but gave no /blocked-by or /status blocked.",
    ),
)


def hint_for(reply: AgentReply) -> str:
    """One line for the next prompt if the prose claims what no action did, else empty."""
    verbs = {action.verb for action in reply.actions}
    own_words = "\n".join(line for line in reply.prose.split("\n") if not line.lstrip().startswith(">"))
    own_words = own_words[-LOOKED_AT:].replace("\u2019", "'")
    for pattern, would_do, hint in _CLAIMS:
        if verbs.isdisjoint(would_do) and pattern.search(own_words):
            return f"{hint} Only verbs move things."
    return ""
