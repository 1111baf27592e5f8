"""Who can be named in a company: its members and agents, by handle or by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from issues.models import Company, Member
from issues.refusals import Invalid
from issues.texts import fold

if TYPE_CHECKING:
    from agents.models import Agent

    Somebody = Agent | Member


class Directory:
    """The nameable of one company, read in two queries. A handle beats a name; a name that two share names nobody."""

    def __init__(self, company: Company) -> None:
        self.everybody: list[Somebody] = [
            *company.agents.present().select_related("manager"),
            *company.members.present().select_related("user"),
        ]
        self._by_handle = {fold(one.handle): one for one in self.everybody}
        self._by_name: dict[str, Somebody] = {}
        self._ambiguous: dict[str, str] = {}
        for one in self.everybody:
            self._add_name(one)

    @property
    def known(self) -> list[str]:
        """Every handle and every name that names exactly one."""
        return [one.handle for one in self.everybody] + [one.name for one in self._by_name.values()]

    @property
    def ambiguous(self) -> list[str]:
        """Names that two or more share."""
        return list(self._ambiguous.values())

    def get(self, word: str) -> Somebody | None:
        """The one with that handle or name, with or without `@`; None if nobody has it or several have."""
        key = fold(word.strip().removeprefix("@").strip())
        return self._by_handle.get(key) or self._by_name.get(key)

    def find(self, word: str) -> Somebody:
        """The same, but Invalid when there is nobody, with the nearest handle as a hint."""
        found = self.get(word)
        if found is not None:
            return found
        plain = word.strip().removeprefix("@")
        if fold(plain) in self._ambiguous:
            raise Invalid(f"Several are called “{plain}”.", "Use the handle.", field="assignee")
        near = difflib.get_close_matches(fold(plain), list(self._by_handle) + list(self._by_name), n=1, cutoff=0.6)
        hint = ""
        if near:
            one = self._by_handle.get(near[0]) or self._by_name[near[0]]
            hint = f"Did you mean @{one.handle}?"
        raise Invalid(f"There is nobody called “{plain}”.", hint, field="assignee")

    def _add_name(self, one: Somebody) -> None:
        key = fold(one.name)
        if key in self._by_handle or key in self._ambiguous:
            return
        if key in self._by_name:
            del self._by_name[key]
            self._ambiguous[key] = one.name
            return
        self._by_name[key] = one
