"""When a provider fails for good the next of the chain answers; with none left the work waits and says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from agents.adapters.base import ErrorKind
from agents.model_choices import ModelChoice
from agents.models import Agent, Breaker, DryRun, ModelCall, Run, RunState, Spending, Wakeup, WakeupState
from agents.own_models import own_models
from agents.services.breakers import note_failure
from agents.services.dry_runs import ask_for_dry_run
from agents.services.providers import change_models
from agents.services.spending import set_budget
from engine.ceiling import claim_ceiling
from engine.claim import claim_next
from engine.dry_runs import answer_dry_run
from engine.explaining import explain
from engine.heartbeat import heartbeat
from engine.routing import NoProvider, background_routes, routes_of
from engine.troubles import called
from issues.actors import Person
from issues.models import Company, InboxItem, Issue
from tests import build
from tests.engine.houses import Houses, build_houses, failing, past, standing
from tests.engine.running import run_next
from tests.engine.test_claiming import mention, quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def houses() -> Iterator[Houses]:
    with standing() as houses:
        yield houses


@pytest.fixture
def company() -> Company:
    """Its agents ask `first`; if that fails, `second` answers."""
    company, owner = build.company_with_founder()
    build_houses(company, "first", "second")
    return change_models(actor=owner, company=company, chain=[ModelChoice("second", "spare-model")])


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", provider="first", model="own-model")


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    issue = quiet_issue(company)
    mention(ada, issue)
    return issue


class TestTheNextAnswers:
    @pytest.mark.parametrize("kind", [ErrorKind.NETWORK, ErrorKind.OVERLOADED, ErrorKind.AUTH, ErrorKind.BAD_REQUEST])
    def test_when_the_first_fails_for_good(self, kind: ErrorKind, houses: Houses, issue: Issue) -> None:
        houses.says = {"first": failing(kind), "second": "Here I am."}
        run = run_next()
        assert run.state == RunState.SUCCEEDED
        assert issue.comments.get().body == "Here I am."
        assert (run.provider, run.model) == ("first", "own-model")
        assert (run.answered_provider, run.answered_model) == ("second", "spare-model-1")
        calls = ModelCall.objects.filter(run=run).order_by("pk").values_list("provider", "model", "error_kind")
        assert list(calls) == [("first", "own-model", kind.value), ("second", "spare-model", "")]
        assert (run.input_tokens, run.output_tokens) == (100, 10)

    @pytest.mark.parametrize("kind", [ErrorKind.REFUSED, ErrorKind.CONTEXT_TOO_LONG])
    def test_but_not_where_another_one_would_be_no_remedy(self, kind: ErrorKind, houses: Houses, issue: Issue) -> None:
        houses.says = {"first": failing(kind)}
        run = run_next()
        assert (run.state, run.error_kind, set(houses.names)) == (RunState.FAILED, kind.value, {"first"})

    def test_with_a_prompt_of_its_own(self, houses: Houses, issue: Issue, settings: Settings, tmp_path: Path) -> None:
        settings.DATA_DIR = tmp_path
        (tmp_path / "models.yaml").write_text("spare-model: {context_window: 16000}", "utf-8")
        assert own_models().entries
        houses.says = {"first": failing(ErrorKind.AUTH)}
        run = run_next()
        (_, long), (_, lean) = houses.asked
        assert len(lean.messages[0].text) < len(long.messages[0].text)
        assert (run.system_message, run.user_message) == (lean.system, lean.messages[0].text)

    def test_and_what_it_could_cost_is_set_aside_before(self, houses: Houses, issue: Issue, company: Company) -> None:
        houses.says = {"first": failing(ErrorKind.AUTH)}
        run_next()
        row = Spending.objects.get(agent=None)
        assert (row.reserved_tokens, row.tokens, row.runs) == (0, 110, 1)

    def test_or_the_run_waits_for_the_budget(self, houses: Houses, ada: Agent, issue: Issue, company: Company) -> None:
        houses.says = {"first": failing(ErrorKind.AUTH)}
        run = claim_next()
        assert run is not None
        set_budget(actor=build.owner_of(company), company=company, tokens=100)
        heartbeat(run)
        run.refresh_from_db()
        assert (run.error_kind, houses.names) == ("budget", ["first"])
        assert Wakeup.objects.get().state == WakeupState.PENDING

    def test_a_model_that_is_not_set_up_here_is_passed_over(self, houses: Houses, company: Company) -> None:
        eve = build.agent(company, "Eve", provider="anthropic")  # there is no key
        mention(eve, quiet_issue(company))
        assert run_next().answered_provider == "second"

    def test_a_script_has_no_model_to_fall_back_to(self, company: Company) -> None:
        robin = build.agent(company, "Robin", provider="scripted", script="- reply: Yes.")
        assert [route.name for route in routes_of(robin)] == ["scripted"]


class TestADryReRun:
    @pytest.fixture
    def run(self, houses: Houses, issue: Issue) -> Run:
        return run_next()

    def asked(self, run: Run) -> DryRun:
        dry_run = ask_for_dry_run(actor=build.owner_of(run.company), run=run)
        answer_dry_run(dry_run.pk)
        dry_run.refresh_from_db()
        return dry_run

    def test_passes_over_what_is_left_alone(self, houses: Houses, run: Run) -> None:
        leave_alone("first", run)
        dry_run = self.asked(run)
        assert (dry_run.state, dry_run.model, houses.names) == ("done", "spare-model-1", ["first", "second"])

    def test_asks_nobody_where_all_are_and_says_so(self, houses: Houses, run: Run) -> None:
        for name in ("first", "second"):
            leave_alone(name, run)
        dry_run = self.asked(run)
        assert (dry_run.state, houses.names) == ("failed", ["first"])
        assert "second does not take the key" in dry_run.error

    def test_counts_among_the_failures_and_answers_of_whom_it_asked(self, houses: Houses, run: Run) -> None:
        houses.says = {"first": failing(ErrorKind.AUTH)}
        assert self.asked(run).error_kind == "auth"
        assert Breaker.objects.get().open_until is not None
        Breaker.objects.update(open_until=past())
        houses.says = {}
        assert self.asked(run).state == "done"
        assert not Breaker.objects.exists()


def leave_alone(name: str, run: Run) -> None:
    """Let a call of that provider fail, as another run's would."""
    (route,) = (route for route in routes_of(run.agent) if route.name == name)
    note_failure(run.company, called(route), failing(ErrorKind.AUTH))


class TestNoneIsLeft:
    def test_the_wakeup_stays_pending_and_says_so(
        self, houses: Houses, issue: Issue, company: Company, ada: Agent
    ) -> None:
        houses.says = {name: failing(ErrorKind.AUTH, f"{name} wants money.") for name in ("first", "second")}
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "auth")
        assert run.error == "first wants money. Then: second wants money."
        wakeup = Wakeup.objects.get()
        opened = Breaker.objects.order_by("open_until").values_list("open_until", flat=True)
        assert (wakeup.state, wakeup.tries, wakeup.due_at) == (WakeupState.PENDING, 0, opened[0])
        assert "first does not take the key" in wakeup.waiting_because
        assert "first does not take the key" in explain(issue).reason
        assert claim_next() is None
        assert Run.objects.count() == 1

    def test_the_board_is_told_once_for_each_provider(self, houses: Houses, issue: Issue, company: Company) -> None:
        houses.says = {name: failing(ErrorKind.AUTH) for name in ("first", "second")}
        run_next()
        told = InboxItem.objects.filter(member=build.member_row(build.owner_of(company)))
        assert {item.text.partition(" ")[0] for item in told} == {"first", "second"}
        Breaker.objects.update(open_until=past())
        Wakeup.objects.update(due_at=past())
        run_next()
        assert told.count() == 2

    def test_nothing_runs_until_the_first_of_them_is_tried_again(
        self, houses: Houses, issue: Issue, ada: Agent
    ) -> None:
        houses.says = {name: failing(ErrorKind.AUTH) for name in ("first", "second")}
        run_next()
        Wakeup.objects.update(due_at=past())
        assert claim_next() is None
        Breaker.objects.filter(provider="second").update(open_until=past())
        Wakeup.objects.update(due_at=past())
        houses.says = {}
        run = run_next()
        assert (run.state, run.answered_provider) == (RunState.SUCCEEDED, "second")
        assert not Breaker.objects.filter(provider="second").exists()

    def test_one_failure_of_the_network_is_a_try_as_before(self, houses: Houses, company: Company, ada: Agent) -> None:
        change_models(actor=build.owner_of(company), company=company, chain=[])
        mention(ada, quiet_issue(company))
        houses.says = {"first": failing(ErrorKind.NETWORK)}
        run_next()
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.tries) == (WakeupState.PENDING, 1)
        assert "Try 1 failed" in wakeup.waiting_because


class TestWhatIsAsked:
    def test_a_claim_sets_aside_for_the_dearest_of_the_chain(
        self, ada: Agent, company: Company, settings: Settings, tmp_path: Path
    ) -> None:
        settings.DATA_DIR = tmp_path
        prices = "own-model: {price: {input: 1, output: 1}}\nspare-model: {price: {input: 9, output: 9}}"
        (tmp_path / "models.yaml").write_text(prices, "utf-8")
        dear = claim_ceiling(ada)
        cheap = claim_ceiling(build.agent(company, "Bea", provider="second", model="own-model"))
        spare = claim_ceiling(build.agent(company, "Cleo", provider="second", model="spare-model"))
        assert dear == cheap == spare  # whoever is first, the dear one may have to answer
        assert dear.microdollars == dear.tokens * 9

    def test_a_tier_means_what_the_company_says(self, ada: Agent, company: Company, owner: Person) -> None:
        eve = build.agent(company, "Eve", model_tier="strong")
        plain = build.agent(company, "Flo")
        assert _first(eve) == _first(plain) == ("first", "house-model")  # nothing is said: the first that there is
        company = change_models(
            actor=owner,
            company=company,
            tiers={"standard": ModelChoice("second"), "strong": ModelChoice("first", "big"), "light": ModelChoice()},
        )
        eve.company = plain.company = ada.company = company
        assert _first(eve) == ("first", "big")
        assert _first(plain) == ("second", "house-model")
        assert _first(ada) == ("first", "own-model")

    def test_small_work_asks_the_light_tier(self, ada: Agent, company: Company, owner: Person) -> None:
        assert background_routes(ada)[0].model == "own-model"
        ada.company = change_models(actor=owner, company=company, tiers={"light": ModelChoice("second", "small")})
        assert (background_routes(ada)[0].name, background_routes(ada)[0].model) == ("second", "small")

    def test_nothing_at_all_says_what_to_set(self) -> None:
        company, _ = build.company_with_founder("BARE")
        with pytest.raises(NoProvider, match="Add a provider in the settings"):
            routes_of(build.agent(company, "Eve"))


def _first(agent: Agent) -> tuple[str, str]:
    route = routes_of(agent)[0]
    return route.name, route.model
