"""Handles: members and agents share one namespace, and what was taken once is never given again."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Agent
from agents.services.agents import hire_agent, terminate_agent
from issues.actors import Person
from issues.directory import Directory
from issues.models import Company, Handle, Role
from issues.refusals import Conflict, Invalid
from issues.services.companies import add_member, remove_member
from issues.services.handles import RESERVED, claim_handle, free_handle
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("wanted", "handle"),
    [("ada", "ada"), ("@Ada", "ada"), (" ADA ", "ada"), ("a", "a"), ("ada.b-c_9", "ada.b-c_9"), ("x" * 40, "x" * 40)],
)
def test_a_handle_is_taken_in_small_letters(wanted: str, handle: str, company: Company, owner: Person) -> None:
    assert hire_agent(actor=owner, company=company, name="Somebody", handle=wanted).handle == handle


@pytest.mark.parametrize("wanted", ["", "-ada", "ada-", ".ada", "a da", "adä", "ada!", "x" * 41, "@", "a/b"])
def test_what_cannot_be_typed_after_an_at_sign_is_no_handle(wanted: str, company: Company) -> None:
    with pytest.raises(Invalid, match="cannot be a handle"):
        claim_handle(company, wanted)


@pytest.mark.parametrize("wanted", sorted(RESERVED))
def test_words_that_mean_something_else_are_no_handles(wanted: str, company: Company) -> None:
    with pytest.raises(Invalid, match="reserved"):
        claim_handle(company, wanted)
    assert free_handle(company, wanted) == f"{wanted}-2"


def test_members_and_agents_share_the_namespace(company: Company, owner: Person, ada: Agent) -> None:
    build.member(company, "boss")
    with pytest.raises(Conflict, match="taken"):
        hire_agent(actor=owner, company=company, name="Boss", handle="BOSS")
    with pytest.raises(Conflict, match="taken"):
        add_member(actor=owner, company=company, user=build.user(), role=Role.BOARD, handle="Ada")


def test_another_company_has_its_own(ada: Agent) -> None:
    assert build.agent(build.company_with_founder("OTHER")[0], "Ada").handle == "ada"


def test_the_handle_of_one_who_left_is_never_given_again(company: Company, owner: Person, ada: Agent) -> None:
    terminate_agent(actor=owner, agent=ada)
    remove_member(actor=owner, member=build.member_row(build.member(company, "boss")))
    for handle in ("ada", "boss"):
        with pytest.raises(Conflict, match="never reused"):
            hire_agent(actor=owner, company=company, name="New", handle=handle)
    assert build.agent(company, "Ada").handle == "ada-2"


def test_a_member_who_comes_back_has_the_old_one(company: Company, owner: Person) -> None:
    boss = build.member_row(build.member(company, "boss"))
    remove_member(actor=owner, member=boss)
    again = add_member(actor=owner, company=company, user=boss.user, role=Role.VIEWER)
    assert (again.pk, again.handle, again.role) == (boss.pk, "boss", Role.VIEWER)


@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("Ada Lovelace", "ada-lovelace"),
        ("Zoë", "zoe"),
        ("語", "member"),
        ("--", "member"),
        ("x" * 60, "x" * 34),
        ("System", "system-2"),
    ],
)
def test_a_handle_is_made_from_a_name(name: str, handle: str, company: Company) -> None:
    assert free_handle(company, name) == handle
    assert free_handle(company, name) != handle


class TestDirectory:
    def test_a_handle_beats_a_name(self, company: Company) -> None:
        build.agent(company, "Grace", handle="hopper")
        named = build.agent(company, "Someone", handle="grace")
        assert Directory(company).find("@Grace") == named

    def test_one_is_found_by_handle_or_name_however_it_is_typed(self, company: Company) -> None:
        zoe = build.agent(company, "Zoë Maß", handle="zoe")
        for word in ("zoe", "@ZOE", " zoe ", "zoë mass", "Zoe\u0308 MASS"):
            assert Directory(company).find(word) == zoe

    def test_a_name_that_two_share_is_refused_with_the_way_out(self, company: Company) -> None:
        build.agent(company, "Ada Byron", handle="ada1")
        build.agent(company, "ada byron", handle="ada2")
        build.agent(company, "Ada Byron", handle="ada3")
        with pytest.raises(Invalid, match="Several .* handle"):
            Directory(company).find("Ada Byron")
        assert Directory(company).get("Ada Byron") is None

    def test_what_is_nearly_right_is_hinted_at_and_never_taken(self, company: Company, ada: Agent) -> None:
        build.agent(company, "Grace")
        with pytest.raises(Invalid, match="Did you mean @grace"):
            Directory(company).find("grase")

    def test_it_takes_two_queries(self, company: Company, ada: Agent, django_assert_num_queries: object) -> None:
        for number in range(3):
            build.agent(company, f"Agent {number}", manager=ada)
            build.member(company)
        with django_assert_num_queries(2):  # type: ignore[operator]
            directory = Directory(company)
            assert len(directory.known) >= len(directory.everybody)
            assert directory.find("agent-1").name == "Agent 1"


@pytest.mark.django_db(transaction=True)
def test_many_of_one_name_at_once_get_a_handle_each(company: Company, owner: Person) -> None:
    hired = at_once([partial(hire_agent, actor=owner, company=company, name="Ada") for _ in range(8)])
    assert sorted(agent.handle for agent in hired if isinstance(agent, Agent)) == [
        "ada",
        *(f"ada-{number}" for number in range(2, 9)),
    ]
    assert Handle.objects.filter(company=company).count() == 9
