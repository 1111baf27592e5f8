"""Every use case with what it takes to try it: the arguments, who may, and the line of activity it leaves.

The tests of permissions and of activity go through this table; a service that is missing here fails them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from django.utils import timezone

import agents.services
import issues.services
from agents.model_choices import ModelChoice
from agents.models import Run, RunState
from agents.services import agents as hiring
from agents.services import (
    breakers,
    dry_runs,
    exports,
    imports,
    notebook,
    providers,
    routines,
    runs,
    skills,
    spending,
    wakeups,
)
from issues.actors import Actor, Worker
from issues.models import (
    ApprovalStatus,
    Priority,
    ReactionKind,
    Role,
    SavedView,
    Status,
    Verdict,
)
from issues.policies import Grant, Right
from issues.services import (
    accounts,
    approvals,
    blockers,
    board,
    bulk,
    changes,
    comments,
    companies,
    files,
    findings,
    hooks,
    inbox,
    invitations,
    issue_imports,
    keys,
    notices,
    policy,
    projects,
    reactions,
    reviews,
    saved_views,
    undo,
    watching,
    webhooks,
)
from issues.services import issues as tracker
from issues.traces import traced
from issues.trackers.draft import Draft
from tests import build
from tests.services.world import World

Service = Callable[..., Any]


@dataclass(frozen=True)
class UseCase:
    """How to try a service.

    `least` is the least role of a person who may (None: agents only), `agent` what becomes of an agent that tries it
    from its run on its own issue. `logs` is the kind of activity that it leaves, once.
    """

    arguments: Callable[[World, Actor], Mapping[str, Any]]
    least: Role | None
    agent: Grant
    logs: str


def _judge(world: World, actor: Actor) -> Mapping[str, Any]:
    issue = world.in_review(actor)
    return {"actor": world.judge(actor, issue), "issue": issue, "verdict": Verdict.ACCEPT}


def _undone(world: World, actor: Actor) -> Mapping[str, Any]:
    """What the actor, or the owner for those who may not, has just done."""
    acts, issue = actor if actor in (world.owner, world.board) else world.owner, world.own
    with traced() as trace:
        tracker.set_priority(actor=acts, issue=issue, priority=Priority.HIGH)
    return {"company": world.company, "trace": trace.taken()}


def _answered_run(world: World) -> Run:
    """A run that a model answered, with its prompt."""
    return Run.objects.create(
        company=world.company,
        agent=world.ada,
        issue=world.own,
        state=RunState.SUCCEEDED,
        adapter="llm",
        user_message="Look.",
        reply="Seen.",
        deadline_at=timezone.now(),
        ended_at=timezone.now(),
    )


def _kept_view(world: World, actor: Actor) -> SavedView:
    """A view of the actor, or of the owner for those who keep none."""
    keeps = actor if actor in (world.owner, world.board) else world.owner
    return build.saved_view(world.company, actor=keeps)


ALLOW, ASKS, DENY = Grant.ALLOW, Grant.APPROVAL, Grant.DENY
VIEWER, BOARD, OWNER = Role.VIEWER, Role.BOARD, Role.OWNER

USE_CASES: dict[Service, UseCase] = {
    # The company and its people
    companies.change_company: UseCase(
        lambda w, a: {"company": w.company, "mission": "Sell more."}, OWNER, DENY, "company.changed"
    ),
    issue_imports.bring_issues: UseCase(
        lambda w, a: {"company": w.company, "drafts": [Draft(1, "elsewhere 1", "From elsewhere")]},
        BOARD,
        DENY,
        "issue.imported",
    ),
    companies.pause_company: UseCase(lambda w, a: {"company": w.company}, BOARD, DENY, "company.paused"),
    companies.resume_company: UseCase(
        lambda w, a: {"company": companies.pause_company(actor=w.owner, company=w.company)},
        BOARD,
        DENY,
        "company.resumed",
    ),
    companies.add_member: UseCase(
        lambda w, a: {"company": w.company, "user": build.user(), "role": BOARD}, OWNER, DENY, "member.added"
    ),
    invitations.invite_member: UseCase(
        lambda w, a: {"company": w.company, "username": "newcomer", "role": BOARD}, OWNER, DENY, "member.added"
    ),
    companies.change_role: UseCase(lambda w, a: {"member": w.board.member, "role": VIEWER}, OWNER, DENY, "member.role"),
    companies.remove_member: UseCase(lambda w, a: {"member": w.board.member}, OWNER, DENY, "member.removed"),
    keys.create_agent_key: UseCase(lambda w, a: {"agent": w.bob}, OWNER, DENY, "key.created"),
    keys.revoke_key: UseCase(lambda w, a: {"key": w.key}, OWNER, DENY, "key.revoked"),
    # What work is sorted by
    projects.create_project: UseCase(
        lambda w, a: {"company": w.company, "name": "Moon"}, BOARD, DENY, "project.created"
    ),
    projects.edit_project: UseCase(lambda w, a: {"project": w.project, "name": "Mars"}, BOARD, DENY, "project.edited"),
    projects.archive_project: UseCase(lambda w, a: {"project": w.project}, BOARD, DENY, "project.archived"),
    projects.create_label: UseCase(
        lambda w, a: {"company": w.company, "name": "urgent"}, BOARD, ALLOW, "label.created"
    ),
    projects.restore_project: UseCase(
        lambda w, a: {"project": projects.archive_project(actor=w.owner, project=w.project)},
        BOARD,
        DENY,
        "project.restored",
    ),
    projects.edit_label: UseCase(lambda w, a: {"label": w.label, "name": "flaw"}, BOARD, DENY, "label.edited"),
    projects.delete_label: UseCase(lambda w, a: {"label": w.label}, BOARD, DENY, "label.deleted"),
    projects.add_labels: UseCase(lambda w, a: {"issue": w.own, "labels": [w.label]}, BOARD, ALLOW, "issue.labels"),
    projects.remove_labels: UseCase(
        lambda w, a: {"issue": w.labelled, "labels": [w.label]}, BOARD, ALLOW, "issue.labels"
    ),
    saved_views.save_view: UseCase(
        lambda w, a: {"company": w.company, "name": "Mine", "page": SavedView.Page.BOARD, "query": "assignee=me"},
        BOARD,
        DENY,
        "view.saved",
    ),
    saved_views.change_view: UseCase(
        lambda w, a: {"view": _kept_view(w, a), "name": "Other"}, BOARD, DENY, "view.changed"
    ),
    saved_views.delete_view: UseCase(lambda w, a: {"view": _kept_view(w, a)}, BOARD, DENY, "view.deleted"),
    # Issues
    tracker.create_issue: UseCase(lambda w, a: {"company": w.company, "title": "New"}, BOARD, ALLOW, "issue.created"),
    tracker.edit_issue: UseCase(lambda w, a: {"issue": w.own, "title": "Newer"}, BOARD, DENY, "issue.edited"),
    tracker.set_status: UseCase(lambda w, a: {"issue": w.own, "status": Status.BACKLOG}, BOARD, ALLOW, "issue.status"),
    tracker.assign_issue: UseCase(lambda w, a: {"issue": w.own, "assignee": w.bob}, BOARD, ALLOW, "issue.assigned"),
    tracker.set_priority: UseCase(
        lambda w, a: {"issue": w.own, "priority": Priority.HIGH}, BOARD, ALLOW, "issue.priority"
    ),
    tracker.set_parent: UseCase(lambda w, a: {"issue": w.own, "parent": w.spare}, BOARD, DENY, "issue.parent"),
    tracker.delete_issue: UseCase(lambda w, a: {"issue": w.spare}, OWNER, DENY, "issue.deleted"),
    changes.change_issue: UseCase(
        lambda w, a: {"issue": w.own, "priority": Priority.LOW}, BOARD, ALLOW, "issue.priority"
    ),
    blockers.add_blockers: UseCase(
        lambda w, a: {"issue": w.own, "blockers": [w.spare]}, BOARD, ALLOW, "issue.blockers"
    ),
    blockers.remove_blockers: UseCase(
        lambda w, a: {"issue": w.blocked, "blockers": [w.spare]}, BOARD, ALLOW, "issue.blockers"
    ),
    board.move_issue: UseCase(
        lambda w, a: {"before": w.spare, "issue": w.own, "status": Status.TODO}, BOARD, DENY, "issue.moved"
    ),
    bulk.change_issues: UseCase(
        lambda w, a: {"company": w.company, "issues": [w.own], "change": bulk.Change(priority=Priority.LOW)},
        BOARD,
        DENY,
        "issue.priority",
    ),
    undo.undo: UseCase(_undone, BOARD, DENY, "issue.priority"),
    reviews.set_reviewers: UseCase(lambda w, a: {"issue": w.own, "reviewers": [w.bob]}, BOARD, DENY, "issue.reviewers"),
    reviews.give_verdict: UseCase(_judge, BOARD, ALLOW, "issue.reviewed"),
    # What is said and kept on them
    comments.write_comment: UseCase(lambda w, a: {"issue": w.own, "body": "Hm."}, BOARD, ALLOW, "comment.written"),
    comments.edit_comment: UseCase(
        lambda w, a: {"comment": w.comment_of(a), "body": "Hm!"}, BOARD, DENY, "comment.edited"
    ),
    comments.delete_comment: UseCase(lambda w, a: {"comment": w.comment_of(a)}, BOARD, DENY, "comment.deleted"),
    comments.pin_comment: UseCase(lambda w, a: {"comment": w.comment_of(a)}, BOARD, DENY, "comment.pinned"),
    comments.unpin_comment: UseCase(lambda w, a: {"comment": w.pinned()}, BOARD, DENY, "comment.unpinned"),
    reactions.react: UseCase(
        lambda w, a: {"comment": w.comment_of(a), "kind": ReactionKind.THANKS}, BOARD, DENY, "comment.reacted"
    ),
    reactions.take_back_reaction: UseCase(
        lambda w, a: {"comment": w.thanked(a), "kind": ReactionKind.THANKS}, BOARD, DENY, "comment.unreacted"
    ),
    files.attach_file: UseCase(
        lambda w, a: {"issue": w.own, "name": "plan.txt", "content": b"First this."}, BOARD, DENY, "file.attached"
    ),
    files.write_file: UseCase(
        lambda w, a: {"issue": w.own, "path": "plan.md", "text": "First this."}, None, ALLOW, "file.written"
    ),
    findings.record_finding: UseCase(
        lambda w, a: {"issue": w.own, "body": "It is the cache."}, None, ALLOW, "finding.recorded"
    ),
    skills.use_skill: UseCase(lambda w, a: {"issue": w.own, "skill": w.skill}, None, ALLOW, "skill.used"),
    notebook.write_note: UseCase(
        lambda w, a: {"issue": w.own, "key": "plan", "text": "First this."}, None, ALLOW, "notebook.noted"
    ),
    notebook.forget_note: UseCase(lambda w, a: {"issue": w.own, "key": w.note_of(a)}, None, ALLOW, "notebook.forgot"),
    notebook.remember: UseCase(
        lambda w, a: {"issue": w.own, "text": "It breaks on Mondays."}, None, ALLOW, "notebook.remembered"
    ),
    notebook.edit_note: UseCase(lambda w, a: {"note": w.bobs_note, "text": "Then that."}, BOARD, DENY, "note.edited"),
    notebook.delete_note: UseCase(lambda w, a: {"note": w.bobs_note}, BOARD, DENY, "note.deleted"),
    notebook.edit_observation: UseCase(
        lambda w, a: {"observation": w.bobs_observation, "text": "Or not."}, BOARD, DENY, "observation.edited"
    ),
    notebook.delete_observation: UseCase(
        lambda w, a: {"observation": w.bobs_observation}, BOARD, DENY, "observation.deleted"
    ),
    # Questions to the board
    approvals.request_approval: UseCase(
        lambda w, a: {"issue": w.own, "title": "May I?"}, BOARD, ALLOW, "approval.requested"
    ),
    approvals.ask_question: UseCase(
        lambda w, a: {"issue": w.own, "question": "Which one?"}, BOARD, ALLOW, "approval.requested"
    ),
    approvals.propose_action: UseCase(
        lambda w, a: {"issue": w.own, "title": "/status done", "payload": {"verb": "status"}, "explanation": ""},
        None,
        ALLOW,
        "approval.requested",
    ),
    approvals.decide_approval: UseCase(
        lambda w, a: {"approval": w.request, "status": ApprovalStatus.APPROVED}, BOARD, DENY, "approval.decided"
    ),
    policy.change_policy: UseCase(
        lambda w, a: {"company": w.company, "permission": Right.CLOSE, "grant": Grant.APPROVAL},
        BOARD,
        DENY,
        "policy.changed",
    ),
    policy.set_cap: UseCase(
        lambda w, a: {"company": w.company, "verb": "create-issue", "cap": 3}, BOARD, DENY, "policy.cap"
    ),
    # Agents and what they do
    hiring.hire_agent: UseCase(lambda w, a: {"company": w.company, "name": "Carl"}, BOARD, ASKS, "agent.hired"),
    hiring.edit_agent: UseCase(lambda w, a: {"agent": w.bob, "title": "Tester"}, BOARD, DENY, "agent.edited"),
    hiring.set_manager: UseCase(lambda w, a: {"agent": w.bob, "manager": w.ada}, BOARD, DENY, "agent.manager"),
    hiring.pause_agent: UseCase(lambda w, a: {"agent": w.bob}, BOARD, DENY, "agent.paused"),
    hiring.resume_agent: UseCase(
        lambda w, a: {"agent": hiring.pause_agent(actor=w.owner, agent=w.bob)}, BOARD, DENY, "agent.resumed"
    ),
    hiring.terminate_agent: UseCase(lambda w, a: {"agent": w.bob}, BOARD, ALLOW, "agent.terminated"),
    skills.create_skill: UseCase(
        lambda w, a: {"company": w.company, "name": "Sums", "body": "Add."}, BOARD, ASKS, "skill.created"
    ),
    skills.edit_skill: UseCase(lambda w, a: {"skill": w.skill, "enabled": False}, BOARD, DENY, "skill.edited"),
    spending.set_budget: UseCase(
        lambda w, a: {"company": w.company, "agent": w.ada, "microdollars": 500_000}, OWNER, DENY, "budget.set"
    ),
    providers.add_provider: UseCase(
        lambda w, a: {"company": w.company, "name": "home", "protocol": "openai", "key": "sk-of-the-company"},
        OWNER,
        DENY,
        "provider.added",
    ),
    providers.edit_provider: UseCase(
        lambda w, a: {"provider": w.provider, "model": "another"}, OWNER, DENY, "provider.edited"
    ),
    providers.remove_provider: UseCase(lambda w, a: {"provider": w.provider}, OWNER, DENY, "provider.removed"),
    providers.change_models: UseCase(
        lambda w, a: {"company": w.company, "tiers": {"strong": ModelChoice("openai", "large")}},
        OWNER,
        DENY,
        "models.changed",
    ),
    webhooks.add_webhook: UseCase(
        lambda w, a: {"company": w.company, "url": "https://hooks.test/in", "kinds": ["run"]},
        OWNER,
        DENY,
        "webhook.added",
    ),
    webhooks.edit_webhook: UseCase(
        lambda w, a: {"webhook": w.webhook, "kinds": ["budget"]}, OWNER, DENY, "webhook.edited"
    ),
    webhooks.switch_webhook: UseCase(lambda w, a: {"webhook": w.webhook, "on": False}, OWNER, DENY, "webhook.switched"),
    webhooks.rotate_secret: UseCase(lambda w, a: {"webhook": w.webhook}, OWNER, DENY, "webhook.rotated"),
    webhooks.remove_webhook: UseCase(lambda w, a: {"webhook": w.webhook}, OWNER, DENY, "webhook.removed"),
    webhooks.send_test: UseCase(lambda w, a: {"webhook": w.webhook}, OWNER, DENY, "webhook.tested"),
    hooks.add_hook: UseCase(
        lambda w, a: {"company": w.company, "name": "Forms", "title": "{{title}}"}, OWNER, DENY, "hook.added"
    ),
    hooks.edit_hook: UseCase(lambda w, a: {"hook": w.hook, "name": "Forms"}, OWNER, DENY, "hook.edited"),
    hooks.switch_hook: UseCase(lambda w, a: {"hook": w.hook, "on": False}, OWNER, DENY, "hook.switched"),
    hooks.rotate_token: UseCase(lambda w, a: {"hook": w.hook}, OWNER, DENY, "hook.rotated"),
    hooks.remove_hook: UseCase(lambda w, a: {"hook": w.hook}, OWNER, DENY, "hook.removed"),
    breakers.reset_breaker: UseCase(
        lambda w, a: {"company": w.company, "key": "0", "provider": "openai"}, BOARD, DENY, "provider.reset"
    ),
    routines.create_routine: UseCase(
        lambda w, a: {
            "company": w.company,
            "name": "Daily",
            "cron": "0 9 * * *",
            "title": "Look",
            "assignee": w.ada,
            "responsible": w.owner.member,
        },
        BOARD,
        ASKS,
        "routine.created",
    ),
    routines.edit_routine: UseCase(
        lambda w, a: {"routine": w.routine, "cron": "0 8 * * *"}, BOARD, DENY, "routine.edited"
    ),
    routines.fire_routine_now: UseCase(lambda w, a: {"routine": w.routine}, BOARD, DENY, "routine.fired"),
    routines.switch_routine: UseCase(
        lambda w, a: {"routine": w.routine, "enabled": False}, BOARD, DENY, "routine.switched"
    ),
    exports.begin_export: UseCase(lambda w, a: {"company": w.company}, OWNER, DENY, "company.exported"),
    runs.cancel_run: UseCase(lambda w, a: {"run": w.bobs_run}, BOARD, DENY, "run.ended"),
    dry_runs.ask_for_dry_run: UseCase(lambda w, a: {"run": _answered_run(w)}, BOARD, DENY, "run.dry_run_asked"),
    runs.check_out: UseCase(
        lambda w, a: {"issue": w.spare, "agent": a.agent if isinstance(a, Worker) else w.bob},
        BOARD,
        ALLOW,
        "run.started",
    ),
    runs.release: UseCase(lambda w, a: {"issue": w.worker.home}, BOARD, ALLOW, "run.ended"),
    wakeups.ask_for_heartbeat: UseCase(lambda w, a: {"agent": w.ada, "issue": w.own}, BOARD, DENY, "wakeup.asked"),
}

WITHOUT_ACTOR: frozenset[Service] = frozenset(
    {
        # Accounts belong to the installation, not to a company.
        accounts.create_user,
        accounts.installation_founder,
        accounts.issue_login_link,
        accounts.use_login_link,
        # Whoever has the word of an address is who may.
        hooks.open_of_hook,
        notices.stop_notices,
        # What time and the worker do.
        breakers.note_failure,
        keys.create_run_key,
        routines.fire_routine,
        spending.reserve_further,
        webhooks.give_up_on,
        wakeups.wake_on_schedule,
    }
)

WITH_RULES_OF_THEIR_OWN: frozenset[Service] = frozenset(
    {
        companies.found_company,  # any user
        imports.import_company,  # the same
        companies.delete_company,  # takes its own activity along
        keys.create_user_key,  # one's own
        inbox.mark_read,
        inbox.archive_item,
        inbox.archive_read,
        inbox.snooze_item,
        inbox.bring_back,
        watching.watch_issue,  # tells nobody anything, so it leaves no line
        watching.unwatch_issue,
        accounts.change_profile,  # one's own
        accounts.change_password,
        notices.choose_notices,  # one's own
    }
)


def all_services() -> Iterator[Service]:
    """Every function of the service modules that is made a use case by `@service`."""
    for package in (issues.services, agents.services):
        for module in _modules(package):
            for _, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and hasattr(function, "__wrapped__"):
                    yield function


def name_of(service: Service) -> str:
    return service.__name__


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        yield importlib.import_module(found.name)
