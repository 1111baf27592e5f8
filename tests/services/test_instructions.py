"""An agent's instructions over time."""

from __future__ import annotations

import pytest

from agents.models import Agent, InstructionsVersion
from agents.services.agents import edit_agent
from issues.actors import Person
from issues.models import Company
from tests import build

pytestmark = pytest.mark.django_db


def kept(agent: Agent) -> list[tuple[int, str]]:
    return list(agent.instructions_versions.order_by("number").values_list("number", "text"))


def test_each_saving_is_kept_with_who_wrote_it(company: Company, owner: Person) -> None:
    agent = build.agent(company, "Cleo", instructions="Be brief.")
    boss = build.member(company, "boss")
    edit_agent(actor=boss, agent=agent, instructions="Be kind.")
    assert kept(agent) == [(1, "Be brief."), (2, "Be kind.")]
    authors = InstructionsVersion.objects.order_by("number").values_list("member", flat=True)
    assert list(authors) == [build.member_row(owner).pk, build.member_row(boss).pk]


def test_what_leaves_the_instructions_as_they_are_makes_no_version(company: Company, owner: Person) -> None:
    agent = build.agent(company, "Cleo", instructions="Be brief.")
    edit_agent(actor=owner, agent=agent, title="Writer", instructions="Be brief.")
    assert len(kept(agent)) == 1


def test_instructions_from_before_versions_were_kept_become_the_first(company: Company, owner: Person) -> None:
    agent = build.agent(company, "Cleo", instructions="Be brief.")
    agent.instructions_versions.all().delete()
    edit_agent(actor=owner, agent=agent, instructions="Be kind.")
    assert kept(agent) == [(1, "Be brief."), (2, "Be kind.")]
    first = agent.instructions_versions.get(number=1)
    assert (first.member, first.by_agent, first.written_at) == (None, None, agent.created_at)


def test_emptied_instructions_are_a_version_too(company: Company, owner: Person) -> None:
    agent = build.agent(company, "Cleo", instructions="Be brief.")
    edit_agent(actor=owner, agent=agent, instructions="")
    assert kept(agent) == [(1, "Be brief."), (2, "")]
