"""The issue page: what it is, what happened, what it waits for, and whom the next word wakes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from agents.models import Checkpoint, Run, Wakeup, WakeupState
from agents.models.run import LIVE
from engine.explaining import explain
from issues.markdown import Place
from issues.models import (
    Approval,
    ApprovalStatus,
    Attachment,
    Blocker,
    Extraction,
    Finding,
    Issue,
    Label,
    Priority,
    Reaction,
    ReactionKind,
    Reviewer,
    Status,
    Watch,
    WorkspaceFile,
)
from issues.names import Names, Somebody
from issues.numbers import as_id
from issues.pages import Visit, company_page, is_partial, show
from issues.refusals import Invalid
from issues.views.around import Family, People, read_family, read_people
from issues.views.lookup import find_issue
from issues.views.noise import is_quiet
from issues.views.summary import read_summary
from issues.views.timeline import build_timeline
from issues.views.timeline_rows import Rows, read_between, read_rows, read_time


@require_safe
@company_page
def issue_page(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """At most 15 queries, whatever the issue holds. `before` is a time to end the timeline at; so does the number of
    an older `comment`, with which it then ends. `since` is a time from which on the reader has all before them."""
    issue = find_issue(visit, identifier, among=_with_hints())
    until = read_time(request.GET.get("before", "")) or _time_of(issue, request.GET.get("comment", ""))
    rows = read_rows(issue, until=until, since=read_time(request.GET.get("since", "")), quiet=is_quiet(request))
    context = _context(visit, issue, rows) | {"is_earlier": until is not None, "is_quiet": is_quiet(request)}
    if is_partial(request):
        return show(request, visit, "issues/issue_view.html", context)
    return show(request, visit, "issues/issue.html", context)


@require_safe
@company_page
def older_entries(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """The newest part of a timeline's gap, to be put in the gap's place: what is later than `after`, up to `until`."""
    issue = find_issue(visit, identifier)
    after, until = read_time(request.GET.get("after", "")), read_time(request.GET.get("until", ""))
    if after is None or until is None:
        raise Invalid("Between which times?", "The gap of the issue's page says it.")
    rows = read_between(issue, after=after, until=until, quiet=is_quiet(request))
    names = Names(visit.company, rows.wanted(visit.company.key))
    place = Place(visit.company.key, names.handles)
    people = read_people(issue, names, rows.comments)
    context = {
        "issue": issue,
        "entries": build_timeline(rows, names, place.root, people.reactions),
        "place": place,
        "names": names,
        "reaction_kinds": list(ReactionKind),
    }
    return show(request, visit, "issues/entries.html", context)


@require_safe
@company_page
def wake_ledger(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Each wakeup of the issue with its story: asked, joined, started, ended, or not started because of something."""
    issue = find_issue(visit, identifier)
    wakeups = issue.wakeups.select_related("run").defer("run__system_message", "run__user_message", "run__reply")
    names = Names(visit.company)
    stories = [
        {
            "wakeup": wakeup,
            "agent": names.agents.get(wakeup.agent_id),
            "by": names.somebody(agent=wakeup.by_agent_id, member=wakeup.member_id),
            "took": _took(wakeup.run),
        }
        for wakeup in wakeups.order_by("-pk")[:200]
    ]
    return show(request, visit, "issues/ledger.html", {"issue": issue, "stories": stories})


def _took(run: Run | None) -> float | None:
    """Seconds from a run's start to its end; a clock that was set back makes none."""
    if run is None or run.started_at is None or run.ended_at is None:
        return None
    return max(0.0, (run.ended_at - run.started_at).total_seconds())


@require_safe
@company_page
def why(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Why nothing runs on the issue right now, in a sentence; fetched after the page, which it would make slower."""
    issue = find_issue(visit, identifier)
    context = {"issue": issue, "explanation": explain(issue)}
    template = "issues/why_line.html" if is_partial(request) else "issues/why.html"
    return show(request, visit, template, context)


@dataclass(frozen=True, slots=True)
class Material:
    """A finding, a file or an attachment of the issue. `unread` says why agents are not shown an attachment's text,
    `secrets` which kinds of secrets it seems to hold."""

    kind: str
    id: int
    title: str
    by: Somebody | None
    size: int
    at: Any
    unread: str = ""
    secrets: str = ""


def _with_hints() -> QuerySet[Issue]:
    """The issue with hints at which of its side tables hold anything, so that empty ones are not asked."""
    here = OuterRef("pk")
    return Issue.objects.select_related("company", "project", "parent").annotate(
        has_family=Exists(Issue.objects.filter(parent=here)) | Exists(_links()),
        has_people=Exists(Reviewer.objects.filter(issue=here))
        | Exists(Watch.objects.filter(issue=here))
        | Exists(Reaction.objects.filter(comment__issue=here)),
        has_questions=Exists(Approval.objects.filter(issue=here, status=ApprovalStatus.PENDING)),
        has_summary=Exists(Checkpoint.objects.filter(issue=here, problem="")),
        has_material=Exists(Finding.objects.filter(issue=here))
        | Exists(WorkspaceFile.objects.filter(issue=here))
        | Exists(Attachment.objects.filter(issue=here)),
        cost=_of_runs(Sum("cost_microdollars")),
        run_count=_of_runs(Count("pk")),
        live_run=_live_run().values("pk")[:1],
        live_agent=_live_run().values("agent")[:1],
    )


def _time_of(issue: Issue, comment: str) -> datetime.datetime | None:
    """When the comment of that number was written; None for anything else."""
    return issue.comments.filter(pk=as_id(comment)).values_list("created_at", flat=True).first()


def _links() -> QuerySet[Blocker]:
    return Blocker.objects.filter(Q(issue=OuterRef("pk")) | Q(blocker=OuterRef("pk")))


def _of_runs(figure: Aggregate) -> Subquery:
    """A figure over all runs of the issue."""
    runs = Run.objects.filter(issue=OuterRef("pk")).order_by().values("issue")
    return Subquery(runs.annotate(figure=figure).values("figure"))


def _live_run() -> QuerySet[Run]:
    return Run.objects.filter(issue=OuterRef("pk"), state__in=LIVE)


def _context(visit: Visit, issue: Any, rows: Rows) -> dict[str, Any]:
    family = read_family(issue) if issue.has_family else Family()
    names = Names(visit.company, rows.wanted(visit.company.key, issue.description))
    place = Place(visit.company.key, names.handles)
    people = read_people(issue, names, rows.comments) if issue.has_people else People()
    return {
        "at": reverse("issues", args=[visit.company.slug]),
        "issue": issue,
        "names": names,
        "place": place,
        "entries": build_timeline(rows, names, place.root, people.reactions),
        "summary": read_summary(issue, shown=[row.pk for row in rows.comments]) if issue.has_summary else None,
        "pinned": [row for row in reversed(rows.comments) if row.pinned_at],
        "assignee": names.somebody(agent=issue.assignee_agent_id, member=issue.assignee_member_id),
        "responsible": names.members.get(issue.responsible_id),
        "author": names.somebody(agent=issue.created_by_agent_id, member=issue.created_by_member_id),
        "labels": _labels(visit, issue),
        "family": family,
        "people": people,
        "questions": _questions(issue, names),
        "material": _material(issue, names),
        "pending": _pending(issue, names),
        "worker": names.agents.get(issue.live_agent) if issue.live_agent else None,
        "wakes": _woken_by_comment(visit, issue, names),
        "statuses": list(Status),
        "priorities": list(Priority),
        "priority_seen": Priority(issue.priority).slug,
        "reaction_kinds": list(ReactionKind),
    }


def _labels(visit: Visit, issue: Issue) -> list[Any]:
    """All labels of the company, each with whether the issue has it: for the panel and its menu alike."""
    through = Issue.labels.through.objects.filter(issue=issue, label=OuterRef("pk"))
    return list(Label.objects.filter(company=visit.company).annotate(is_on=Exists(through)).order_by("name"))


def _questions(issue: Any, names: Names) -> list[dict[str, Any]]:
    """What waits here for an answer, with who asks."""
    if not issue.has_questions:
        return []
    return [
        {"approval": row, "by": names.somebody(agent=row.requested_by_agent_id, member=row.requested_by_member_id)}
        for row in issue.approvals.filter(status=ApprovalStatus.PENDING).order_by("pk")
    ]


def _material(issue: Any, names: Names) -> list[Material]:
    """Findings, files and attachments in one query."""
    if not issue.has_material:
        return []
    text = CharField()
    none = Value("", text)
    findings = issue.findings.values_list(
        Value("finding", text), "pk", "title", "agent_id", Value(0), "created_at", none, none, none
    )
    files = issue.files.values_list(
        Value("file", text), "pk", "path", Value(0), Value(0), F("updated_at"), none, none, none
    )
    attachments = issue.attachments.values_list(
        Value("attachment", text), "pk", "name", Value(0), "blob__size", "created_at", "extraction", "why_unread",
        "secret_kinds",
    )  # fmt: skip
    rows = findings.order_by().union(files.order_by(), attachments.order_by(), all=True)
    return [
        Material(kind, pk, title, names.agents.get(agent), size, at, _unread(extraction, why), secrets)
        for kind, pk, title, agent, size, at, extraction, why, secrets in rows
    ]


def _unread(extraction: str, why: str) -> str:
    if extraction in ("", Extraction.DONE):
        return ""
    label = Extraction(extraction).label
    return f"{label}: {why}" if why else label


def _pending(issue: Issue, names: Names) -> list[dict[str, Any]]:
    """Wakeups that have not started yet, with why."""
    rows = Wakeup.objects.filter(issue=issue, state=WakeupState.PENDING).order_by("pk")[:20]
    return [{"wakeup": row, "agent": names.agents.get(row.agent_id)} for row in rows]


def _woken_by_comment(visit: Visit, issue: Issue, names: Names) -> Somebody | None:
    """The agent that a comment without a mention wakes."""
    if issue.is_closed or not visit.company.comments_wake_assignee or issue.assignee_agent_id is None:
        return None
    return names.agents.get(issue.assignee_agent_id)
