"""`manage.py create_key`."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent
from issues.actors import Person
from issues.models import Company
from tests import build
from tests.api.client import Api


def create_key(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_key", *arguments, stdout=out)
    return out.getvalue().strip()


def test_a_key_for_a_person_is_printed_and_nothing_else(founder: Person) -> None:
    key = create_key("--user", "ACME-founder")
    assert Api(key).get("me")["name"] == "Acme-founder"


def test_a_key_for_an_agent_acts_as_that_agent(ada: Agent) -> None:
    assert Api(create_key("--agent", "@ada")).get("agents/me")["handle"] == "ada"


def test_a_key_can_be_made_to_read_alone(founder: Person) -> None:
    reader = Api(create_key("--user", "acme-founder", "--read-only"))
    assert (reader.get("me").status, reader.post("labels", {"name": "bug"}).status) == (200, 403)


def test_an_agents_company_is_named_where_there_are_several(ada: Agent, company: Company) -> None:
    build.company_with_founder("OTHR")
    with pytest.raises(CommandError, match="--company"):
        create_key("--agent", "ada")
    with pytest.raises(CommandError, match="nobody called"):
        create_key("--agent", "ada", "--company", "othr")
    assert Api(create_key("--agent", "ada", "--company", "acme")).get("me").status == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--user", "nobody"), "no active account"),
        (("--agent", "nobody"), "nobody called"),
        (("--agent", "acme-founder"), "use --user"),
        (("--agent", "ada", "--company", "none"), "no company NONE"),
        ((), "required"),
        (("--user", "a", "--agent", "b"), "not allowed"),
    ],
)
def test_what_it_cannot_do_is_said(company: Company, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        create_key(*arguments)
