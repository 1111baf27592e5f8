"""Agents that are programs of the server, on pages: hired by owners, shown as they are, their output as it comes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from agents.models import PROGRAMS, Adapter, Agent, Run, RunOutput
from agents.programs.registry import BY_ADAPTER
from agents.services.runs import cancel_run
from engine.claim import claim_next
from issues.actors import Person
from issues.models import Company, Role
from tests import build

HIRE = "/acme/agents/hire/"
CATO = "/acme/agents/cato/"

Browse = Callable[[Person], Client]


@pytest.fixture
def cato(company: Company) -> Agent:
    return build.agent(company, "Cato", adapter=Adapter.PROCESS, command="cat -u")


@pytest.fixture
def run(cato: Agent) -> Run:
    """A live run of Cato's."""
    build.issue(cato.company, assignee=cato)
    run = claim_next()
    assert run is not None
    return run


@pytest.fixture
def member(company: Company, browse: Browse) -> Client:
    """A board member's browser."""
    return browse(build.member(company, role=Role.BOARD))


def read(page: Client, address: str) -> str:
    return page.get(address).content.decode()


def test_an_owner_hires_one_and_its_page_says_what_is_run(page: Client, company: Company) -> None:
    assert 'value="program:process"' in read(page, HIRE)
    page.post(HIRE, {"name": "Cato", "provider": "program:process", "command": "cat  -u"})
    cato = Agent.objects.get()
    assert (cato.adapter, cato.provider, cato.command) == (Adapter.PROCESS, "", "cat  -u")
    body = read(page, CATO)
    assert "<code>cat  -u</code>" in body
    assert "Command</span>" in read(page, "/acme/agents/")
    assert '<option value="program:process" selected>' in read(page, f"{CATO}edit/")


def test_a_board_member_changes_all_else_of_it(member: Client, cato: Agent) -> None:
    assert "program:" not in read(member, HIRE)
    form = read(member, f"{CATO}edit/")
    assert '<option value="program:process" selected>' in form
    assert "readonly" in form
    sent = {"name": "Cato", "provider": "program:process", "command": "cat -u", "title": "Reader"}
    assert member.post(f"{CATO}edit/", sent).status_code == 302
    assert member.post(f"{CATO}edit/", sent | {"command": "tac"}).status_code == 403
    cato.refresh_from_db()
    assert (cato.title, cato.command) == ("Reader", "cat -u")


def test_without_the_operators_leave_nobody_is_offered_one(page: Client, settings: Settings) -> None:
    settings.CLI_AGENTS = False
    assert "program:" not in read(page, HIRE)
    refused = page.post(HIRE, {"name": "Cato", "provider": "program:process", "command": "cat"})
    assert refused.status_code == 403
    assert "TRIMUS_CLI_AGENTS" in refused.content.decode()


def test_its_page_says_what_keeps_it_from_being_run(page: Client, cato: Agent, settings: Settings) -> None:
    assert "The server has no program" not in read(page, CATO)
    settings.CLI_PATH = "/nowhere"
    assert "The server has no program “cat”." in read(page, CATO)
    settings.CLI_AGENTS = False
    assert "TRIMUS_CLI_AGENTS" in read(page, CATO)


def test_the_page_of_models_says_that_it_asks_by_itself(page: Client, cato: Agent) -> None:
    assert "It is a program of the server" in read(page, "/acme/settings/models/")


class TestItsOutput:
    def test_is_fetched_again_while_it_works(self, page: Client, run: Run) -> None:
        address = f"/acme/runs/{run.pk}/"
        body = read(page, address)
        assert "The program is at work." in body
        assert f'hx-get="{address}output/"' in body
        RunOutput.objects.create(run=run, text="Reading <the plan>")
        part = read(page, f"{address}output/")
        assert "Reading &lt;the plan&gt;" in part
        assert 'hx-trigger="every 2s"' in part
        assert "<html" not in part

    def test_and_no_more_when_it_has_ended(self, page: Client, run: Run, founder: Person) -> None:
        RunOutput.objects.create(run=run, text="a" * 10, is_cut=True)
        cancel_run(actor=founder, run=run)
        part = read(page, f"/acme/runs/{run.pk}/output/")
        assert "hx-get" not in part
        assert "its end" in part

    def test_is_shown_of_programs_alone(self, page: Client, company: Company) -> None:
        build.issue(company, assignee=build.agent(company, "Ada", provider="scripted", script="- reply: Noted."))
        run = claim_next()
        assert run is not None
        assert "output-title" not in read(page, f"/acme/runs/{run.pk}/")


def test_every_kind_of_program_is_known_by_its_adapter() -> None:
    assert set(BY_ADAPTER) == set(PROGRAMS)


def test_the_form_says_what_the_server_lacks_and_how_to_get_it(page: Client, settings: Settings) -> None:
    settings.CLI_PATH = "/nowhere"
    form = read(page, HIRE)
    assert "Claude Code: The server has no program “claude”. Install Claude Code (npm install" in form
    assert "<code>codex --sandbox workspace-write</code>" in form


def test_claude_code_is_hired_without_a_command(page: Client, settings: Settings) -> None:
    settings.CLI_PATH = "/nowhere"
    page.post(HIRE, {"name": "Cato", "provider": "program:claude_local", "model": "opus", "command": ""})
    cato = Agent.objects.get()
    assert (cato.adapter, cato.model, cato.command) == (Adapter.CLAUDE_LOCAL, "opus", "")
    assert "Install Claude Code" in read(page, CATO)
