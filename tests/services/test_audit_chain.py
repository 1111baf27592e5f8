"""The chain over the audit names the first line that was changed, removed or put in, whoever did it."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import F, Max
from django.utils import timezone

from engine.diagnosis import examine
from engine.sweep import seal_audit
from issues import audit_chain
from issues.actors import Person
from issues.audit import is_shut, keep_shut, maintenance
from issues.audit_chain import seal_late_lines, seal_new_lines
from issues.audit_verification import verify_audit
from issues.models import Activity, AuditSeal, Company, Issue
from issues.services.comments import delete_comment
from issues.services.companies import delete_company
from issues.services.issues import delete_issue
from tests import build
from tests.plans import count_rows, planned
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


def settle() -> None:
    """Let what is not sealed yet be older than what may still be under way."""
    last = AuditSeal.objects.aggregate(last=Max("last_line"))["last"] or 0
    with maintenance():
        Activity.objects.filter(pk__gt=last).update(created_at=F("created_at") - audit_chain.SETTLED)


def seal() -> int:
    settle()
    return seal_new_lines()


def let_a_day_go_by(issue: Issue) -> None:
    """The time in which late lines are waited for, at whose end something is sealed again."""
    with time_machine.travel(timezone.now() + audit_chain.LATE + timedelta(hours=1)):
        build.comment(issue)
        assert seal()


def broken(company: Company) -> str:
    return verify_audit(company).broken


def verify(*arguments: str) -> tuple[str, int]:
    """What the command prints, and its exit code."""
    out = io.StringIO()
    try:
        call_command("verify_audit", *arguments, stdout=out, stderr=out)
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    return out.getvalue(), 0


@pytest.fixture
def sealed(company: Company, issue: Issue) -> list[int]:
    """The ids of lines under two seals."""
    seal()
    for _ in range(3):
        build.comment(issue)
    seal()
    return list(Activity.objects.filter(company=company).order_by("pk").values_list("pk", flat=True))


def test_lines_are_sealed_once_they_have_settled_and_each_company_has_its_own_chain(issue: Issue) -> None:
    assert seal_new_lines() == 0
    other, _ = build.company_with_founder("OTHER")
    assert seal() == Activity.objects.count()
    build.comment(issue)
    verdict = verify_audit(issue.company)
    assert (verdict.broken, verdict.seals, verdict.unsealed) == ("", 1, 1)
    seal()
    assert [seal.number for seal in AuditSeal.objects.filter(company=issue.company)] == [1, 2]
    assert [seal.number for seal in AuditSeal.objects.filter(company=other)] == [1]
    assert seal() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "forged"},
        {"data": {"status": "forged"}},
        {"created_at": timezone.now()},
        {"actor_kind": "system", "member": None},
        {"issue": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_line_that_was_changed_is_named(company: Company, sealed: list[int], change: dict[str, Any]) -> None:
    assert broken(company) == ""
    with maintenance():
        Activity.objects.filter(pk=sealed[-2]).update(**change)
    assert f"Line {sealed[-2]} (" in broken(company)
    told, code = verify("--company", "acme")
    assert f"ACME: BROKEN after {len(sealed) - 2} lines. Line {sealed[-2]}" in told
    assert code == 1


def test_a_line_that_was_removed_is_named(company: Company, sealed: list[int]) -> None:
    with maintenance():
        Activity.objects.filter(pk=sealed[1]).delete()
    assert broken(company) == f"Line {sealed[1]} was removed."


def test_a_line_that_was_given_to_another_company_is_named(company: Company, sealed: list[int]) -> None:
    other, _ = build.company_with_founder("OTHER")
    with maintenance():
        Activity.objects.filter(pk=sealed[1]).update(company=other)
    assert f"Line {sealed[1]} (" in broken(company)


def test_one_that_is_put_in_later_is_named_and_one_that_was_committed_late_is_sealed(
    company: Company, issue: Issue
) -> None:
    build.comment(issue)
    late, put_in = Activity.objects.order_by("-pk")[1:3]
    with maintenance():
        Activity.objects.filter(pk__in=[late.pk, put_in.pk]).delete()
    seal()
    Activity.objects.bulk_create([late])
    assert verify_audit(company).unsealed == 1
    assert seal_late_lines() == 1
    assert seal_late_lines() == 0
    verdict = verify_audit(company)
    assert (verdict.broken, verdict.unsealed, verdict.seals, verdict.late) == ("", 0, 2, 1)
    assert "1 of them committed late" in verify()[0]
    let_a_day_go_by(issue)
    Activity.objects.bulk_create([put_in])
    assert seal_late_lines() == 0
    assert broken(company) == f"Line {put_in.pk} was put in among sealed ones."


def test_a_line_that_was_committed_late_is_sealed_though_nothing_ran_for_days(company: Company, issue: Issue) -> None:
    build.comment(issue)
    late = Activity.objects.order_by("-pk")[1]
    with maintenance():
        Activity.objects.filter(pk=late.pk).delete()
    seal()
    Activity.objects.bulk_create([late])
    with time_machine.travel(timezone.now() + 9 * audit_chain.LATE):
        assert verify_audit(company).unsealed == 1
        build.comment(issue)
        settle()
        seal_audit()
        verdict = verify_audit(company)
    assert (verdict.broken, verdict.unsealed, verdict.late) == ("", 0, 1)


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        (lambda seals: seals.filter(number=1).update(sealed_at=timezone.now()), "or its seal 1, was changed."),
        (lambda seals: seals.filter(number=1).delete(), "Seal 1 is not there any more."),
        (lambda seals: seals.filter(number=2).update(marks=b"short"), "Seal 2 is damaged."),
        (lambda seals: seals.filter(number=2).update(head="0" * 64), "Seal 2 was changed."),
        (lambda seals: seals.filter(number=2).update(last_line=F("last_line") + 9), "Seal 2 was changed."),
        (lambda seals: seals.filter(number=2).update(marks=bytes(40)), "Line 0 was removed."),
    ],
)
def test_a_seal_that_was_changed_is_named(
    company: Company, sealed: list[int], attack: Callable[[Any], object], said: str
) -> None:
    with maintenance():
        attack(AuditSeal.objects.filter(company=company))
    assert broken(company).endswith(said)


def test_a_chain_that_was_written_anew_does_not_hold_the_head_that_was_noted(
    company: Company, sealed: list[int]
) -> None:
    told, code = verify()
    head = told.split("Head: ")[1].strip()
    assert code == 0
    build.comment(Issue.objects.get())
    seal()
    assert verify("--noted", head)[1] == 0
    with maintenance():
        AuditSeal.objects.all().delete()
        Activity.objects.filter(pk=sealed[0]).update(kind="forged")
    seal()
    assert verify()[1] == 0  # it is whole, and another
    told, code = verify("--noted", head)
    assert f"No chain holds {head}" in told
    assert code == 1


def test_texts_and_issues_that_are_erased_break_nothing(company: Company, owner: Person, issue: Issue) -> None:
    comment = build.comment(issue, "Something private.")
    seal()
    delete_comment(actor=owner, comment=comment)
    delete_issue(actor=owner, issue=issue)
    seal()
    assert broken(company) == ""


def test_the_seals_of_a_deleted_company_go_with_it(company: Company, owner: Person, sealed: list[int]) -> None:
    delete_company(actor=owner, company=company)
    assert not AuditSeal.objects.exists()


def test_nobody_changes_or_removes_a_seal(company: Company, sealed: list[int]) -> None:
    seals = AuditSeal.objects.filter(number=1)
    columns = "company_id, number, lines, last_line, marks, head, sealed_at"
    attacks: list[Callable[[], object]] = [
        lambda: seals.update(head=""),
        lambda: seals.delete(),
    ]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            again = f"INSERT OR REPLACE INTO issues_auditseal ({columns}) SELECT {columns} FROM issues_auditseal"  # noqa: S608
            attacks.append(lambda: cursor.execute(again))
        for attack in attacks:
            with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
                attack()
    assert broken(company) == ""


@pytest.mark.django_db(transaction=True)
def test_two_who_seal_at_once_seal_each_line_once() -> None:
    for key in ("ONE", "TWO", "THREE"):
        build.issue(build.company_with_founder(key)[0])
    settle()
    counts = at_once([seal_new_lines] * 3 + [seal_late_lines])
    assert not [one for one in counts if isinstance(one, Exception)]
    assert sum(AuditSeal.objects.values_list("lines", flat=True)) == Activity.objects.count()
    assert [broken(company) for company in Company.objects.all()] == ["", "", ""]


def test_who_finds_that_somebody_sealed_meanwhile_seals_nothing(
    company: Company, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking for the lines and for the seals that they go on from."""
    settle()
    newest_seals = audit_chain._newest_seals

    def seal_first(companies: Any) -> Any:
        monkeypatch.setattr(audit_chain, "_newest_seals", newest_seals)
        assert seal_new_lines()
        return newest_seals(companies)

    monkeypatch.setattr(audit_chain, "_newest_seals", seal_first)
    assert seal_new_lines() == 0
    assert AuditSeal.objects.count() == 1


def test_sealing_takes_as_many_queries_for_five_companies_as_for_one(
    django_assert_num_queries: Any,
) -> None:
    for keys in (["AA"], ["BB", "CC", "DD", "EE", "FF"]):
        for key in keys:
            build.company_with_founder(key)
        settle()
        with django_assert_num_queries(6):  # three that read, and one that writes in a transaction of its own
            assert seal_new_lines()


def test_sealing_reads_no_table_whole(company: Company, issue: Issue) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("Plans are PostgreSQL's")
    for key in (f"CO{number}" for number in range(20)):
        build.company_with_founder(key)
    Activity.objects.bulk_create(
        Activity(company=one, kind="old", actor_kind="system") for one in Company.objects.all() for _ in range(100)
    )
    while seal():
        pass
    before = timezone.now() - 2 * audit_chain.LATE
    AuditSeal.objects.bulk_create(
        AuditSeal(company=one, number=number, lines=0, last_line=number, marks=b"", head="00" * 32, sealed_at=before)
        for one in Company.objects.all()
        for number in range(10, 200)
    )
    build.comment(issue)
    seal()
    build.comment(issue)
    settle()
    count_rows()
    with planned() as found:
        assert seal_new_lines()
        seal_late_lines()
    assert found.statements >= 5
    assert not found.read_whole, "\n\n".join(found.read_whole)


def test_the_tick_seals_in_batches_until_nothing_is_left(
    company: Company, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.comment(issue)
    monkeypatch.setattr(audit_chain, "BATCH", 2)
    settle()
    seal_audit()
    verdict = verify_audit(company)
    assert (verdict.broken, verdict.unsealed) == ("", 0)
    assert verdict.seals > 1


def test_guards_that_a_migration_lost_are_missed_and_put_back(company: Company) -> None:
    def found() -> bool:
        return next(check.is_well for check in examine() if check.what == "audit")

    assert found()
    connection.check_constraints()  # PostgreSQL changes no table that has foreign keys left to check
    with connection.cursor() as cursor:
        for table in ("issues_activity", "issues_auditseal"):
            name = f"{table}_no_delete" if connection.vendor == "sqlite" else f"{table}_no_change ON {table}"
            cursor.execute(f"DROP TRIGGER {name}")
    assert not found()
    assert "does not keep the audit from being changed: manage.py migrate" in verify()[0]
    keep_shut(connection.alias)
    assert is_shut(connection)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Activity.objects.all().delete()
