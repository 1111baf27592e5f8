"""Budgets and costs by the API."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from agents.models import Agent, Budget, ModelCall, Run, Spending
from agents.services.spending import this_month
from issues.actors import Person
from issues.models import Activity, Company, Role
from tests import build
from tests.api.client import Api, as_person

NONE = {"limit": None, "used": 0, "reserved": 0}


@pytest.fixture
def run(company: Company, ada: Agent) -> Run:
    """Ada's on ACME-1, of the project Launch."""
    issue = build.issue(company, "Write the guide", assignee=ada, project=build.project(company))
    run = build.at_work(ada, issue).run
    assert run is not None
    return run


def call(run: Run | None, company: Company, cost: int | None, *, model: str = "gpt-4.1", days_ago: int = 0) -> None:
    """A call of 1,000 tokens, as the engine writes one."""
    ModelCall.objects.create(
        company=company,
        run=run,
        provider="openai",
        model=model,
        input_tokens=600,
        output_tokens=400,
        cost_microdollars=cost,
        started_at=timezone.now() - datetime.timedelta(days=days_ago),
    )


class TestBudgets:
    def test_limits_are_set_whole_and_shown_with_what_is_used(self, api: Api, company: Company, ada: Agent) -> None:
        Spending.objects.create(company=company, agent=ada, month=this_month(), tokens=70, reserved_tokens=5, runs=2)
        Spending.objects.create(company=company, agent=ada, month=datetime.date(2020, 1, 1), tokens=900)
        set_ = api.post(f"agents/{ada.pk}/budget", {"tokens": 1_000, "microdollars": 2_500_000})
        assert set_["agent"] == "ada"
        assert set_["tokens"] == {"limit": 1_000, "used": 70, "reserved": 5}
        assert set_["runs"] == {"limit": None, "used": 2, "reserved": 0}
        assert api.get(f"agents/{ada.pk}/budget").body == set_.body == api.get("budgets").rows[0]
        assert api.post(f"agents/{ada.pk}/budget", {"runs": 9})["tokens"]["limit"] is None

    def test_the_companys_is_its_own(self, api: Api, company: Company, ada: Agent) -> None:
        assert api.get("companies/ACME/budget")["tokens"] == NONE
        assert api.post("companies/acme/budget", {"runs": 0})["runs"]["limit"] == 0
        assert api.get("companies/ACME/budget")["agent"] is None
        assert api.get(f"agents/{ada.pk}/budget")["runs"] == NONE
        assert Budget.objects.get().agent is None

    @pytest.mark.parametrize("limit", [-1, 2**63, "many", 1.5])
    def test_a_limit_is_a_whole_number_that_can_be(self, api: Api, limit: object) -> None:
        assert api.post("companies/ACME/budget", {"tokens": limit}).status == 422

    @pytest.mark.parametrize("role", [Role.BOARD, Role.VIEWER])
    def test_people_read_and_owners_set(self, company: Company, ada: Agent, role: Role) -> None:
        theirs = as_person(build.member(company, role=role))
        before = Activity.objects.count()
        for address in ("companies/ACME/budget", f"agents/{ada.pk}/budget"):
            assert theirs.get(address).status == 200
            assert theirs.post(address, {"runs": 1}).status == 403
        assert Activity.objects.count() == before

    def test_an_agent_reads_its_own_alone_and_sets_none(self, ada_api: Api, ada: Agent, company: Company) -> None:
        bob = build.agent(company, "Bob")
        assert [row["agent"] for row in ada_api.get("budgets").rows] == ["ada"]
        assert ada_api.get(f"agents/{ada.pk}/budget").status == 200
        for address in (f"agents/{bob.pk}/budget", "companies/ACME/budget", "costs"):
            assert ada_api.get(address).status == 403
        assert ada_api.post(f"agents/{ada.pk}/budget", {"runs": None}).status == 403


class TestCosts:
    @pytest.mark.parametrize(
        ("by", "expected"),
        [
            ("agent", [("ada", 3, 3_000), (None, 1, 500)]),
            ("model", [("gpt-4.1", 3, 2_500), ("gpt-5", 1, 1_000)]),
            ("project", [("Launch", 3, 3_000), (None, 1, 500)]),
            ("issue", [("ACME-1", 3, 3_000), (None, 1, 500)]),
        ],
    )
    def test_they_are_told_the_dearest_first(
        self, api: Api, run: Run, company: Company, by: str, expected: list[object]
    ) -> None:
        for cost, model in ((1_000, "gpt-4.1"), (1_000, "gpt-4.1"), (1_000, "gpt-5")):
            call(run, company, cost, model=model)
        call(None, company, 500)  # beside runs
        told = api.get("costs", by=by)
        assert [(row["of"], row["calls"], row["microdollars"]) for row in told["rows"]] == expected
        assert told["total"] == {"calls": 4, "tokens": 4_000, "microdollars": 3_500, "unpriced_calls": 0}

    def test_days_stand_in_their_order_and_months_apart(self, api: Api, run: Run, company: Company) -> None:
        call(run, company, 1_000)
        call(run, company, 9_000, days_ago=40)
        today = datetime.datetime.now(datetime.UTC).date()
        assert [(row["of"], row["microdollars"]) for row in api.get("costs")["rows"]] == [(f"{today}", 1_000)]
        month = f"{today - datetime.timedelta(days=40):%Y-%m}"
        assert api.get("costs", month=month)["total"]["microdollars"] == 9_000

    def test_what_has_no_known_price_is_unpriced_and_never_nothing(self, api: Api, run: Run, company: Company) -> None:
        assert api.get("costs")["total"] == {"calls": 0, "tokens": 0, "microdollars": None, "unpriced_calls": 0}
        call(run, company, None)
        assert api.get("costs")["total"] == {"calls": 1, "tokens": 1_000, "microdollars": None, "unpriced_calls": 1}

    @pytest.mark.parametrize("month", ["2026", "2026-13", "9999-01", "1999-01", "x", ""])
    def test_a_month_that_is_none_is_refused(self, api: Api, month: str) -> None:
        refused = api.get("costs", month=month)
        assert (refused.status, list(refused["errors"])) == (422, ["month"])

    def test_another_companys_are_not_in_them(self, api: Api, founder: Person, run: Run) -> None:
        other, _ = build.company_with_founder("BETA")
        call(None, other, 7_000)
        assert api.get("costs")["total"]["calls"] == 0
