"""How PostgreSQL carries out what is asked while agents and people work: no table that grows is read whole."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.sweep import sweep
from issues.audit import maintenance
from issues.models import Company, Status
from issues.services.companies import change_company
from issues.services.issues import assign_issue, set_status
from issues.services.keys import create_user_key
from tests import build
from tests.crowd import Crowd, Size, crowd
from tests.plans import count_rows, planned

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.usefixtures("one_connection"),
]

COMPANIES = 6
SIZE = Size(issues=600, comments=2_400, agents=200)


def _only_on_postgresql() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("Plans are PostgreSQL's")


@pytest.fixture
def home() -> Iterator[Crowd]:
    """One of several companies that are alike, so that what concerns one company is a small part of each table."""
    _only_on_postgresql()
    crowds = [crowd(f"CO{number}", SIZE) for number in range(COMPANIES)]
    count_rows()
    yield crowds[COMPANIES // 2]
    with maintenance(), connection.cursor() as cursor:  # deleting so many rows one by one takes a minute
        cursor.execute("TRUNCATE issues_company, issues_user CASCADE")


def _heartbeat(home: Crowd) -> None:
    """On an issue that has had one, hangs under another, and whose assignee is woken by a comment, too."""
    child = home.company.issues.filter(parent__isnull=False, status=Status.DONE).latest("pk")
    for issue in (home.issue, child):
        change_company(actor=build.owner_of(home.company), company=home.company, comments_wake_assignee=True)
        set_status(actor=build.owner_of(home.company), issue=issue, status=Status.TODO)
        assign_issue(actor=build.owner_of(home.company), issue=issue, assignee=home.agent)
        build.comment(issue, "And now?")
        run = claim_next()
        assert run is not None
        heartbeat(run)


def _sweep(home: Crowd) -> None:
    build.issue(home.company, assignee=home.agent)
    sweep()


def _pages(home: Crowd) -> None:
    client = Client()
    client.force_login(build.owner_of(home.company).user)
    parts = {"company": home.company.slug}
    for name in ("home", "side", "board", "mine", "inbox", "approvals", "runs", "agents", "changes"):
        _get(client, reverse(name, kwargs=parts))
    issues = reverse("issues", kwargs=parts)
    for query in ("", "?status=todo", "?assignee=ada", "?sort=updated", "?q=work"):
        _get(client, issues + query)
    _get(client, reverse("issue", kwargs=parts | {"identifier": home.issue.identifier}))
    _get(client, reverse("agent", kwargs=parts | {"handle": home.agent.handle}))
    _get(client, reverse("run", kwargs=parts | {"run": home.issue.runs.earliest("pk").pk}))
    _get(client, reverse("search", kwargs=parts) + "?q=slow+page")


def _api(home: Crowd) -> None:
    owner = build.owner_of(home.company)
    _, key = create_user_key(actor=owner, user=owner.user, name="plans")
    client = Client(headers={"Authorization": f"Bearer {key}"})
    for name in (
        "issues",
        "issues?order=updated",
        "issues?status=open",
        "search?q=slow",
        "activity",
        "approvals",
        "runs",
    ):
        _get(client, f"/api/{name}{'&' if '?' in name else '?'}company={home.company.key}")
    for name in ("", "/comments", "/activity", "/children"):
        _get(client, f"/api/issues/{home.issue.identifier}{name}")


def _get(client: Client, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == HTTPStatus.OK, (address, answer.content[:300])


def test_claim_and_heartbeat_and_sweep_and_pages_read_no_table_whole(home: Crowd) -> None:
    """One test: filling takes longer than all of it."""
    for look in (_pages, _heartbeat, _sweep, _api):
        with planned() as found:
            look(home)
        assert found.statements > 10
        assert not found.read_whole, "\n\n".join(found.read_whole)


def test_what_reads_a_table_whole_is_noticed() -> None:
    _only_on_postgresql()
    build.company_with_founder()
    count_rows()
    with planned(small=0) as found:
        list(Company.objects.filter(name__contains="nobody"))
    assert [line.partition(" ")[0] for line in found.read_whole] == ["issues_company"]
