"""Queries that are built once and then only executed."""

from __future__ import annotations

import datetime
from functools import partial

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from agents.models import Spending
from issues.effects import unit
from issues.models import Company, Issue
from issues.prepared import Prepared, PreparedInstances
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def company() -> Company:
    return build.company_with_founder()[0]


def test_it_is_built_once_and_answers_for_other_ids_each_time(company: Company) -> None:
    built: list[tuple[int, int]] = []

    def of(first: int, second: int) -> object:
        built.append((first, second))
        return Issue.objects.filter(pk__in=[first, second]).order_by("pk").values_list("pk", "title")

    prepared = Prepared(of)  # type: ignore[arg-type]
    one, two, three = (build.issue(company, title) for title in ("One", "Two", "Three"))
    assert prepared.rows(one.pk, three.pk) == [(one.pk, "One"), (three.pk, "Three")]
    assert prepared.rows(two.pk, two.pk) == [(two.pk, "Two")]
    assert prepared.row(two.pk, 0) == (two.pk, "Two")
    assert not prepared.finds_any(0, 0)
    assert len(built) == 1


def test_values_that_are_no_ids_stay_as_they_were_written(company: Company) -> None:
    prepared = Prepared(lambda pk: Issue.objects.filter(pk=pk, number=1, title="One").values_list("pk"))
    one, two = build.issue(company, "One"), build.issue(company, "Two")
    assert prepared.finds_any(one.pk)
    assert not prepared.finds_any(two.pk)


def test_it_asks_what_the_query_itself_would_ask(company: Company) -> None:
    issue = build.issue(company, "One")
    rows = lambda pk: Issue.objects.filter(parent=pk).open().values_list("pk", "number")[:3]  # noqa: E731
    prepared = Prepared(rows)
    with CaptureQueriesContext(connection) as asked:
        list(rows(issue.pk))
        prepared.rows(issue.pk)
    assert asked[0]["sql"] == asked[1]["sql"]


def test_a_value_that_the_query_does_not_ask_for_is_told_and_not_left_out(company: Company) -> None:
    prepared = Prepared(lambda first, _second: Issue.objects.filter(pk=first).values_list("pk"))
    with pytest.raises(ValueError, match="value number 2"):
        prepared.rows(1, 2)


class TestInstances:
    def test_they_are_those_of_the_query_with_what_stands_beside_them(self, company: Company) -> None:
        label = build.label(company, "slow")
        one, two = build.issue(company, "One", assignee=build.agent(company, "Ada")), build.issue(company, "Two")
        one.labels.add(label)

        def query(*ids: int) -> QuerySet[Issue]:
            found = Issue.objects.select_related("company", "assignee_agent").prefetch_related("labels")
            first = Exists(Issue.objects.filter(pk=OuterRef("pk"), number=1))
            return found.defer("description").annotate(is_first=first).filter(pk__in=ids).order_by("-pk")

        prepared = PreparedInstances(query)
        for ids in ((one.pk, two.pk), (two.pk, one.pk), (one.pk, 0)):
            expected, found = list(query(*ids)), prepared.all(*ids)
            with CaptureQueriesContext(connection) as asked:
                assert [_seen(issue) for issue in found] == [_seen(issue) for issue in expected]
            assert not asked.captured_queries
            assert all("description" in issue.get_deferred_fields() for issue in found)

    def test_days_take_their_places_too(self, company: Company) -> None:
        months = [datetime.date(2026, month, 1) for month in (10, 11)]
        for number, month in enumerate(months):
            Spending.objects.create(company=company, month=month, tokens=number)
        prepared = PreparedInstances(lambda pk, month: Spending.objects.filter(company=pk, month=month))
        assert [prepared.all(company.pk, month)[0].tokens for month in months] == [0, 1]
        assert prepared.first(company.pk, datetime.date(2026, 12, 1)) is None

    @pytest.mark.django_db(transaction=True)
    def test_rows_are_held_within_a_transaction_only(self, company: Company) -> None:
        prepared = PreparedInstances(lambda pk: Issue.objects.select_for_update().filter(pk=pk))
        issue = build.issue(company)
        with unit():
            assert prepared.first(issue.pk) == issue
        with pytest.raises(TransactionManagementError):
            prepared.first(issue.pk)

    @pytest.mark.django_db(transaction=True)
    def test_threads_share_what_was_built_and_each_asks_on_its_own_connection(self, company: Company) -> None:
        issues = [build.issue(company, f"Number {number}") for number in range(8)]
        prepared = PreparedInstances(lambda pk: Issue.objects.select_related("company").filter(pk=pk))
        assert prepared.first(issues[0].pk) == issues[0]
        found = at_once([partial(prepared.first, issue.pk) for issue in issues])
        assert found == issues


def _seen(issue: Issue) -> tuple[object, ...]:
    agent = issue.assignee_agent
    labels = [label.name for label in issue.labels.all()]
    return issue.pk, issue.title, issue.company.name, agent and agent.handle, labels, bool(issue.is_first)  # type: ignore[attr-defined]
