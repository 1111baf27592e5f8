"""The page of a run, from runs that really were."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.utils import timezone

from agents.adapters import registry
from agents.adapters.base import AdapterError, ErrorKind, Usage
from agents.catalogue import ModelEntry, Price
from agents.failures import UNKNOWN, explain_failure, explained_kinds
from agents.models import Agent, DryRun, ModelCall, Run, Wakeup
from agents.services.spending import set_budget
from engine.calls import price_used
from engine.dry_runs import answer_dry_run
from issues.actors import Person
from issues.models import Company, Issue
from tests import build
from tests.api.client import as_person
from tests.engine.running import FakeModel, run_next, said, scripted
from tests.engine.test_stalling import PASSES, TALKS, WORKS, nudge, quiet_issue
from tests.web.test_pages import text_of
from tests.web.test_queries import counted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    fake = FakeModel()
    monkeypatch.setattr(registry, "PROVIDERS", (fake.spec,))
    return fake


@pytest.fixture
def issue(company: Company) -> Issue:
    return build.issue(company, "Write the guide", assignee=scripted(company, "Cleo", "Noted."))


def read(page: Client, run: Run) -> str:
    return text_of(page.get(f"/acme/runs/{run.pk}/").content)


def test_an_error_is_told_in_words_with_its_class_the_request_and_the_next_step(
    page: Client, issue: Issue, model: FakeModel
) -> None:
    model.answers = [AdapterError(ErrorKind.AUTH, "It answered 401: no such key.", provider_request_id="req_7")]
    words = read(page, run_next())
    assert "The provider did not accept the key" in words
    assert "It answered 401: no such key. Look at the key" in words
    assert "Error auth , the provider's request req_7" in words


def test_a_failed_run_still_tells_why_it_ran_and_what_became_of_that(
    page: Client, issue: Issue, model: FakeModel
) -> None:
    model.answers = [AdapterError(ErrorKind.OVERLOADED, "Not now.", retry_after=60), "Here I am."]
    failed = run_next()
    words = read(page, failed)
    assert "Assigned by Acme-founder" in words
    assert "It was given back: it is tried again at" in words
    Wakeup.objects.update(due_at=timezone.now())
    second = run_next()
    words = read(page, failed)
    assert f"It was given back: run {second.pk} has delivered it since." in words
    assert "It was given back" not in read(page, second)


def test_every_way_a_run_fails_has_words_and_a_next_step() -> None:
    assert set(ErrorKind) | {"budget", "silent", "prompt_too_large", "lost", "error"} == explained_kinds()
    assert explain_failure("something new") is UNKNOWN


def test_times_go_from_the_first_wakeup_to_the_end(page: Client, issue: Issue) -> None:
    run = run_next()
    body = page.get(f"/acme/runs/{run.pk}/").content.decode()
    places = [body.index(f"<dt>{name}</dt>") for name in ("Queued", "Started", "Prompt built", "First answer", "Ended")]
    assert places == sorted(places)
    assert "-0.0 s" not in body


def test_the_parameters_are_those_of_the_call(page: Client, company: Company, issue: Issue, model: FakeModel) -> None:
    Agent.objects.update(thinking="low", max_output_tokens=1_234)
    run = run_next()
    words = read(page, run)
    assert model.requests[0].max_output_tokens == 1_234
    assert "Answer at most 1,234 tokens" in words
    assert f"Thinking {model.requests[0].thinking.value}" in words


def test_a_call_is_told_with_its_tries_and_the_price_that_it_was_reckoned_by(
    page: Client, issue: Issue, model: FakeModel
) -> None:
    usage = Usage(2_000, 500, output_tokens=7, reasoning_tokens=4)
    busy = AdapterError(ErrorKind.OVERLOADED, "Not now.", retry_after=0.01)
    model.answers = [busy, replace(said("Noted."), usage=usage)]
    run = run_next()
    ModelCall.objects.update(price={"input": "2.50", "cached_input": "0.25", "cache_write": "3", "output": "10"})
    body = page.get(f"/acme/runs/{run.pk}/").content
    row = text_of(body.split(b'aria-label="Model calls"')[1].split(b"<tbody>")[1].split(b"</tbody>")[0])
    assert row.startswith("1 fake-1 2,000 500 7 4")
    assert row.endswith("s 2 ended by itself $0.00 –")
    assert "Reckoned by $2.50 a million tokens of input, $0.25 cached, $10 of output." in text_of(body)


def test_the_price_kept_is_the_step_that_the_length_of_the_call_reached() -> None:
    steps = [Price(Decimal(above + 1), Decimal(above + 4), Decimal(0), Decimal(2), above) for above in (0, 1_000)]
    entry = ModelEntry("m", prices=tuple(steps))
    assert price_used(entry, Usage(1_000)) == {"input": "1", "cached_input": "0", "cache_write": "2", "output": "4"}
    assert price_used(entry, Usage(1_001))["output"] == "1004"
    assert price_used(ModelEntry("m"), Usage(5)) == {}


def test_what_is_left_of_each_budget_stands_there(
    page: Client, company: Company, founder: Person, issue: Issue, model: FakeModel
) -> None:
    set_budget(actor=founder, company=company, tokens=200_000)
    set_budget(actor=founder, company=company, agent=issue.assignee_agent, runs=4)
    words = read(page, run_next())  # 100 tokens in, 10 out
    assert "The company’s budget 199,890 of 200,000 tokens left" in words
    assert "The agent’s budget 3 of 4 runs left" in words


def test_the_stall_guard_is_seen_to_come_near(browse: object) -> None:
    agent, issue = quiet_issue(TALKS)
    runs = nudge(agent, issue, 3)
    page = Client()
    page.force_login(build.owner_of(agent.company).user)
    for number, run in enumerate(runs, start=1):
        assert f"Runs in a row that changed nothing {number} of 3" in read(page, run)
        assert f"Runs of the agent here within an hour {number} of 12" in read(page, run)


@pytest.mark.parametrize(("script", "idle"), [(PASSES, 0), (WORKS, 0)])
def test_runs_that_pass_or_change_something_do_not_count_as_idle(script: str, idle: int) -> None:
    agent, issue = quiet_issue(script)
    *_, last = nudge(agent, issue, 2)
    page = Client()
    page.force_login(build.owner_of(agent.company).user)
    assert f"Runs in a row that changed nothing {idle} of 3" in read(page, last)


def test_going_on_by_itself_is_counted_since_a_person(page: Client, company: Company, founder: Person) -> None:
    agent = scripted(company, "Cleo", "On it.\n/label bug")
    build.label(company)
    issue = build.issue(company, assignee=agent)
    first, second = run_next(), run_next()
    assert "Times it went on by itself 0 of 5" in read(page, first)
    assert "Times it went on by itself 1 of 5" in read(page, second)
    build.comment(issue, "Go on.", actor=founder)
    assert "Times it went on by itself 0 of 5" in read(page, run_next())


def test_a_cap_is_told_of_the_verbs_that_were_used(page: Client, company: Company) -> None:
    build.issue(company, assignee=scripted(company, "Cleo", "/create-issue One\n/create-issue Two"))
    words = read(page, run_next())
    assert "/create-issue in one run 2 of 10" in words
    assert "/assign in one run" not in words


def test_the_outcome_is_one_line_of_words(page: Client, company: Company) -> None:
    build.issue(company, assignee=scripted(company, "Cleo", "Noted.\n\n/status in_review\n/statsu done"))
    run = run_next()
    assert "Wrote a comment. 1 action: 1 applied. 1 line was dropped." in read(page, run)
    assert "/statsu done , there is no such verb" in read(page, run)
    build.issue(company, assignee=scripted(company, "Pia", "/pass Nothing to do."))
    assert "Passed: Nothing to do." in read(page, run_next())


def test_an_action_shows_names_and_links_and_no_ids(page: Client, company: Company) -> None:
    other = build.issue(company, "Elsewhere")
    reply = "/priority high\n/blocked-by ACME-1\n/comment-on ACME-1\n```\nLook.\n```\n/request-approval May I?"
    issue = build.issue(company, assignee=scripted(company, "Cleo", reply))
    run = run_next()
    body = page.get(f"/acme/runs/{run.pk}/").content.decode()
    actions = body.split('id="actions-title"')[1].split("</section>")[0]
    comment = other.comments.get()
    assert f'href="/acme/issues/ACME-1/#comment-{comment.pk}"' in actions
    assert f'href="/acme/approvals/{issue.approvals.get().pk}/"' in actions
    said_there = text_of(actions.encode())
    assert "blockers was none now ACME-1" in said_there
    assert "priority was None now High" in said_there
    assert "comment was" not in said_there
    assert "approval was" not in said_there


def test_the_comment_that_it_wrote_is_a_click_away(page: Client, issue: Issue) -> None:
    run = run_next()
    comment = issue.comments.get()
    assert f'href="/acme/issues/ACME-1/#comment-{comment.pk}"' in page.get(f"/acme/runs/{run.pk}/").content.decode()


def test_the_whole_run_is_to_be_had_as_json(page: Client, founder: Person, issue: Issue) -> None:
    run = run_next()
    address = f"/api/runs/{run.pk}/whole"
    assert f'href="{address}" data-copy' in page.get(f"/acme/runs/{run.pk}/").content.decode()
    kept = page.get(address).json()  # as the page's own script asks, by the browser's session
    assert kept == as_person(founder).get(address).body
    assert kept["prompt"]["user"] == run.user_message
    assert kept["prompt"]["facts"]["parameters"]["tier"] == "full"
    assert kept["calls"][0]["price"]["input"] == "0"
    assert (kept["next_step"], kept["reply"].strip()) == ("", "Noted.")


def test_a_dry_re_run_is_asked_for_and_read_on_the_page(page: Client, company: Company, issue: Issue) -> None:
    run = run_next()
    assert "Dry re-run" in read(page, run)
    answer = page.post(f"/acme/runs/{run.pk}/dry-run/")
    assert answer.headers["Location"] == f"/acme/runs/{run.pk}/#dry-runs"
    assert "Waits for a worker" in read(page, run)
    Agent.objects.update(script="- reply: |\n    Done.\n\n    /status done\n    /status nonsense\n")
    answer_dry_run(DryRun.objects.get().pk)
    words = read(page, run)
    for part in (
        "Dry re-runs Nothing of this was applied", "The comment would have been Done.", "Would apply /status done",
        "Would fail /status nonsense",
    ):  # fmt: skip
        assert part in words, part
    assert "2 actions" not in words  # the run's own outcome is what it was


def test_what_another_run_would_cost_is_said_before(page: Client, issue: Issue, model: FakeModel) -> None:
    run = run_next()
    assert "costs nothing: no model is asked" in read(page, run)
    Agent.objects.update(provider="openai", model="gpt-4.1")
    with override_settings(LLM=replace(settings.LLM, openai_api_key="sk-test")):
        words = read(page, run)
    assert "A dry re-run costs at most $0." in words
    Agent.objects.update(model="nobody-knows")
    with override_settings(LLM=replace(settings.LLM, openai_api_key="sk-test")):
        assert "the price of the model is not known" in read(page, run)


def test_a_dry_re_run_by_the_api(founder: Person, issue: Issue) -> None:
    run, api = run_next(), as_person(founder)
    answer = api.post(f"runs/{run.pk}/dry-runs")
    assert (answer.status, answer["state"]) == (202, "pending")
    assert api.post(f"runs/{run.pk}/dry-runs").status == 409
    answer_dry_run(answer["id"])
    [row] = api.get(f"runs/{run.pk}/dry-runs").rows
    assert (row["state"], row["comment"], row["asked_by"]["kind"]) == ("done", "Noted.", "member")


def test_a_retry_by_the_api_wakes_the_agent_there(founder: Person, issue: Issue) -> None:
    answer = as_person(founder).post(f"runs/{run_next().pk}/retry")
    assert (answer.status, answer["source"], answer["issue"]) == (202, "manual", "ACME-1")


def test_it_takes_few_queries_however_much_happened(page: Client, company: Company, founder: Person) -> None:
    build.label(company)
    reply = "Noted.\n/label bug\n/create-issue One\n/request-approval May I?\n/nothing"
    build.issue(company, assignee=scripted(company, "Cleo", reply))
    set_budget(actor=founder, company=company, tokens=10_000_000)
    run = run_next()
    with counted() as numbers:
        assert read(page, run)
    assert numbers[0] <= 15
