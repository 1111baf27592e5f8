"""What a company's policy decides about: every verb, and what else an agent can be let do."""

from __future__ import annotations

from collections.abc import Mapping

from engine.verbs.registry import VERBS
from issues.rights import Permission, Right

BESIDE_VERBS: Mapping[Permission, str] = {
    Right.CLOSE: "set an issue done or cancelled",
    Right.TERMINATE: "terminate another agent, over the API",
}
"""Permissions that are no verb's, and what they are for."""

DECIDED: Mapping[str, Permission] = {str(right): right for right in (*(verb.right for verb in VERBS), *BESIDE_VERBS)}
"""The permissions by their words."""

MEANINGS: Mapping[str, str] = {
    **{str(verb.right): verb.summary.partition(";")[0] for verb in VERBS},
    **{str(right): meaning for right, meaning in BESIDE_VERBS.items()},
}
"""What each is for, in a few words."""
