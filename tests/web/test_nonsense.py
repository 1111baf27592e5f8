"""What no form of the board sends, and somebody will: refused in words or passed over, never an error of the server."""

from __future__ import annotations

from django.test import Client

from issues.actors import Person
from issues.models import Company
from tests.web.everything import one_of_everything

LONG = "9" * 5_000
"""More digits than Python makes a number of."""
LARGE = "9" * 30
"""More than a row's id can be."""
ASKED = [
    f"findings/?agent={LARGE}",
    "findings/?agent=²&before=²",
    f"issues/?assignee=agent:{LARGE}&label={LARGE}&project=²",
    f"activity/?actor=member:²&before={LONG}",
    f"runs/?agent=²&before={LARGE}",
    f"issues/ACME-1/?comment={LARGE}",
    "costs/?month=0001-01",
    "findings/?text=%00",
    "agents/%00/",
    "who/%00/",
]
SENT = [
    ("issues/ACME-1/assign/", {"assignee": "agent:²"}),
    ("issues/ACME-1/assign/", {"assignee": f"member:{LARGE}"}),
    ("issues/ACME-1/label/", {"label": "²"}),
    ("issues/ACME-1/edit/", {"title": "Hello", "project": "²"}),
    ("bulk/", {"issue": "ACME-1", "add": "²", "remove": LARGE}),
    ("issues/new/", {"title": "Hello", "project": LARGE}),
    ("settings/keys/", {"days": "30", "agent": "²"}),
    ("settings/", {"part": "limits", "hop_limit": LONG}),
    ("settings/budgets/", {"agent": "²", "tokens": "5"}),
    ("settings/budgets/", {"tokens": LONG}),
    ("settings/policy/", {"permission": "status", "grant": "allow", "agent": LARGE}),
    ("settings/policy/caps/", {"verb": "ask", "cap": LONG}),
    ("settings/models/add/", {"name": "mine", "protocol": "openai", "max_concurrent_runs": LONG}),
    ("agents/hire/", {"name": "Eve", "manager": "²"}),
    ("agents/hire/", {"name": "Eve", "schedule_minutes": "²"}),
    ("agents/hers/instructions/", {"version": LARGE}),
    ("skills/new/", {"name": "Writing", "body": "Briefly.", "agents": LARGE}),
    ("routines/new/", {"name": "Digest", "cron": "0 9 * * *", "title": "Digest", "assignee": LARGE}),
    ("views/", {"replaces": LARGE}),
]


def test_nonsense_in_an_address_has_an_answer(page: Client, company: Company, founder: Person) -> None:
    one_of_everything(company, founder)
    answers = {address: page.get(f"/acme/{address}").status_code for address in ASKED}
    assert {address: status for address, status in answers.items() if status >= 500} == {}


def test_nonsense_in_a_form_has_an_answer(page: Client, company: Company, founder: Person) -> None:
    one_of_everything(company, founder)
    answers = [(address, fields, page.post(f"/acme/{address}", fields).status_code) for address, fields in SENT]
    assert [answer for answer in answers if answer[2] >= 500] == []
