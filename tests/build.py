"""Objects for tests, made by calling services: no test stands on what no service would let happen.

    company, owner = build.company_with_founder()
    ada = build.agent(company, "Ada")
    issue = build.issue(company, assignee=ada)
    worker = build.at_work(ada, issue)  # the actor Ada is, in a live run on that issue

Whatever needs an actor and is given none is done by the company's first owner.
"""

from __future__ import annotations

import itertools
from typing import Any

from agents.models import Agent, CompanyProvider, Routine, Skill, Wakeup, WakeupState
from agents.services.agents import hire_agent, worker_for
from agents.services.providers import add_provider
from agents.services.routines import create_routine
from agents.services.runs import check_out
from agents.services.skills import create_skill
from issues.actors import Actor, Person, Worker
from issues.models import Approval, Comment, Company, Hook, Issue, Label, Member, Project, Role, SavedView, Status, User
from issues.services.accounts import create_user
from issues.services.approvals import request_approval
from issues.services.comments import write_comment
from issues.services.companies import add_member, change_company, found_company
from issues.services.hooks import add_hook
from issues.services.issues import create_issue, set_status
from issues.services.projects import create_label, create_project
from issues.services.saved_views import save_view

_numbers = itertools.count(1)


def user(username: str = "", **fields: Any) -> User:
    """An account; its name is the user name with a capital letter."""
    username = username or f"user{next(_numbers)}"
    return create_user(username=username, **{"name": username.capitalize()} | fields)


def company_with_founder(key: str = "ACME", *, founder: str = "", **settings: Any) -> tuple[Company, Person]:
    """A company and its first owner. `settings` are those that an owner can change (`hop_limit=2`)."""
    someone = Person(user(founder or f"{key.lower()}-founder"))
    company = found_company(actor=someone, name=f"{key.capitalize()} Ltd", key=key)
    owner = owner_of(company)
    if settings:
        company = change_company(actor=owner, company=company, **settings)
    return company, owner


def owner_of(company: Company) -> Person:
    """The company's first standing owner, as an actor."""
    owner = company.members.present().filter(role=Role.OWNER).select_related("user").earliest("pk")
    return Person(owner.user, owner)


def member(company: Company, username: str = "", *, role: Role = Role.BOARD, handle: str = "") -> Person:
    """A new member, as an actor; the `Member` is its `member`."""
    added = add_member(actor=owner_of(company), company=company, user=user(username), role=role, handle=handle)
    return Person(added.user, added)


def member_row(person: Person) -> Member:
    """The membership behind an actor made here."""
    assert person.member is not None
    return person.member


def agent(company: Company, name: str = "Ada", *, actor: Actor | None = None, **fields: Any) -> Agent:
    """A hired agent; its handle is the name in small letters."""
    return hire_agent(actor=actor or owner_of(company), company=company, name=name, **fields)


def triage(company: Company, name: str = "Tria", **fields: Any) -> Agent:
    """An agent that hands new work on."""
    return agent(company, name, role="triage", **fields)


def issue(company: Company, title: str = "", *, actor: Actor | None = None, **fields: Any) -> Issue:
    """An issue. A closed `status` is reached as people reach it: by opening the issue and closing it."""
    actor = actor or owner_of(company)
    closed = fields.pop("status") if fields.get("status") in (Status.DONE, Status.CANCELLED) else None
    opened = create_issue(actor=actor, company=company, title=title or f"Work {next(_numbers)}", **fields)
    return set_status(actor=actor, issue=opened, status=closed) if closed else opened


def comment(issue: Issue, body: str = "Something to say.", *, actor: Actor | None = None) -> Comment:
    return write_comment(actor=actor or owner_of(issue.company), issue=issue, body=body)


def approval(issue: Issue, title: str = "May I?", *, actor: Actor) -> Approval:
    """A pending request to the board."""
    return request_approval(actor=actor, issue=issue, title=title)


def project(company: Company, name: str = "Launch", **fields: Any) -> Project:
    return create_project(actor=owner_of(company), company=company, name=name, **fields)


def hook(company: Company, name: str = "Alerts", **fields: Any) -> tuple[Hook, str]:
    """An address that opens issues, and its token."""
    wanted = {"title": "{{title}}", "description": "{{description}}"} | fields
    return add_hook(actor=owner_of(company), company=company, name=name, **wanted)


def label(company: Company, name: str = "bug", **fields: Any) -> Label:
    return create_label(actor=owner_of(company), company=company, name=name, **fields)


def saved_view(company: Company, name: str = "Mine", *, actor: Actor | None = None, **fields: Any) -> SavedView:
    return save_view(
        actor=actor or owner_of(company),
        company=company,
        name=name,
        **{"page": SavedView.Page.BOARD, "query": "assignee=me"} | fields,
    )


def skill(company: Company, name: str = "Release notes", body: str = "Write what changed.", **fields: Any) -> Skill:
    return create_skill(actor=owner_of(company), company=company, name=name, body=body, **fields)


def provider(company: Company, name: str = "home", **fields: Any) -> CompanyProvider:
    """A provider of the company's own; no server is behind it."""
    return add_provider(
        actor=owner_of(company),
        company=company,
        name=name,
        **{"protocol": "openai", "base_url": f"http://{name}.test/v1", "model": "house-model"} | fields,
    )


def routine(company: Company, assignee: Agent, *, cron: str = "0 9 * * *", **fields: Any) -> Routine:
    return create_routine(
        actor=owner_of(company),
        company=company,
        assignee=assignee,
        cron=cron,
        **{"name": "Morning", "title": "Look at the morning's mail"} | fields,
    )


def at_work(agent: Agent, issue: Issue, *, by: Actor | None = None) -> Worker:
    """The actor the agent is in a live run on the issue. The run takes the pending wakeups, as every run does.

    `by` is who claimed it, the agent itself unless said; a person who did began the chain.
    """
    if by is None:
        run = check_out(actor=worker_for(agent), issue=issue)
    else:
        run = check_out(actor=by, issue=issue, agent=agent)
    return worker_for(run.agent, run)


def pending(agent: Agent, issue: Issue | None = None) -> list[Wakeup]:
    """The agent's pending wakeups, oldest first."""
    wakeups = Wakeup.objects.filter(agent=agent, state=WakeupState.PENDING).order_by("pk")
    return list(wakeups if issue is None else wakeups.filter(issue=issue))
