"""What a caller of the API can see: companies, and in them the issues."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Model, QuerySet

from issues.actors import Actor, Person, Worker
from issues.models import Company, Issue, Member
from issues.refusals import Invalid, NotFound

Row = TypeVar("Row", bound=Model)

_IDENTIFIER = re.compile(r"([A-Za-z][A-Za-z0-9]{1,9})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Scope:
    """A company as one actor sees it. A person in it carries the membership, so that services need not look it up."""

    actor: Actor
    company: Company

    def issue(self, identifier: str) -> Issue:
        """The issue, with its company and assignee. NotFound for any that is not of this company."""
        return self.issues([identifier])[0]

    def issues(self, identifiers: Sequence[str]) -> list[Issue]:
        """The same of several, in one query and in their order. NotFound for the first that is none."""
        wanted = {identifier: split_identifier(identifier) for identifier in identifiers}
        numbers = {number for key, number in wanted.values() if key == self.company.key}
        rows = self.company.issues.select_related("assignee_agent", "parent").filter(number__in=numbers)
        found = {(self.company.key, issue.number): issue for issue in (rows if numbers else ())}
        for identifier, place in wanted.items():
            if place not in found:
                raise no_such_issue(identifier)
            found[place].company = self.company
        return [found[wanted[identifier]] for identifier in identifiers]

    @property
    def agent_id(self) -> int | None:
        """The calling agent, which sees less than a person does."""
        return self.actor.agent.pk if isinstance(self.actor, Worker) else None


def scope_of(actor: Actor, key: str = "") -> Scope:
    """The company of that key; without one, the only one that the actor is in.

    NotFound for a company that the actor is not in, as for one that does not exist. Invalid if none is named and the
    actor is in several.
    """
    if isinstance(actor, Worker):
        company = actor.agent.company
        if key and key.upper() != company.key:
            raise NotFound(f"There is no company {key.upper()}.")
        return Scope(actor, company)
    if not isinstance(actor, Person):
        raise NotFound("There is no such company.")
    memberships = Member.objects.present().filter(user=actor.user).select_related("company")
    if key:
        memberships = memberships.filter(company__key=key.upper())
    found = list(memberships[:2])
    if not found:
        raise NotFound(f"There is no company {key.upper()}." if key else "You are in no company yet.")
    if len(found) > 1:
        raise Invalid("You are in several companies.", "Name the one that is meant: company=KEY.", field="company")
    member = found[0]
    member.user = actor.user  # at hand: whoever names the member need not look it up
    return Scope(Person(actor.user, member), member.company)


def scope_of_issue(actor: Actor, identifier: str) -> Scope:
    """The company that the identifier names. NotFound, speaking of the issue, if the actor is not in it."""
    key, _ = split_identifier(identifier)
    try:
        return scope_of(actor, key)
    except NotFound:
        raise no_such_issue(identifier) from None


def issue_in_scope(actor: Actor, identifier: str) -> tuple[Scope, Issue]:
    """The issue of that identifier and the company around it. NotFound if the actor can see no such issue."""
    scope = scope_of_issue(actor, identifier)
    return scope, scope.issue(identifier)


def row_in_scope(actor: Actor, rows: QuerySet[Row], pk: int) -> tuple[Scope, Row]:
    """The row of that id and the company around it. NotFound if it is of a company that the actor is not in.

    `rows` belong to a company, or to an issue that does; to be read in one query, they select it.
    """
    missing = NotFound(f"There is no {rows.model._meta.verbose_name} {pk}.")
    row = first(rows.filter(pk=pk))
    if row is None:
        raise missing
    company: Company = row.company if hasattr(row, "company") else row.issue.company  # type: ignore[attr-defined]
    try:
        return scope_of(actor, company.key), row
    except NotFound:
        raise missing from None


def first(rows: QuerySet[Row]) -> Row | None:
    """The row, where a unique column leaves at most one: nothing has to be put in order."""
    return next(iter(rows[:1]), None)


def split_identifier(identifier: str) -> tuple[str, int]:
    """`acme-12` as (`ACME`, 12). NotFound if it is no identifier."""
    match = _IDENTIFIER.fullmatch(identifier.strip())
    if match is None:
        raise no_such_issue(identifier)
    return match[1].upper(), int(match[2])


def no_such_issue(identifier: str) -> NotFound:
    return NotFound(f"There is no issue {identifier.strip().upper()[:30]}.")
