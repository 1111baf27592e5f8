"""A large company on PostgreSQL, filled by the database itself, a hundred thousand rows in seconds. Each row is a copy
of one that the services made, but for what tells it apart."""

# ruff: noqa: S608 - statements are put together of names of models and the expressions below

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, models

from agents.models import Agent, Run
from issues.models import Blocker, Company, InboxItem, Issue
from tests import build
from tests.engine.running import run_next, scripted

STATUSES = ("done",) * 6 + ("backlog", "todo", "in_progress", "blocked")
"""Of ten issues. Each that is blocked waits for the one before it, which is at work; of five issues one hangs under the
one before it."""

INBOX = 500


@dataclass(frozen=True, slots=True)
class Size:
    """So many rows, in one company."""

    issues: int
    comments: int
    agents: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """The company, and one of its issues that had a heartbeat, with its agent."""

    company: Company
    issue: Issue
    agent: Agent


def crowd(key: str, size: Size) -> Crowd:
    """A company of that size. Each issue has had one run, with what a run leaves behind."""
    company, owner = build.company_with_founder(key, comments_wake_assignee=False)
    agent = scripted(company, "Ada", "Seen and done.\n\n/priority high", schedule_minutes=60)
    issue = build.issue(company, "Look into the slow page", description="It takes two seconds. " * 5, assignee=agent)
    build.comment(issue, "Which page is meant?", actor=owner)
    run = run_next()
    asking = build.issue(company)
    build.approval(asking, actor=build.at_work(build.agent(company, "Bob"), asking))
    _multiply(issue, agent, run, size)
    return Crowd(company, issue, agent)


def _multiply(issue: Issue, agent: Agent, run: Run, size: Size) -> None:
    first_agent = copy(agent, size.agents, handle="'worker' || n", next_schedule_at="now() + interval '1 day'")
    its_agent = f"{first_agent} + n % {size.agents}"
    status = f"(ARRAY[{', '.join(map(repr, STATUSES))}])[1 + n % 10]"
    ago = "now() - n * interval '1 second'"
    first = copy(
        issue,
        size.issues,
        number=f"{size.issues} + n",
        title="'Work ' || n",
        status=status,
        priority="1 + n % 5",
        rank="n * 1024",
        assignee_agent=its_agent,
        updated_at=ago,
        status_changed_at=ago,
        closed_at=f"CASE WHEN {status} = 'done' THEN {ago} END",
    )
    _link(issue, first, size)
    its_issue = f"{first} + n % {size.issues}"
    copy(issue.comments.earliest("pk"), size.comments // 2, issue=its_issue, created_at=ago)
    copy(issue.comments.latest("pk"), size.comments // 2, issue=its_issue, author_agent=its_agent, created_at=ago)
    first_run = copy(
        run, size.issues, agent=its_agent, issue=its_issue, chain=f"{run.pk} + n", created_at=ago, user_message="''"
    )
    its_run = f"{first_run} + n % {size.issues}"
    copy(run.actions.get(), size.issues, run=its_run, issue=its_issue)
    copy(run.calls.get(), size.issues, run=its_run, started_at=ago)
    copy(run.wakeups.get(), size.issues, run=its_run, agent=its_agent, issue=its_issue, chain=f"{run.pk} + n")
    for line in issue.activity.order_by("pk")[:3]:
        copy(line, size.issues, issue=its_issue, created_at=ago)
    copy(InboxItem.objects.filter(company=issue.company).latest("pk"), min(INBOX, size.issues), issue=its_issue)


def _link(issue: Issue, first: int, size: Size) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Issue._meta.db_table} SET parent_id = id - 1 WHERE company_id = %s AND (id - %s) %% 5 = 1",
            [issue.company_id, first],
        )
        cursor.execute(
            f"INSERT INTO {Blocker._meta.db_table} (issue_id, blocker_id, created_at)"
            f" SELECT id, id - 1, now() FROM {Issue._meta.db_table} WHERE company_id = %s AND status = 'blocked'",
            [issue.company_id],
        )


def copy(row: models.Model, count: int, **columns: str) -> int:
    """So many copies of the row, with these fields set to SQL expressions in which `n` counts from 1; the id of the
    first copy. The others follow it."""
    meta = type(row)._meta
    set_by_name = {meta.get_field(name).column: expression for name, expression in columns.items()}
    kept = [field.column for field in meta.concrete_fields if not field.primary_key]
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT max(id) FROM "{meta.db_table}"')
        last: int = cursor.fetchone()[0]
        values = [f"({set_by_name[column]})" if column in set_by_name else f'source."{column}"' for column in kept]
        names = ", ".join(f'"{column}"' for column in kept)
        cursor.execute(
            f'INSERT INTO "{meta.db_table}" (id, {names}) SELECT {last} + n, {", ".join(values)}'
            f' FROM "{meta.db_table}" source, generate_series(1, {count}) n WHERE source.id = {row.pk}'
        )
        cursor.execute(f"SELECT setval(pg_get_serial_sequence('{meta.db_table}', 'id'), {last + count})")
    return last + 1
