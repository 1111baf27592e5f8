"""The unit of work: one transaction, begun anew when the database ended it to resolve a deadlock."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from issues import effects
from issues.actors import Person
from issues.effects import mark_entered, savepoint, service, unit
from issues.models import Company, Issue, Status
from issues.services.board import move_issue
from issues.services.locks import lock_issue, save_issue
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


def rename_both(first: Issue, second: Issue, title: str, meeting: threading.Barrier, begun: list[str]) -> None:
    """Take one issue, wait until somebody else has taken the other, and take that, too."""

    @service
    def rename() -> None:
        begun.append(title)
        for issue in (first, second):
            held = lock_issue(issue)
            held.title = title
            save_issue(held, "title")
            with suppress(threading.BrokenBarrierError):  # on SQLite nobody else comes
                meeting.wait(1)

    rename()


@pytest.mark.django_db(transaction=True)
class TestDeadlocks:
    def test_of_two_that_wait_for_each_other_both_come_through(self, company: Company, owner: Person) -> None:
        one, other = build.issue(company), build.issue(company)
        meeting, begun = threading.Barrier(2), list[str]()
        outcomes = at_once(
            [
                partial(rename_both, one, other, "First", meeting, begun),
                partial(rename_both, other, one, "Second", meeting, begun),
            ]
        )
        assert outcomes == [None, None]
        assert len(begun) == (3 if connection.vendor == "postgresql" else 2)
        [title] = set(Issue.objects.values_list("title", flat=True))
        assert title in ("First", "Second")
        assert set(Issue.objects.values_list("version", flat=True)) == {3}

    def test_what_only_refers_to_an_issue_does_not_wait_for_whoever_changes_it(
        self, company: Company, issue: Issue
    ) -> None:
        if connection.vendor == "sqlite":
            pytest.skip("SQLite has one writer at a time")
        held, written = threading.Event(), threading.Event()

        def hold() -> bool:
            with unit():
                lock_issue(issue)
                held.set()
                return written.wait(5)

        def write() -> None:
            held.wait(5)
            build.comment(issue, "Meanwhile.")
            build.issue(company, parent=issue)
            written.set()

        assert at_once([hold, write]) == [True, None]

    def test_a_bug_is_not_tried_again(self) -> None:
        begun: list[int] = []

        @service
        def fail() -> None:
            begun.append(1)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert len(begun) == 1


def test_effects_belong_to_a_unit(issue: Issue, owner: Person) -> None:
    for effect in (partial(mark_entered, issue, owner), lambda: savepoint().__enter__()):
        with pytest.raises(RuntimeError, match="outside of a unit"):
            effect()
    with unit():
        mark_entered(issue, owner)


def test_a_unit_that_failed_leaves_nothing_open(issue: Issue) -> None:
    def fail() -> None:
        with unit():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert effects._unit.get() is None


class TestHeldIssues:
    def test_whoever_holds_an_issue_reads_it_once_a_unit(
        self, issue: Issue, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        with unit():
            held = lock_issue(issue)
            with django_assert_num_queries(0):
                assert lock_issue(issue) is held

    def test_the_next_unit_reads_it_anew(self, issue: Issue) -> None:
        with unit():
            lock_issue(issue)
        Issue.objects.update(title="Changed by somebody else")
        with unit():
            assert lock_issue(issue).title == "Changed by somebody else"

    def test_what_was_undone_on_it_is_gone(self, issue: Issue) -> None:
        with unit():
            with suppress(ZeroDivisionError), savepoint():
                held = lock_issue(issue)
                held.title = "Undone"
                save_issue(held, "title")
                raise ZeroDivisionError
            assert lock_issue(issue).title == "Write the report"

    def test_a_column_that_was_spread_is_read_anew(self, company: Company, owner: Person) -> None:
        top, middle, moved = (build.issue(company) for _ in range(3))
        Issue.objects.filter(pk__in=[top.pk, middle.pk]).update(rank=7)
        with unit():
            before = lock_issue(middle).rank
            move_issue(actor=owner, issue=moved, status=Status.TODO, before=middle)
            assert lock_issue(middle).rank == Issue.objects.get(pk=middle.pk).rank != before
