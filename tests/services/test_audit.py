"""The audit can only grow: no ORM, no SQL and no trick of a database changes what it says."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from issues.audit import maintenance
from issues.models import Activity, Company
from tests import build

pytestmark = pytest.mark.django_db

ATTACKS = {
    "an update": "UPDATE issues_activity SET kind = 'forged'",
    "a deletion": "DELETE FROM issues_activity",
    "an update that changes nothing": "UPDATE issues_activity SET kind = kind",
}
ATTACKS_BY_VENDOR = {
    "sqlite": {
        "a replacing insert": """
            INSERT OR REPLACE INTO issues_activity (id, company_id, actor_kind, kind, data, created_at)
            SELECT id, company_id, 'system', 'forged', '{}', created_at FROM issues_activity
        """,
        "a replacing update": "UPDATE OR REPLACE issues_activity SET id = id + 1",
        "an upsert": """
            INSERT INTO issues_activity (id, company_id, actor_kind, kind, data, created_at)
            SELECT id, company_id, 'system', 'forged', '{}', created_at FROM issues_activity WHERE true
            ON CONFLICT (id) DO UPDATE SET kind = 'forged'
        """,
    },
    "postgresql": {
        "truncating": "TRUNCATE issues_activity CASCADE",
        "an upsert": """
            INSERT INTO issues_activity (id, company_id, actor_kind, kind, data, created_at)
            SELECT id, company_id, 'system', 'forged', '{}', created_at FROM issues_activity
            ON CONFLICT (id) DO UPDATE SET kind = 'forged'
        """,
    },
}


@pytest.fixture
def lines() -> list[tuple[int, str]]:
    company, _ = build.company_with_founder()
    build.issue(company)
    return said()


def said() -> list[tuple[int, str]]:
    return list(Activity.objects.order_by("pk").values_list("pk", "kind"))


@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_cannot_change_a_line(attack: str, lines: list[tuple[int, str]]) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ATTACKS[attack])
    assert said() == lines


def test_no_statement_of_this_database_gets_around_that(lines: list[tuple[int, str]]) -> None:
    connection.check_constraints()  # PostgreSQL truncates nothing that has foreign keys left to check
    for attack, statement in ATTACKS_BY_VENDOR[connection.vendor].items():
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
        assert said() == lines, attack


def test_the_orm_cannot_change_or_delete_a_line(lines: list[tuple[int, str]]) -> None:
    line = Activity.objects.latest("pk")
    with pytest.raises(TypeError, match="append-only"):
        line.save()
    with pytest.raises(TypeError, match="append-only"):
        line.delete()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Activity.objects.update(kind="forged")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Activity.objects.all().delete()
    assert said() == lines


def test_maintenance_lets_lines_go_and_shuts_behind_itself(lines: list[tuple[int, str]]) -> None:
    with maintenance():
        Activity.objects.filter(pk=lines[0][0]).delete()
    assert said() == lines[1:]
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Activity.objects.all().delete()


def test_maintenance_that_fails_takes_everything_back_and_shuts(lines: list[tuple[int, str]]) -> None:
    def fail_half_way() -> None:
        with maintenance():
            Activity.objects.all().delete()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert said() == lines
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Activity.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_flush_empties_the_database() -> None:
    build.company_with_founder()
    call_command("flush", interactive=False, verbosity=0)
    assert not Activity.objects.exists()
    assert not Company.objects.exists()
