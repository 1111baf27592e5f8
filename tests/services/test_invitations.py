"""Bringing somebody in."""

from __future__ import annotations

import pytest

from issues.actors import Person
from issues.models import LoginLink, Role, User
from issues.refusals import Conflict, Forbidden
from issues.services.accounts import use_login_link
from issues.services.invitations import invite_member
from tests import build

pytestmark = pytest.mark.django_db


def test_somebody_new_gets_an_account_and_a_link_that_opens_it() -> None:
    company, owner = build.company_with_founder()
    invited = invite_member(actor=owner, company=company, username="nia", name="Nia", role=Role.BOARD)
    assert use_login_link(invited.token) == invited.member.user
    assert invited.member.role == Role.BOARD


def test_no_link_opens_an_account_that_was_there_before() -> None:
    company, owner = build.company_with_founder()
    other, stranger = build.company_with_founder("OTHER", founder="olga")
    invited = invite_member(actor=owner, company=company, username=" Olga ", role=Role.VIEWER)
    assert (invited.member.user, invited.token) == (stranger.user, "")
    assert not LoginLink.objects.exists()
    assert other.members.get().role == Role.OWNER


def test_who_may_not_invite_makes_no_account() -> None:
    company, _ = build.company_with_founder()
    board: Person = build.member(company)
    with pytest.raises(Forbidden):
        invite_member(actor=board, company=company, username="nia", role=Role.OWNER)
    assert not User.objects.filter(username="nia").exists()


def test_a_member_is_not_invited_twice() -> None:
    company, owner = build.company_with_founder()
    invite_member(actor=owner, company=company, username="nia", role=Role.BOARD)
    with pytest.raises(Conflict):
        invite_member(actor=owner, company=company, username="NIA", role=Role.OWNER)


def test_an_account_that_was_shut_is_not_opened_by_an_invitation() -> None:
    company, owner = build.company_with_founder()
    shut = build.user("nia")
    shut.is_active = False
    shut.save()
    with pytest.raises(Conflict):
        invite_member(actor=owner, company=company, username="nia", role=Role.BOARD)
