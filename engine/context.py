"""Gathering: everything that a prompt shows, read from the database in a fixed number of queries."""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from agents.catalogue import ModelEntry
from agents.models import ActionOutcome, Agent, Routine, Run, RunAction, Skill, Wakeup
from agents.own_models import entry_for
from agents.services.agents import worker_for
from agents.services.spending import is_budget_low
from engine.allowed import Allowed, allowed_verbs
from engine.checkpoints import read_checkpoint
from engine.claim import deliverable, take_in_late
from engine.inventory import Kept, read_inventory
from engine.meanwhile import SEEN, lines_of_people
from engine.notebook import read_notebook
from engine.participants import author, issue_line, lined, named, participant, participant_or_none
from engine.routing import NoProvider, Route, choose_endpoint
from engine.surroundings import read_children, read_materials
from engine.text import context as shown
from engine.text.scenario import choose_scenario
from engine.timeline import read_timeline
from issues.effects import service
from issues.models import Approval, ApprovalStatus, Comment, Company, Issue, Member
from issues.policies import Relation, agent_standing
from issues.prepared import Prepared, PreparedInstances
from issues.services.transitions import outstanding_reviewers
from issues.sources import WakeupSource

LEAN_WINDOW = 32_768
"""Models with a window of so many tokens or less get the lean tier: what is sold as 32k is mostly this."""


@service
def gather(run: Run, route: Route | None = None) -> shown.HeartbeatContext:
    """The context of a claimed run, for the model that is asked (by default the first that its agent may ask). Wakeups
    that arrived since the claim are taken in: read in one transaction with what they speak of, so that each wakeup is
    either in this prompt or still pending."""
    # Before all else is read: a change under way is noticed when the reply is applied, if it is not seen here.
    run.prompt_facts = {SEEN: lines_of_people(run)}
    issue = _read_issue(run)
    wakeups = take_in_late(run, issue, _deliverable.all(run.agent_id, issue.pk, run.pk))
    return build_context(run.agent, issue, wakeups, run, route)


def build_context(
    agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], run: Run | None = None, route: Route | None = None
) -> shown.HeartbeatContext:
    """The context of this agent on this issue for these wakeups. Without a run, what a run would be shown now."""
    company = agent.company
    likely = run or Run(agent=agent, issue=issue, company=company)
    actor = worker_for(agent, likely)
    is_own = agent_standing(actor, issue).relation is Relation.OWN
    there = read_inventory(agent, issue)
    allowed = allowed_verbs(actor, issue)
    entry = _model(agent, route)
    timeline = read_timeline(issue, there)
    last = _last_run(agent, issue, run)
    trigger = shown.Trigger(tuple(_wakeup(wakeup, issue) for wakeup in wakeups), timeline.agents_comments)
    return shown.HeartbeatContext(
        company=shown.Company(company.name, company.mission, company.norms),
        agent=shown.Agent(
            participant(agent),
            role=agent.role,
            title=agent.title,
            is_routing=agent.is_routing,
            instructions=agent.instructions,
            knowledge=agent.knowledge,
        ),
        assignment=_assignment(issue, is_own, allowed, there),
        actions=replace(allowed.actions, asked=_asked_verbs(last)),
        scenario=_scenario(agent, issue, wakeups, is_own),
        now=timezone.now().astimezone(zoneinfo.ZoneInfo(company.time_zone)),
        tier=_tier(agent, entry),
        reporting_line=_reporting_line(agent, allowed, there),
        roster=_roster(agent) if agent.is_routing else (),
        capabilities=_capabilities(company) if agent.is_routing else (),
        skills=_skills(agent) if Kept.SKILLS in there else (),
        asked_skills=_asked_skills(last),
        pinned=timeline.pinned,
        history=timeline.history,
        checkpoint=read_checkpoint(issue) if Kept.CHECKPOINTS in there else None,
        past_actions=_past_actions(last),
        hint=last.hint if last is not None else "",
        trigger=trigger,
        children=read_children(issue) if Kept.CHILDREN in there else (),
        materials=read_materials(issue, there),
        notebook=read_notebook(agent, _subject(issue, trigger), there),
        limits=shown.Limits(
            window=entry.context_window,
            max_output=agent.max_output_tokens or entry.max_output_tokens,
            prompt_budget=company.prompt_budget,
            is_last_run=run is not None and run.depth >= company.hop_limit,
            is_budget_low=is_budget_low(likely),
        ),
    )


def _shown_wakeups() -> QuerySet[Wakeup]:
    """Wakeups with what a prompt shows of them. What few of them have is read beside them, if one has it: PostgreSQL
    plans a join of a dozen tables for longer than the rest of the prompt takes."""
    comments = Comment.objects.select_related("author_agent", "author_member__user").only(
        "body", "deleted_at", *named("author_agent", "author_member")
    )
    approvals = Approval.objects.only("title")
    return Wakeup.objects.prefetch_related(
        Prefetch("member", Member.objects.select_related("user")),
        Prefetch("by_agent"),
        Prefetch("comment", comments),
        Prefetch("subject_issue", _lines()),
        Prefetch("approval", approvals),
    )


_deliverable = PreparedInstances(lambda *ids: deliverable(_shown_wakeups(), *ids))


def _lines() -> QuerySet[Issue]:
    """Issues as others name them."""
    return Issue.objects.select_related("company", "assignee_agent", "assignee_member__user").only(*lined())


def _read_issue(run: Run) -> Issue:
    """The run's issue, with what is at hand instead of read once more."""
    assert run.issue_id is not None  # noqa: S101 - it was claimed for one
    [issue] = _assigned.all(run.issue_id)
    issue.company = run.company
    if issue.assignee_agent_id == run.agent_id:
        issue.assignee_agent = run.agent
    if issue.parent_id is not None:
        issue.parent = _lines().get(pk=issue.parent_id)
    return issue


_assigned = PreparedInstances(
    lambda issue: Issue.objects.select_related("project", "assignee_member__user", "responsible__user").filter(pk=issue)
)


def _model(agent: Agent, route: Route | None) -> ModelEntry:
    try:
        route = route or choose_endpoint(agent)
    except NoProvider:
        return ModelEntry("")
    return entry_for(route.endpoint, route.model)


def _tier(agent: Agent, entry: ModelEntry) -> shown.Tier:
    if agent.tier:
        return shown.Tier(agent.tier)
    return shown.Tier.LEAN if entry.context_window <= LEAN_WINDOW else shown.Tier.FULL


def _scenario(agent: Agent, issue: Issue, wakeups: Sequence[Wakeup], is_own: bool) -> shown.Scenario:
    reviewing = issue.status == "in_review" and any(
        reviewer.agent_id == agent.pk for reviewer in outstanding_reviewers(issue)
    )
    return choose_scenario(
        [wakeup.source for wakeup in wakeups],
        is_routing=agent.is_routing,
        is_own=is_own,
        is_asked_to_review=reviewing,
    )


def _assignment(issue: Issue, is_own: bool, allowed: Allowed, there: frozenset[Kept]) -> shown.Assignment:
    return shown.Assignment(
        identifier=issue.identifier,
        title=issue.title,
        status=issue.status,
        priority=issue.get_priority_display().lower(),
        is_own=is_own,
        responsible=participant(issue.responsible),
        assignee=participant_or_none(issue.assignee_agent or issue.assignee_member),
        reviews=_reviews(issue) if Kept.REVIEWERS in there else (),
        due=issue.due_date,
        project=_project(issue),
        labels=_labels(issue) if Kept.LABELS in there else (),
        blockers=_blockers(issue) if Kept.BLOCKERS in there else (),
        parent=issue_line(issue.parent) if issue.parent is not None else None,
        approvals=_approvals(issue) if Kept.APPROVALS in there else (),
        needs_approval=allowed.ask_here,
        description=issue.description,
        hook=issue.created_by_hook.name if issue.created_by_hook is not None else "",
    )


def _reviews(issue: Issue) -> tuple[shown.Review, ...]:
    rows = issue.reviewers.select_related("agent", "member__user").order_by("pk")
    rows = rows.only("issue", "verdict", "note", *named("agent", "member"))
    pairs = [(row, row.agent or row.member) for row in rows]
    return tuple(shown.Review(participant(one), row.verdict, row.note) for row, one in pairs if one is not None)


def _project(issue: Issue) -> shown.Project | None:
    if issue.project is None:
        return None
    return shown.Project(issue.project.name, issue.project.description, issue.project.rules)


def _labels(issue: Issue) -> tuple[str, ...]:
    return tuple(issue.labels.order_by("name").values_list("name", flat=True))


def _blockers(issue: Issue) -> tuple[shown.IssueLine, ...]:
    links = issue.blocker_links.open().select_related(
        "blocker__company", "blocker__assignee_agent", "blocker__assignee_member__user"
    )
    links = links.only("issue", *lined("blocker"))
    return tuple(issue_line(link.blocker) for link in links.order_by("pk"))


def _approvals(issue: Issue) -> tuple[shown.PendingApproval, ...]:
    pending = issue.approvals.filter(status=ApprovalStatus.PENDING)
    rows = pending.select_related("requested_by_agent", "requested_by_member__user").order_by("pk")
    rows = rows.only("issue", "kind", "title", *named("requested_by_agent", "requested_by_member"))
    asked = [(row, row.requested_by_agent or row.requested_by_member) for row in rows]
    return tuple(shown.PendingApproval(row.kind, row.title, participant(one)) for row, one in asked if one is not None)


def _reporting_line(agent: Agent, allowed: Allowed, there: frozenset[Kept]) -> shown.ReportingLine:
    return shown.ReportingLine(
        manager=participant_or_none(agent.manager),
        reports=_reports(agent) if Kept.REPORTS in there else (),
        needs_approval=allowed.always_ask,
    )


def _reports(agent: Agent) -> tuple[shown.Colleague, ...]:
    reports = agent.reports.present().only("manager", *_COLLEAGUE).order_by("handle")
    return tuple(_colleague(report) for report in reports)


def _roster(agent: Agent) -> tuple[shown.Colleague, ...]:
    others = agent.company.agents.active().exclude(pk=agent.pk).only("company", *_COLLEAGUE).order_by("handle")
    return tuple(_colleague(other) for other in others)


_COLLEAGUE = ("name", "handle", "role", "title", "description")


def _colleague(agent: Agent) -> shown.Colleague:
    return shown.Colleague(participant(agent), agent.role, agent.title, agent.description)


def _capabilities(company: Company) -> tuple[shown.Capability, ...]:
    """What the company can do, with how it is had. Agents stand in the roster."""
    skills = Skill.objects.filter(company=company, enabled=True).order_by("name")
    routines = Routine.objects.filter(company=company, enabled=True).select_related("assignee").order_by("name")
    return (
        *(shown.Capability("skill", skill.name, skill.description) for skill in skills),
        *(
            shown.Capability(
                "routine", routine.name, f"runs by itself ({routine.cron}), for @{routine.assignee.handle}"
            )
            for routine in routines
        ),
    )


def _skills(agent: Agent) -> tuple[shown.Skill, ...]:
    rows = Skill.objects.for_agent(agent.pk)
    return tuple(shown.Skill(skill.name, skill.description, skill.body) for skill in rows)


def _last_run(agent: Agent, issue: Issue, run: Run | None) -> Run | None:
    """This agent's newest ended run here: what became of its actions stands in the next prompt."""
    present = run.pk if run is not None and run.pk is not None else 0
    for (ended,) in _last_ended.rows(agent.pk, issue.pk, present):
        return Run.objects.only("hint", "prompt_facts").prefetch_related("actions").get(pk=ended)
    return None


_last_ended = Prepared(
    lambda agent, issue, present: (
        Run.objects.filter(agent=agent, issue=issue, applied_at__isnull=False)
        .exclude(pk=present)
        .order_by("-pk")
        .values_list("pk")[:1]
    )
)


def _past_actions(last: Run | None) -> tuple[shown.PastAction, ...]:
    """Those that had no effect, and those of which a part was left out."""
    if last is None:
        return ()
    words = {ActionOutcome.DENIED: "denied", ActionOutcome.FAILED: "failed", ActionOutcome.APPLIED: "in part"}
    return tuple(
        shown.PastAction(action.verb, action.args, words[ActionOutcome(action.outcome)], action.reason)
        for action in last.actions.all()
        if action.reason and action.outcome in words
    )


def _asked_verbs(last: Run | None) -> tuple[str, ...]:
    """Verbs that the agent asked about in its last run here."""
    if last is None:
        return ()
    return tuple(action.after["verb"] for action in _applied(last, "help"))


def _subject(issue: Issue, trigger: shown.Trigger) -> str:
    """What the prompt is about."""
    called = (f"{wakeup.reason} {wakeup.text} {wakeup.note}" for wakeup in trigger.wakeups)
    return " ".join((issue.title, issue.description, *called))


def _asked_skills(last: Run | None) -> tuple[str, ...]:
    """Skills that the agent applied in its last run here without having seen their text."""
    if last is None:
        return ()
    seen = last.prompt_facts.get("whole_skills", [])
    used = [action.after["skill"] for action in _applied(last, "use-skill")]
    return tuple(name for name in used if name not in seen)


def _applied(run: Run, verb: str) -> list[RunAction]:
    return [one for one in run.actions.all() if one.verb == verb and one.outcome == ActionOutcome.APPLIED]


def _wakeup(wakeup: Wakeup, issue: Issue) -> shown.Wakeup:
    comment = wakeup.comment
    text, text_author = "", None
    if comment is not None and comment.deleted_at is None:
        text, text_author = comment.body, author(comment)
    elif wakeup.approval is not None:
        text = wakeup.approval.title
    elif wakeup.source == WakeupSource.MENTION and comment is None:  # in the description
        text, text_author = issue.description, participant_or_none(wakeup.member or wakeup.by_agent)
    return shown.Wakeup(
        id=wakeup.pk,
        source=wakeup.source,
        reason=wakeup.reason,
        by=participant_or_none(wakeup.member or wakeup.by_agent),
        issue=issue_line(wakeup.subject_issue) if wakeup.subject_issue is not None else None,
        text=text,
        text_author=text_author,
        comment=comment.pk if comment is not None else None,
        note=wakeup.note,
    )
