"""How tools name an issue, and where in the API it is."""

from __future__ import annotations

from engine.mcp.calls import Refused
from engine.mcp.tools import Parameter
from issues.refusals import NotFound
from issues.rest.scope import split_identifier

ISSUE = Parameter("issue", "The issue, by its identifier.", examples=("ACME-12",))
COMPANY = Parameter("company", "The key of a company; needed by who is in several.", required=False)
ONCE = Parameter(
    "idempotency_key",
    "Any name for this call: sent again under it within a day, as when its answer was lost, it acts once.",
    required=False,
)
CURSOR = Parameter("cursor", "Where to go on: `next` of the page before.", required=False)


def path_of(identifier: str, part: str = "") -> str:
    """The address of the issue, or of a part of it. Refused for what is no identifier: it would be another address."""
    try:
        key, number = split_identifier(identifier)
    except NotFound as refusal:
        raise Refused(str(refusal)) from None
    return f"issues/{key}-{number}" + (f"/{part}" if part else "")
