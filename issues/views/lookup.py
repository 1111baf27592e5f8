"""From the words of an address or form to the company's things. What is another's does not exist."""

from __future__ import annotations

import re

from django.db.models import QuerySet

from agents.models import Agent
from issues.models import Comment, Issue, Label, Member, Priority, Project, Status
from issues.numbers import as_id
from issues.pages import Visit
from issues.refusals import Invalid, NotFound


def find_issue(visit: Visit, identifier: str, *, among: QuerySet[Issue] | None = None) -> Issue:
    """The issue of that identifier (`ACME-12`, any case, or `12`)."""
    found = re.fullmatch(rf"(?:{visit.company.key}-|#)?([0-9]{{1,9}})", identifier.strip(), re.IGNORECASE)
    issues = among if among is not None else Issue.objects.select_related("company")
    issue = issues.filter(company=visit.company, number=int(found[1])).first() if found else None
    if issue is None:
        raise NotFound(f"There is no issue {identifier.strip() or 'without a number'}.")
    return issue


def find_issues(visit: Visit, words: str) -> list[Issue]:
    """Several, separated by commas or spaces."""
    return [named_issue(visit, word) for word in re.split(r"[,\s]+", words) if word]


def named_issue(visit: Visit, word: str) -> Issue:
    """An issue that a form names: an unknown one is a mistake in the form, no missing page."""
    try:
        return find_issue(visit, word)
    except NotFound as missing:
        raise Invalid(missing.reason) from None


def find_comment(issue: Issue, pk: int) -> Comment:
    comment = Comment.objects.select_related("issue__company").filter(issue=issue, pk=pk).first()
    if comment is None:
        raise NotFound("There is no such comment.")
    return comment


def find_assignee(visit: Visit, value: str) -> Agent | Member | None:
    """Whom a form names: `agent:7`, `member:2`, `me`, or nobody for an empty value."""
    if not value:
        return None
    if value == "me":
        return visit.member
    kind, _, word = value.partition(":")
    pk = as_id(word)
    found: Agent | Member | None = None
    if kind == "agent":
        found = Agent.objects.filter(company=visit.company, pk=pk).first()
    elif kind == "member":
        found = Member.objects.select_related("user").filter(company=visit.company, pk=pk).first()
    if found is None:
        raise Invalid("There is no such person or agent here.", field="assignee")
    return found


def find_labels(visit: Visit, values: list[str]) -> list[Label]:
    return list(Label.objects.filter(company=visit.company, pk__in={as_id(value) for value in values}))


def find_project(visit: Visit, value: str) -> Project | None:
    if not value:
        return None
    project = Project.objects.filter(company=visit.company, pk=as_id(value)).first()
    if project is None:
        raise Invalid("There is no such project.", field="project")
    return project


def read_status(value: str) -> Status:
    if value not in Status.values:
        raise Invalid(f"“{value}” is not a status.", field="status")
    return Status(value)


def read_priority(value: str) -> Priority:
    if value.upper() not in Priority.names:
        raise Invalid(f"“{value}” is not a priority.", field="priority")
    return Priority.from_slug(value)
