"""Companies and their members: founding, settings, owners, and the end."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model
from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Agent, Checkpoint, DryRun
from agents.services.breakers import Called, note_failure
from agents.services.notebook import remember, write_note
from agents.services.routines import fire_routine
from agents.services.runs import cancel_run
from agents.services.spending import Cost, reserve, set_budget
from issues.actors import Person
from issues.models import (
    Activity,
    AuditSeal,
    Company,
    CompanyStatus,
    Grant,
    ImportedIssue,
    InboxItem,
    Member,
    Notice,
    ReactionKind,
    Role,
    SavedView,
    Status,
    User,
    Verdict,
)
from issues.policies import Right
from issues.refusals import Conflict, Forbidden, Invalid, NotFound
from issues.services.accounts import create_user, issue_login_link, use_login_link
from issues.services.blockers import add_blockers
from issues.services.comments import edit_comment, pin_comment
from issues.services.companies import (
    add_member,
    change_company,
    change_role,
    delete_company,
    found_company,
    pause_company,
    remove_member,
    resume_company,
)
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.hooks import open_by_hook
from issues.services.issues import set_status
from issues.services.keys import create_agent_key, create_run_key
from issues.services.policy import change_policy
from issues.services.projects import add_labels
from issues.services.reactions import react
from issues.services.reviews import give_verdict, set_reviewers
from issues.services.saved_views import save_view
from issues.services.watching import watch_issue
from issues.services.webhooks import add_webhook, send_test
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


class TestFounding:
    def test_any_user_founds_one_and_owns_it(self) -> None:
        someone = build.user("someone")
        company = found_company(actor=Person(someone), name="  Good   Works ", key=" good1 ")
        assert (company.name, company.key, company.slug) == ("Good Works", "GOOD1", "good1")
        assert [(member.user, member.role) for member in company.members.all()] == [(someone, Role.OWNER)]
        assert Activity.objects.get(company=company).kind == "company.founded"

    @pytest.mark.parametrize("key", ["", "A", "1A", "ABCDEFGHIJK", "A-B", "Ä1", "A B", "A\n", "ＡＢ"])
    def test_a_key_is_two_to_ten_letters_and_digits(self, key: str) -> None:
        with pytest.raises(Invalid, match="company key"):
            found_company(actor=Person(build.user()), name="X", key=key + "!" if key == "A\n" else key)

    def test_a_key_is_taken_once(self, company: Company) -> None:
        with pytest.raises(Conflict, match="ACME"):
            found_company(actor=Person(build.user()), name="X", key="acme")

    def test_a_time_zone_exists(self) -> None:
        for name in ("Europe/Atlantis", "../../etc/passwd", ""):
            with pytest.raises(Invalid, match="time zone"):
                found_company(actor=Person(build.user()), name="X", key="XX", time_zone=name)


class TestSettings:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("hop_limit", -1),
            ("hop_limit", 10**9),
            ("prompt_budget", 1_999),
            ("retention_days", 0),
            ("max_concurrent_runs", 0),
            ("runs_per_hour", "many"),
            ("comments_wake_assignee", "perhaps"),
            ("time_zone", "Nowhere/Land"),
            ("name", ""),
            ("mission", "x" * 4_001),
            ("last_issue_number", 7),
            ("key", "OTHER"),
            ("status", "paused"),
            ("no_such", 1),
        ],
    )
    def test_a_value_that_cannot_be_is_refused_by_name(
        self, field: str, value: Any, company: Company, owner: Person
    ) -> None:
        before = Company.objects.filter(pk=company.pk).values().get()
        with pytest.raises(Invalid) as refused:
            change_company(actor=owner, company=company, **{field: value})
        assert refused.value.field == field
        assert Company.objects.filter(pk=company.pk).values().get() == before

    def test_the_line_of_activity_names_what_changed_and_no_more(self, company: Company, owner: Person) -> None:
        change_company(actor=owner, company=company, hop_limit=3, mission="", time_zone="Europe/Berlin")
        assert Activity.objects.latest("pk").data == {"fields": ["hop_limit", "time_zone"]}
        lines = Activity.objects.count()
        change_company(actor=owner, company=company, hop_limit=3)
        assert Activity.objects.count() == lines

    def test_pausing_twice_is_pausing_once(self, company: Company, owner: Person) -> None:
        for _ in range(2):
            company = pause_company(actor=owner, company=company)
        assert company.status == CompanyStatus.PAUSED
        assert Activity.objects.filter(kind="company.paused").count() == 1
        assert resume_company(actor=owner, company=company).status == CompanyStatus.ACTIVE


class TestMembers:
    def test_a_company_keeps_an_owner(self, company: Company, owner: Person) -> None:
        row = build.member_row(owner)
        with pytest.raises(Conflict, match="at least one owner"):
            remove_member(actor=owner, member=row)
        with pytest.raises(Conflict, match="at least one owner"):
            change_role(actor=owner, member=row, role=Role.BOARD)
        other = build.member(company, "second", role=Role.OWNER)
        assert remove_member(actor=other, member=row).removed_at is not None

    def test_a_removed_owner_does_not_count_as_one(self, company: Company, owner: Person) -> None:
        second = build.member(company, "second", role=Role.OWNER)
        remove_member(actor=owner, member=build.member_row(second))
        with pytest.raises(Conflict, match="at least one owner"):
            change_role(actor=owner, member=build.member_row(owner), role=Role.VIEWER)

    def test_somebody_is_added_once_and_removed_once(self, company: Company, owner: Person) -> None:
        boss = build.member_row(build.member(company, "boss"))
        with pytest.raises(Conflict, match="already"):
            add_member(actor=owner, company=company, user=boss.user, role=Role.BOARD)
        remove_member(actor=owner, member=boss)
        for change in (remove_member, partial(change_role, role=Role.OWNER)):
            with pytest.raises(Conflict, match="no longer a member"):
                change(actor=owner, member=boss)

    def test_the_role_they_have_changes_nothing(self, company: Company, owner: Person) -> None:
        boss = build.member_row(build.member(company, "boss", role=Role.BOARD))
        lines = Activity.objects.count()
        change_role(actor=owner, member=boss, role=Role.BOARD)
        assert Activity.objects.count() == lines

    def test_a_removed_member_is_out_at_once(self, company: Company, owner: Person) -> None:
        boss = build.member(company, "boss")
        remove_member(actor=owner, member=build.member_row(boss))
        with pytest.raises(NotFound):
            pause_company(actor=Person(boss.user), company=company)

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("_", range(3))
    def test_of_two_owners_who_leave_at_once_one_stays(self, _: int, company: Company, owner: Person) -> None:
        second = build.member(company, "second", role=Role.OWNER)
        leave = [partial(remove_member, actor=one, member=one.member) for one in (owner, second)]
        outcomes = at_once(leave)
        assert sorted(isinstance(outcome, Member) for outcome in outcomes) == [False, True]
        assert Member.objects.present().filter(role=Role.OWNER).count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_one_who_is_added_twice_at_once_is_added_once(self, company: Company, owner: Person) -> None:
        user = build.user("boss")
        add = partial(add_member, actor=owner, company=company, user=user, role=Role.BOARD)
        outcomes = at_once([add, add])
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Member"]


class TestDeleting:
    def test_only_an_owner_may(self, company: Company) -> None:
        with pytest.raises(Forbidden):
            delete_company(actor=build.member(company, role=Role.BOARD), company=company)

    def test_not_while_its_agents_are_at_work(self, company: Company, owner: Person, ada: Agent) -> None:
        worker = build.at_work(ada, build.issue(company, assignee=ada))
        with pytest.raises(Conflict, match="at work"):
            delete_company(actor=owner, company=company)
        assert worker.run is not None
        cancel_run(actor=owner, run=worker.run)
        delete_company(actor=owner, company=company)

    def test_everything_it_owns_goes_and_nothing_else_does(self) -> None:
        other, _ = build.company_with_founder("OTHER")
        fill(other)
        before = rows()
        company, owner = build.company_with_founder()
        fill(company)
        people = User.objects.count()
        delete_company(actor=owner, company=company)
        assert rows() == before
        assert User.objects.count() == people

    def test_that_was_tried_with_every_table(self, company: Company) -> None:
        """But for what belongs to a run and goes with it: what only the engine writes, and what a run under way has."""
        fill(company)
        empty = {name for name, count in rows().items() if count == 0}
        assert empty == {"agents.ModelCall", "agents.RunAction", "agents.RunOutput", "agents.Reservation"}


def fill(company: Company) -> None:
    """A row in every table that a company can own."""
    owner = build.owner_of(company)
    boss = build.member(company, f"boss-{company.slug}")
    ada, bob = build.agent(company, "Ada", max_concurrent_runs=5), build.agent(company, "Bob", instructions="Be brief.")
    issue = build.issue(company, assignee=ada, project=build.project(company), actor=boss, description="@bob, look.")
    add_labels(actor=boss, issue=issue, labels=[build.label(company)])
    add_blockers(actor=boss, issue=build.issue(company, parent=issue, assignee=boss.member), blockers=[issue])
    worker = build.at_work(ada, issue)
    assert worker.run is not None
    pin_comment(actor=boss, comment=build.comment(issue, "@bob", actor=worker))
    said = edit_comment(actor=boss, comment=build.comment(issue, actor=boss), body="Or so.")
    react(actor=boss, comment=said, kind=ReactionKind.AGREE)
    attach_file(actor=boss, issue=issue, name="a.txt", content=b"a")
    write_file(actor=worker, issue=issue, path="b.txt", text="b")
    record_finding(actor=worker, issue=issue, body="It works.")
    Checkpoint.objects.create(issue=issue, number=1, agent=ada, until=issue.comments.earliest("pk"), comments=1)
    build.approval(issue, actor=worker)
    build.skill(company, agents=[ada])
    set_budget(actor=owner, company=company, agent=ada, runs=1)
    change_policy(actor=boss, company=company, permission=Right.LABEL, grant=Grant.DENY)
    save_view(actor=owner, company=company, name="Mine", page=SavedView.Page.BOARD, query="only=for-me")
    write_note(actor=worker, issue=issue, key="idea", text="Ask Bob.")
    remember(actor=worker, issue=issue, text="Bob knows.")
    reserve(worker.run, Cost(1, 1), starts_run=False)
    DryRun.objects.create(company=company, run=worker.run, member=owner.member)
    fire_routine(routine=build.routine(company, ada), now=timezone.now() + timedelta(days=2))
    build.provider(company)
    down = Called(f"a key of {company.key}", "home", "home.test", own_of=company.pk)
    note_failure(company, down, AdapterError(ErrorKind.AUTH, "It was refused."))
    create_agent_key(actor=owner, agent=bob)
    create_run_key(run=worker.run, expires_at=worker.run.deadline_at)
    watch_issue(actor=boss, issue=issue)
    set_reviewers(actor=boss, issue=issue, reviewers=[bob, owner.member])
    set_status(actor=worker, issue=issue, status=Status.IN_REVIEW)
    give_verdict(actor=owner, issue=issue, verdict=Verdict.ACCEPT)
    cancel_run(actor=boss, run=worker.run)
    ImportedIssue.objects.create(company=company, source="elsewhere")
    now = timezone.now()
    AuditSeal.objects.create(company=company, number=1, lines=0, last_line=0, marks=b"", sealed_at=now)
    Notice.objects.create(item=InboxItem.objects.filter(company=company).earliest("pk"), due_at=now)
    webhook, _ = add_webhook(actor=owner, company=company, url="https://hooks.example.org/", kinds=["issue"])
    send_test(actor=owner, webhook=webhook)
    _, token = build.hook(company, assignee=build.agent(company), labels=[build.label(company, "from outside")])
    open_by_hook(token=token, data={})


def rows() -> dict[str, int]:
    """How many rows there are of everything that belongs to companies: of each model that leads to one."""
    ours = [model for app in ("issues", "agents") for model in apps.get_app_config(app).get_models()]
    owned: set[type[Model]] = {Company}
    while more := {model for model in ours if owned & parents_of(model)} - owned:
        owned |= more
    return {model._meta.label: model._default_manager.count() for model in owned}


def parents_of(model: type[Model]) -> set[type[Model]]:
    return {field.related_model for field in model._meta.concrete_fields if isinstance(field.related_model, type)}


class TestLogIn:
    def test_a_link_is_good_once(self) -> None:
        user = build.user("someone")
        token = issue_login_link(user)
        assert use_login_link(token) == user
        for spent in (token, "", "x" * 43):
            with pytest.raises(Invalid, match="unknown, too old or already used"):
                use_login_link(spent)

    @pytest.mark.django_db(transaction=True)
    def test_of_two_who_use_a_link_at_once_one_is_let_in(self) -> None:
        for name in ("one", "two", "three", "four", "five"):
            token = issue_login_link(build.user(name))
            outcomes = at_once([partial(use_login_link, token)] * 4)
            assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Invalid"] * 3 + ["User"]

    def test_an_account_is_made_once_whatever_the_case(self) -> None:
        create_user(username="Someone")
        with pytest.raises(Conflict, match="already"):
            create_user(username="someone")

    def test_an_account_without_a_password_is_entered_by_link_only(self) -> None:
        assert not create_user(username="someone").has_usable_password()
        assert create_user(username="other", password="a long one").check_password("a long one")


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["ADMIN", "api", "LOGIN", "static"])
def test_a_key_that_is_an_address_of_trimus_itself_is_refused(key: str) -> None:
    with pytest.raises(Invalid, match="address of Trimus"):
        found_company(actor=Person(build.user()), name="Ours", key=key)
