"""Some rows of every table, for pages that show them."""

from __future__ import annotations

import datetime

from django.utils import timezone

from agents.models import (
    Breaker,
    Budget,
    Checkpoint,
    CompanyProvider,
    DryRun,
    ModelCall,
    Note,
    Observation,
    Pulse,
    Reservation,
    RoutineFire,
    Run,
    RunAction,
    RunOutput,
    Spending,
    TokenFactor,
)
from agents.services.wakeups import run_heartbeat
from issues.models import (
    AuditSeal,
    Company,
    Delivery,
    Hook,
    HookCall,
    ImportedIssue,
    InboxItem,
    KeptAnswer,
    Notice,
    PolicyRule,
    ReactionKind,
    Webhook,
)
from issues.sealing import seal
from issues.services.accounts import issue_login_link
from issues.services.blockers import add_blockers
from issues.services.comments import edit_comment, write_comment
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.keys import create_agent_key
from issues.services.reactions import react
from issues.services.reviews import set_reviewers
from issues.services.watching import watch_issue
from tests import build


def fill(company: Company, count: int) -> None:
    """Add `count` of everything, each referring to rows of its own: what is looked up row by row shows."""
    owner = build.owner_of(company)
    for _ in range(count):
        number = company.issues.count()
        member = build.member(company)
        agent = build.agent(
            company, f"Agent {number}", manager=company.agents.last(), adapter="external", instructions="Be brief."
        )
        issue = build.issue(
            company,
            f"Work {number}",
            description="@acme-founder, look.",
            assignee=agent,
            project=build.project(company, f"Project {number}"),
            labels=[build.label(company, f"label {number}")],
        )
        waiting = build.issue(company, f"Wait {number}", assignee=build.member_row(member), parent=issue)
        add_blockers(actor=owner, issue=waiting, blockers=[issue])
        set_reviewers(actor=owner, issue=issue, reviewers=[build.member_row(member)])
        watch_issue(actor=member, issue=issue)
        said = edit_comment(actor=member, comment=build.comment(issue, actor=member), body="Or so.")
        react(actor=member, comment=said, kind=ReactionKind.AGREE)
        worker = build.at_work(agent, issue)
        write_comment(actor=worker, issue=issue, body="Done.")
        record_finding(actor=worker, issue=issue, body="Found.")
        write_file(actor=worker, issue=issue, path="notes.md", text=f"Note {number}")
        attach_file(actor=owner, issue=issue, name="a.txt", content=b"text %d" % number)
        build.approval(issue, actor=worker)
        build.skill(company, f"Skill {number}")
        build.saved_view(company, f"View {number}")
        run_heartbeat(actor=owner, agent=agent, issue=waiting)
        create_agent_key(actor=owner, agent=agent)
        issue_login_link(member.user)
        assert worker.run is not None
        _fill_engine(company, worker.run, number)


def _fill_engine(company: Company, run: Run, number: int) -> None:
    """Rows that the engine writes while it runs: no service makes them one by one."""
    now = timezone.now()
    routine = build.routine(company, run.agent, name=f"Routine {number}")
    RoutineFire.objects.create(routine=routine, due_at=now, issue=run.issue)
    RunAction.objects.create(run=run, ordinal=0, line=1, verb="status", args="done", outcome="applied", issue=run.issue)
    ModelCall.objects.create(company=company, run=run, provider="scripted", model="none", started_at=now)
    last = run.comments.last()
    Checkpoint.objects.create(issue=run.issue, number=1, agent=run.agent, until=last, comments=1)
    Note.objects.create(agent=run.agent, run=run, key="key", folded_key="key", text="Text", written_at=now)
    Observation.objects.create(agent=run.agent, run=run, issue=run.issue, text="Seen", made_at=now)
    DryRun.objects.create(company=company, run=run, member=build.member_row(build.owner_of(company)))
    item = InboxItem.objects.filter(company=company, notice=None).last()
    Notice.objects.create(item=item, due_at=now)
    Budget.objects.create(company=company, agent=run.agent, tokens=1_000)
    month = datetime.date(2027, 1, 1)
    Spending.objects.create(company=company, agent=run.agent, month=month)
    RunOutput.objects.create(run=run, text="Reading.")
    Reservation.objects.get_or_create(run=run, defaults={"month": month})  # a checkout holds one itself
    KeptAnswer.objects.create(caller="user 1", key=str(number), call_hash="0")
    ImportedIssue.objects.create(company=company, source=f"elsewhere {number}", issue=run.issue)
    AuditSeal.objects.create(company=company, number=number + 1, lines=0, last_line=0, marks=b"", sealed_at=now)
    Pulse.objects.create(name=f"part {number}", felt_at=now)
    CompanyProvider.objects.create(company=company, name=f"own-{number}", protocol="openai", sealed_key=seal("sk-1234"))
    Breaker.objects.create(
        key=str(number), company=company, provider="own", host="own.test", error_kind="network", failed_at=now
    )
    hook = Hook.objects.create(
        company=company,
        name=f"Alerts {number}",
        title="{{title}}",
        responsible=build.member_row(build.owner_of(company)),
        prefix=f"prefix{number}",
        token_hash="0" * 64,
    )
    HookCall.objects.create(hook=hook, identifier="ACME-1")
    webhook = Webhook.objects.create(company=company, url="https://hooks.test/in", sealed_secret=seal("whsec_1234"))
    Delivery.objects.create(webhook=webhook, uid=f"msg_{number}", kind="issue.created", due_at=now)
    TokenFactor.objects.create(provider="scripted", model=f"model {number}", factor=1.0)
    PolicyRule.objects.create(
        company=company,
        agent=run.agent,
        permission="assign",
        grant="deny",
        made_by=build.member_row(build.owner_of(company)),
        made_at=now,
    )
