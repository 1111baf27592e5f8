"""Handles: one namespace for the members and agents of a company, never reused."""

from __future__ import annotations

import re
import unicodedata

from issues.models import Company, Handle
from issues.refusals import Conflict, Invalid
from issues.services.locks import lock_company
from issues.texts import fold

HANDLE = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?")
RESERVED = frozenset({"none", "me", "all", "everyone", "here", "board", "trimus", "system"})
"""Words that verbs read otherwise, or that would look like somebody they are not."""


def claim_handle(company: Company, wanted: str) -> str:
    """Take a handle for good. Invalid if it is not of the form, Conflict if it was ever taken."""
    handle = wanted.strip().removeprefix("@").lower()
    if not HANDLE.fullmatch(handle):
        raise Invalid(
            f"“{wanted}” cannot be a handle.",
            "Use up to 40 small letters, digits, dots, dashes and underscores.",
            field="handle",
        )
    if handle in RESERVED:
        raise Invalid(f"@{handle} is a reserved word.", field="handle")
    _, made = Handle.objects.get_or_create(company=company, key=fold(handle))
    if not made:
        raise Conflict(f"@{handle} is taken, or was once: handles are never reused.")
    return handle


def free_handle(company: Company, name: str) -> str:
    """Take the first free handle made from a name: `ada`, `ada-2`, ..."""
    lock_company(company)  # two of one name at once take one after the other
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:34].strip("-") or "member"
    taken = set(Handle.objects.filter(company=company, key__startswith=base).values_list("key", flat=True))
    taken |= RESERVED
    number = 1
    while (candidate := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    return claim_handle(company, candidate)
