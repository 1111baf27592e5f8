"""What the database holds by itself: each of its rules is attacked directly, past every service."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.db.models import F
from django.utils import timezone

from agents.models import (
    ActionOutcome,
    Agent,
    Budget,
    Checkpoint,
    DryRun,
    InstructionsVersion,
    Note,
    Reservation,
    Routine,
    RunAction,
    RunOutput,
    Spending,
    TokenFactor,
    Wakeup,
)
from agents.services.agents import edit_agent
from agents.services.notebook import write_note
from agents.services.routines import fire_routine
from agents.services.spending import Cost, reserve, set_budget
from issues.audit import maintenance
from issues.models import (
    Activity,
    ApiKey,
    Approval,
    AuditSeal,
    Blocker,
    Comment,
    Delivery,
    FileVersion,
    Grant,
    Handle,
    HookCall,
    ImportedIssue,
    InboxItem,
    InboxKind,
    KeptAnswer,
    Member,
    Notice,
    PolicyRule,
    Reaction,
    ReactionKind,
    Reviewer,
    SavedView,
    Status,
    Watch,
)
from issues.policies import Right
from issues.services.blockers import add_blockers
from issues.services.files import write_file
from issues.services.hooks import open_by_hook
from issues.services.keys import create_agent_key
from issues.services.policy import change_policy
from issues.services.reactions import react
from issues.services.reviews import set_reviewers
from issues.services.saved_views import save_view
from issues.services.watching import watch_issue
from issues.services.webhooks import add_webhook, send_test
from tests import build

pytestmark = pytest.mark.django_db


class Scene:
    """A company with one of everything, to be broken."""

    def __init__(self) -> None:
        self.company, self.owner = build.company_with_founder()
        self.member = build.member_row(self.owner)
        self.ada = build.agent(self.company, "Ada", max_concurrent_runs=5)
        self.bob = build.agent(self.company, "Bob")
        self.issue = build.issue(self.company, assignee=self.ada)
        self.other = build.issue(self.company)
        self.worker = build.at_work(self.ada, self.issue)
        run = self.worker.run
        assert run is not None
        self.run = run

    def again(self, row: models.Model, **changes: Any) -> None:
        """Insert the row once more, with these changes."""
        row.pk = None
        row._state.adding = True
        for field, value in changes.items():
            setattr(row, field, value)
        models.Model.save_base(row, force_insert=True)

    def reaction(self) -> Reaction:
        react(actor=self.owner, comment=self.comment(), kind=ReactionKind.AGREE)
        return Reaction.objects.get()

    def instructions(self) -> InstructionsVersion:
        edit_agent(actor=self.owner, agent=self.ada, instructions="Be brief.")
        return InstructionsVersion.objects.get()

    def watch(self) -> Watch:
        watch_issue(actor=self.owner, issue=self.issue)
        return Watch.objects.get()

    def comment(self) -> Comment:
        return build.comment(self.issue)

    def approval(self) -> Approval:
        return build.approval(self.issue, actor=self.worker)

    def blocker(self) -> Blocker:
        add_blockers(actor=self.owner, issue=self.issue, blockers=[self.other])
        return Blocker.objects.get()

    def reviewer(self, who: Agent | Member) -> Reviewer:
        set_reviewers(actor=self.owner, issue=self.issue, reviewers=[who])
        return Reviewer.objects.get()

    def file(self) -> FileVersion:
        return write_file(actor=self.worker, issue=self.issue, path="a.txt", text="a")

    def wakeup(self) -> Wakeup:
        build.comment(self.other, "@bob")
        return Wakeup.objects.get(agent=self.bob)

    def routine(self) -> Routine:
        return build.routine(self.company, self.ada)

    def dry_run(self) -> DryRun:
        return DryRun.objects.create(company=self.company, run=self.run, member=self.member)

    def action(self) -> RunAction:
        return RunAction.objects.create(run=self.run, ordinal=0, line=1, verb="pass", outcome=ActionOutcome.APPLIED)

    def note(self) -> Note:
        return write_note(actor=self.worker, issue=self.issue, key="idea", text="Ask Bob.")

    def checkpoint(self) -> Checkpoint:
        return Checkpoint.objects.create(issue=self.issue, number=1, agent=self.ada, until=self.comment(), comments=1)

    def notice(self) -> Notice:
        item = InboxItem.objects.create(company=self.company, member=self.member, kind=InboxKind.MENTION, text="Look.")
        return Notice.objects.create(item=item, due_at=timezone.now())

    def delivery(self) -> Delivery:
        webhook, _ = add_webhook(
            actor=self.owner, company=self.company, url="https://hooks.example.org/", kinds=["issue"]
        )
        return send_test(actor=self.owner, webhook=webhook)

    def hook_call(self) -> HookCall:
        _, token = build.hook(self.company)
        open_by_hook(token=token, data={}, key="once")
        return HookCall.objects.get()

    def view(self) -> SavedView:
        return save_view(actor=self.owner, company=self.company, name="Mine", page=SavedView.Page.BOARD, query="")

    def rule(self, **scope: Any) -> PolicyRule:
        made = change_policy(actor=self.owner, company=self.company, permission=Right.LABEL, grant=Grant.DENY, **scope)
        assert made is not None
        return made

    def budget(self, agent: Agent | None = None) -> Budget:
        return set_budget(actor=self.owner, company=self.company, agent=agent, runs=5)

    def reservation(self) -> Reservation:
        reserve(self.run, Cost(10, 10), starts_run=False)
        return Reservation.objects.get()

    def spending(self, agent: Agent | None) -> Spending:
        self.reservation()
        return Spending.objects.get(agent=agent)

    def key(self) -> ApiKey:
        return create_agent_key(actor=self.owner, agent=self.ada)[0]


def update(row: models.Model, **values: Any) -> None:
    assert type(row)._default_manager.filter(pk=row.pk).update(**values) == 1


def edit_line(scene: Scene, **values: Any) -> None:
    with maintenance():
        update(Activity.objects.filter(actor_kind="user").latest("pk"), **values)


def seal_twice(scene: Scene) -> None:
    """Past the trigger of SQLite, which refuses it first."""
    now = timezone.now()
    seal = AuditSeal.objects.create(company=scene.company, number=1, lines=0, last_line=0, marks=b"", sealed_at=now)
    with maintenance():
        scene.again(seal)


def fire_twice(scene: Scene) -> None:
    routine = scene.routine()
    due = routine.next_fire_at
    fire_routine(routine=routine, now=timezone.now() + timedelta(days=2))
    Routine.objects.filter(pk=routine.pk).update(next_fire_at=due)
    fire_routine(routine=routine, now=timezone.now() + timedelta(days=2))


ATTACKS: dict[str, Callable[[Scene], object]] = {
    # The company, its people and names
    "issues_company.key": lambda s: s.again(s.company),
    "company_key_form": lambda s: update(s.company, key="acme"),
    "company_status_known": lambda s: update(s.company, status="sold"),
    "member_once_per_company": lambda s: s.again(s.member, handle="twice"),
    "member_role_known": lambda s: update(s.member, role="king"),
    "handle_once_per_company": lambda s: s.again(Handle.objects.get(key="ada")),
    "agent_handle_once": lambda s: s.again(s.ada),
    "agent_status_known": lambda s: update(s.ada, status="asleep"),
    "agent_policy_known": lambda s: update(s.ada, policy="anarchy"),
    "agent_not_its_own_manager": lambda s: update(s.ada, manager=F("id")),
    "agent_names_tier_or_model": lambda s: update(s.ada, model_tier="strong", model="m"),
    "provider_name_once": lambda s: s.again(build.provider(s.company)),
    "provider_name_form": lambda s: update(build.provider(s.company), name="My Own"),
    "agent_may_run": lambda s: update(s.ada, max_concurrent_runs=0),
    "skill_name_once": lambda s: s.again(build.skill(s.company, "Sums"), name="SUMS"),
    "project_name_once": lambda s: s.again(build.project(s.company, "Moon"), name="moon"),
    "label_name_once": lambda s: s.again(build.label(s.company, "bug"), name="BUG"),
    "issues_apikey.prefix": lambda s: s.again(s.key()),
    "api_key_scope_known": lambda s: update(s.key(), scope="all"),
    "api_key_of_user_or_agent": lambda s: update(s.key(), user=s.owner.user),
    # Issues
    "issue_number_once": lambda s: s.again(s.issue),
    "issue_status_known": lambda s: update(s.issue, status="lost"),
    "issue_priority_known": lambda s: update(s.issue, priority=6),
    "issue_one_assignee": lambda s: update(s.issue, assignee_member=s.member),
    "issue_closed_at_with_status": lambda s: update(s.issue, status=Status.DONE),
    "issue_not_its_own_parent": lambda s: update(s.issue, parent=F("id")),
    "issue_has_title": lambda s: update(s.issue, title=""),
    "blocker_once": lambda s: s.again(s.blocker()),
    "blocker_not_itself": lambda s: update(s.blocker(), blocker=F("issue")),
    "reviewer_member_once": lambda s: s.again(s.reviewer(s.member)),
    "reviewer_agent_once": lambda s: s.again(s.reviewer(s.bob)),
    "reviewer_is_one": lambda s: update(s.reviewer(s.bob), member=s.member),
    # What is said and kept on them
    "comment_one_author": lambda s: update(s.comment(), author_agent=s.ada),
    "comment_not_empty": lambda s: update(s.comment(), body=""),
    "approval_one_requester": lambda s: update(s.approval(), requested_by_agent=None),
    "approval_decided_at_with_status": lambda s: update(s.approval(), status="approved"),
    "activity_one_actor": lambda s: edit_line(s, agent=s.ada),
    "workspace_path_once": lambda s: s.again(s.file().file),
    "file_version_once": lambda s: s.again(s.file()),
    # Wakeups and runs
    "wakeup_pending_once": lambda s: s.again(s.wakeup()),
    "wakeup_source_known": lambda s: update(s.wakeup(), source="whim"),
    "wakeup_state_known": lambda s: update(s.wakeup(), state="lost"),
    "wakeup_has_key": lambda s: update(s.wakeup(), key=""),
    "wakeup_claimed_at": lambda s: update(s.wakeup(), state="claimed"),
    "run_one_live_per_issue": lambda s: s.again(s.run, agent=s.bob),
    "run_state_known": lambda s: update(s.run, state="weird", ended_at=timezone.now()),
    "run_ended_at_with_state": lambda s: update(s.run, ended_at=timezone.now()),
    "run_applied_has_reply": lambda s: update(s.run, adapter="llm", applied_at=timezone.now()),
    "dry_run_one_open_per_run": lambda s: s.again(s.dry_run()),
    "dry_run_state_known": lambda s: update(s.dry_run(), state="weird", ended_at=timezone.now()),
    "dry_run_ended_at_with_state": lambda s: update(s.dry_run(), ended_at=timezone.now()),
    "run_action_once": lambda s: s.again(s.action()),
    "run_action_outcome_known": lambda s: update(s.action(), outcome="perhaps"),
    "routine_fires_once": fire_twice,
    "note_key_once_per_agent": lambda s: s.again(s.note()),
    "checkpoint_number_once": lambda s: s.again(s.checkpoint()),
    "saved_view_name_once": lambda s: s.again(s.view(), name="MINE"),
    "saved_view_page_known": lambda s: update(s.view(), page="desk"),
    "issues_notice.item_id": lambda s: s.again(s.notice()),
    "hook_one_assignee": lambda s: update(
        build.hook(s.company)[0], assignee_agent=build.agent(s.company), assignee_member=s.member
    ),
    "issues_hook.prefix": lambda s: s.again(build.hook(s.company)[0]),
    "hook_call_once": lambda s: s.again(s.hook_call()),
    "delivery_state_known": lambda s: update(s.delivery(), state="lost"),
    "issues_delivery.uid": lambda s: s.again(s.delivery()),
    "notice_state_known": lambda s: update(s.notice(), state="lost"),
    "kept_answer_once": lambda s: s.again(KeptAnswer.objects.create(caller="user 1", key="once", call_hash="")),
    # What agents may do and spend
    "policy_rule_once_for_all": lambda s: s.again(s.rule()),
    "policy_rule_once_per_role": lambda s: s.again(s.rule(role="tester")),
    "policy_rule_once_per_agent": lambda s: s.again(s.rule(agent=s.ada)),
    "policy_rule_one_scope": lambda s: update(s.rule(agent=s.ada), role="tester"),
    "policy_rule_grant_known": lambda s: update(s.rule(), grant="perhaps"),
    "budget_once_per_company": lambda s: s.again(s.budget()),
    "agents_budget.agent_id": lambda s: s.again(s.budget(s.ada)),
    "spending_once_per_company": lambda s: s.again(s.spending(None)),
    "spending_once_per_agent": lambda s: s.again(s.spending(s.ada)),
    "spending_not_negative": lambda s: update(s.spending(None), tokens=F("tokens") - 1_000),
    "agents_reservation.run_id": lambda s: s.again(s.reservation()),
    "agents_runoutput.run_id": lambda s: s.again(RunOutput.objects.create(run=s.run)),
    "reaction_once": lambda s: s.again(s.reaction()),
    "reaction_kind_known": lambda s: s.again(s.reaction(), kind="applause"),
    "instructions_version_once": lambda s: s.again(s.instructions()),
    "instructions_one_author": lambda s: s.again(s.instructions(), number=9, by_agent=s.bob),
    "imported_issue_once": lambda s: s.again(ImportedIssue.objects.create(company=s.company, source="elsewhere")),
    "audit_seal_once": seal_twice,
    "watch_once": lambda s: s.again(s.watch()),
    "token_factor_once_per_model": lambda s: s.again(TokenFactor.objects.create(provider="p", model="m", factor=1)),
}


SAID_BEFORE = {"issue_status_known": "issue_closed_at_with_status", "spending_not_negative": "tokens"}
"""Rules that cannot be broken without another one (of a column by itself, in the second), which may be blamed first."""

BY_THE_INSTALLATION = {"issues_user.username", "issues_loginlink.token_hash"}
"""Django's own rule for accounts, and one on 256 random bits."""


@pytest.mark.parametrize("name", ATTACKS)
def test_the_database_refuses_what_breaks_the_rule(name: str) -> None:
    scene = Scene()
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        ATTACKS[name](scene)
    assert names_rule(str(refused.value), name), str(refused.value)


def test_every_rule_is_attacked() -> None:
    assert set(rules()) - BY_THE_INSTALLATION == set(ATTACKS)


def rules() -> dict[str, list[str]]:
    """Every rule by name (a column that is unique by itself: `table.column`), with the columns of a unique one."""
    found: dict[str, list[str]] = {}
    for app in ("issues", "agents"):
        for model in apps.get_app_config(app).get_models():
            for field in model._meta.concrete_fields:
                if field.unique and not field.primary_key:
                    found[f"{model._meta.db_table}.{field.column}"] = [field.column]
            for rule in model._meta.constraints:
                found[rule.name] = [model._meta.get_field(name).column for name in getattr(rule, "fields", ())]
    return found


def names_rule(error: str, name: str) -> bool:
    """Whether the database blames that rule. SQLite names the columns of a unique rule instead, PostgreSQL has a name
    of its own for a unique column."""
    columns = rules()[name]
    broken = all(column in error for column in columns)
    blamed = name in error or SAID_BEFORE.get(name, name) in error
    return blamed or ("UNIQUE" in error and broken) or ("." in name and name.replace(".", "_") in error)
