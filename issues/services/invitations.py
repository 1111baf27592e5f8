"""Bringing somebody into a company who may not have an account yet."""

from __future__ import annotations

from dataclasses import dataclass

from issues.actors import Actor
from issues.effects import service
from issues.models import Company, Member, Role, User
from issues.policies import Right, require
from issues.services.accounts import create_user, issue_login_link
from issues.services.companies import add_member


@dataclass(frozen=True, slots=True)
class Invitation:
    """The new member; for an account that was made for them, also the token of its one-time log-in link."""

    member: Member
    token: str = ""


@service
def invite_member(*, actor: Actor, company: Company, username: str, role: Role, name: str = "") -> Invitation:
    """Make the person of that user name a member, with a new account if there is none.

    Only a new account comes with a log-in link: one for an account that exists would open the other companies of its
    owner, too.
    """
    require(actor, Right.MANAGE_COMPANY, company)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is not None:
        return Invitation(add_member(actor=actor, company=company, user=user, role=role))
    user = create_user(username=username, name=name)
    member = add_member(actor=actor, company=company, user=user, role=role)
    return Invitation(member, issue_login_link(user))
