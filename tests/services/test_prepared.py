"""Queries that are built once and then only executed."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.models import Company, Issue
from issues.prepared import Prepared
from tests import build

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
