"""`manage.py create_key`: a key for the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from issues.actors import SYSTEM, Person
from issues.directory import Directory
from issues.models import Company, KeyScope, Member, User
from issues.refusals import Refusal
from issues.services.keys import create_agent_key, create_user_key

if TYPE_CHECKING:
    from agents.models import Agent


class Command(BaseCommand):
    help = "Print a new key for the API. It is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        owner = parser.add_mutually_exclusive_group(required=True)
        owner.add_argument("--user", metavar="NAME", help="a key of this person, by user name")
        owner.add_argument("--agent", metavar="HANDLE", help="a key with which an outside agent takes part")
        parser.add_argument("--company", metavar="KEY", help="the agent's company, where there are several")
        parser.add_argument("--name", default="command line", help="what the key is for")
        parser.add_argument("--read-only", action="store_true", help="a key that changes nothing")

    def handle(self, *, user: str | None, agent: str | None, company: str | None, **options: Any) -> None:
        scope = KeyScope.READ if options["read_only"] else KeyScope.WRITE
        about = {"name": options["name"], "scope": scope}
        try:
            if user is not None:
                account = _account(user)
                _, text = create_user_key(actor=Person(account), user=account, **about)
            else:
                _, text = create_agent_key(actor=SYSTEM, agent=_agent(agent or "", _company(company)), **about)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(text)


def _account(name: str) -> User:
    account = User.objects.filter(username__iexact=name, is_active=True).first()
    if account is None:
        raise CommandError(f"There is no active account “{name}”.")
    return account


def _company(key: str | None) -> Company:
    """The company of that key; without one, the only one there is."""
    companies = Company.objects.filter(key=key.upper()) if key else Company.objects.all()
    found = list(companies.order_by("key")[:2])
    if len(found) == 1:
        return found[0]
    if key:
        raise CommandError(f"There is no company {key.upper()}.")
    raise CommandError("Name one with --company." if found else "There is no company yet.")


def _agent(handle: str, company: Company) -> Agent:
    found = Directory(company).find(handle)
    if isinstance(found, Member):
        raise CommandError(f"@{found.handle} is a person: use --user {found.user.username}.")
    return found
