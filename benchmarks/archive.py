"""A company of many years to measure pages on: its issues and comments are written as rows, since the services that
write them one by one would take an hour for a hundred thousand."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from benchmarks.company import SEARCHED, WORDS, sentence

COMMENTS = 10
"""Of each issue."""
BATCH = 5_000
OPEN_SHARE = 0.3
"""Of the issues. Of those that are closed one in twenty was closed in the last fortnight."""
CHILDREN = 5
"""One issue in so many is a child of an earlier one."""


def fill(key: str, count: int) -> str:
    """A company with so many issues, and the name of its founder. Needs Django set up."""
    from agents.services.agents import hire_agent
    from issues.actors import Person
    from issues.models import Comment, Issue
    from issues.services.accounts import create_user
    from issues.services.companies import found_company
    from issues.services.projects import create_label, create_project

    chance = random.Random(count)
    founder = Person(create_user(username=f"founder-{key.lower()}"))
    company = found_company(actor=founder, name=f"{key} Ltd", key=key)
    member = company.members.get()
    founder = Person(founder.user, member)
    agents = [hire_agent(actor=founder, company=company, name=f"Agent {number}") for number in range(8)]
    projects = [create_project(actor=founder, company=company, name=f"Project {number}") for number in range(6)]
    labels = [create_label(actor=founder, company=company, name=f"label-{number}") for number in range(12)]
    _in_batches(Issue, (_issue(chance, company, member, agents, projects, number) for number in range(1, count + 1)))
    company.last_issue_number = count
    company.save(update_fields=["last_issue_number"])
    ids = list(company.issues.order_by("number").values_list("pk", flat=True))
    children = [
        Issue(pk=pk, parent_id=ids[chance.randrange(at)]) for at, pk in enumerate(ids) if at and at % CHILDREN == 0
    ]
    Issue.objects.bulk_update(children, ["parent"], batch_size=BATCH)
    labelled = Issue.labels.through
    chosen = ((pk, label) for pk in ids for label in chance.sample(labels, chance.randrange(3)))
    _in_batches(labelled, (labelled(issue_id=pk, label=label) for pk, label in chosen))
    _in_batches(Comment, (_comment(chance, pk, member, agents) for _ in range(COMMENTS) for pk in ids))
    return founder.user.username


def _issue(chance: random.Random, company: Any, member: Any, agents: Any, projects: Any, number: int) -> Any:
    from django.utils import timezone

    from issues.models import Issue, Priority, Status

    is_open = chance.random() < OPEN_SHARE
    statuses = [status for status in Status if status.is_closed != is_open]
    long_ago = datetime.timedelta(days=chance.randrange(14) if chance.random() < 0.05 else chance.randrange(15, 700))
    then = timezone.now() - long_ago
    return Issue(
        company=company,
        number=number,
        title=sentence(chance, 6) + (f" {SEARCHED}" if number % 20 == 0 else ""),
        description="\n\n".join(sentence(chance, 40) for _ in range(3)),
        status=chance.choice(statuses),
        priority=chance.choice(list(Priority)),
        rank=number * 1_024,
        responsible=member,
        assignee_agent=chance.choice([*agents, None]),
        project=chance.choice([*projects, None]),
        status_changed_at=then,
        closed_at=None if is_open else then,
    )


def _comment(chance: random.Random, issue: int, member: Any, agents: Any) -> Any:
    from issues.models import Comment

    author = chance.choice([*agents, None])
    return Comment(
        issue_id=issue,
        author_agent=author,
        author_member=None if author else member,
        body=" ".join(chance.choices(WORDS, k=30)),
    )


def _in_batches(model: Any, rows: Iterator[Any]) -> None:
    while batch := list(islice(rows, BATCH)):
        model.objects.bulk_create(batch)
