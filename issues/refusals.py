"""Every way a service says no. A refusal is told to the actor; anything else that is raised is a bug."""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """`reason` says what is wrong and `hint`, if any, what to do instead; both are shown to the actor.

    `facts` are what a program that was refused can go by, as plain JSON.
    """

    http_status = 409
    facts: Mapping[str, str | int] = {}

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.reason} {self.hint}".strip()


class Forbidden(Refusal):
    """The actor may not do this."""

    http_status = 403


class NeedsApproval(Forbidden):
    """The actor may do this once the board has approved it. `permission` is what the board is asked for."""

    def __init__(self, reason: str, hint: str = "", permission: str = "") -> None:
        super().__init__(reason, hint)
        self.permission = permission


class NotFound(Refusal):
    """There is no such thing for this actor: the answer for another company's things, too."""

    http_status = 404


class Conflict(Refusal):
    """The state of things does not allow it now."""

    http_status = 409


class Stale(Conflict):
    """The thing has changed since the actor looked at it, and they asked not to write over that."""

    http_status = 412


class Clash(Stale):
    """Somebody else changed these very fields since the actor looked at them."""

    def __init__(self, reason: str, hint: str = "", fields: tuple[str, ...] = ()) -> None:
        super().__init__(reason, hint)
        self.fields = fields


class Invalid(Refusal):
    """A value cannot be used. `field` names the parameter it came in, where there is one."""

    http_status = 422

    def __init__(self, reason: str, hint: str = "", field: str = "") -> None:
        super().__init__(reason, hint)
        self.field = field


class TooLarge(Invalid):
    """A text or file is over its limit."""

    http_status = 413


class OverQuota(TooLarge):
    """The company's files would take more room than they may."""

    def __init__(self, *, needed: int, used: int, allowed: int, field: str) -> None:
        super().__init__(
            f"{needed:,} bytes do not fit: the company's files take {used:,} of {allowed:,} bytes.",
            "An owner can raise the quota in the settings; deleting an issue frees what its files take.",
            field=field,
        )
        self.facts = {"needed": needed, "used": used, "allowed": allowed}


class TooOften(Refusal):
    """It is asked for more often than it may be; after so many seconds it may again."""

    http_status = 429

    def __init__(self, reason: str, hint: str = "", *, seconds: int) -> None:
        super().__init__(reason, hint or f"Try again in {seconds} s.")
        self.seconds = seconds


class NoRoom(Refusal):
    """The disk of the installation did not take it."""

    http_status = 507
