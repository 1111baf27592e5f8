"""Who sees a company's pages, and who may change something there."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from issues.actors import Person
from issues.models import Activity, Company, Role
from issues.services.companies import remove_member
from tests import build
from tests.web.everything import CANARY, addresses, one_of_everything

Browse = Callable[[Person], Client]
ADDRESSES = sorted(set(addresses()))
OWNERS_CHANGES: list[tuple[str, dict[str, str]]] = [
    ("settings", {"part": "retention", "retention_days": "5"}),
    ("members", {"username": "eve", "role": "owner"}),
    ("set-role", {"role": "owner"}),
    ("remove-member", {}),
    ("revoke-key", {}),
    ("providers", {"strong-provider": "openai"}),
    ("add-provider", {"name": "mine", "protocol": "openai", "secret": "sk-0123456789"}),
    ("edit-provider", {"model": "m"}),
    ("remove-provider", {}),
    ("try-provider", {}),
    ("webhooks", {"url": "http://hooks.test/", "kinds": "issue"}),
    ("edit-webhook", {"url": "http://hooks.test/", "kinds": "issue"}),
    ("switch-webhook", {"on": "0"}),
    ("try-webhook", {}),
    ("rotate-webhook", {}),
    ("remove-webhook", {}),
    ("new-hook", {"name": "Alerts", "title": "x", "per_hour": "5"}),
    ("hook", {"name": "Alerts", "title": "x", "per_hour": "5"}),
    ("switch-hook", {"on": "0"}),
    ("rotate-hook", {}),
    ("remove-hook", {}),
    ("budgets", {"tokens": "5"}),
    ("delete-company", {"key": "ACME"}),
]
CHANGES = [
    ("set-status", {"status": "done"}),
    ("assign", {"assignee": "me"}),
    ("set-priority", {"priority": "high"}),
    ("blockers", {"issues": "1"}),
    ("set-parent", {"parent": ""}),
    ("heartbeat", {}),
    ("move", {"status": "done"}),
    ("write-comment", {"body": "Hello"}),
    ("delete-comment", {}),
    ("pin-comment", {}),
    ("edit-comment", {"body": "Hello"}),
    ("edit-issue", {"title": "Hello"}),
    ("new-issue", {"title": "Hello"}),
    ("decide", {"decision": "approved"}),
    ("hire", {"name": "Eve"}),
    ("edit-agent", {"name": "Eve"}),
    ("pause-agent", {}),
    ("terminate-agent", {}),
    ("run-agent", {}),
    ("change-note", {"text": "Hello"}),
    ("change-observation", {"text": "Hello"}),
    ("reset-provider", {}),
    ("cancel-run", {}),
    ("run-again", {}),
    ("reviewers", {}),
    ("bulk", {"issue": "ACME-1", "priority": "high"}),
    ("pause-company", {}),
    ("resume-company", {}),
]


def test_the_walk_finds_every_page() -> None:
    names = {name for name, _ in ADDRESSES}
    assert {"board", "issue", "run", "agent", "approval", "inbox", "attachment", "changes"} <= names
    assert len(names) > 40


def test_no_page_of_a_company_is_there_for_anybody_else(company: Company, founder: Person, browse: Browse) -> None:
    everything = one_of_everything(company, founder)
    other, stranger = build.company_with_founder("OTHER")
    client = browse(stranger)
    before = Activity.objects.filter(company=company).count()
    for name, wanted in ADDRESSES:
        # By its own address, and by the stranger's company with this one's ids.
        for slug in (company.slug, other.slug) if wanted else (company.slug,):
            address = everything.address(name, wanted, slug=slug)
            for answer in (client.get(address), client.post(address)):
                body = b"".join(answer.streaming_content) if answer.streaming else answer.content
                assert answer.status_code in (404, 405), address
                assert CANARY.encode() not in body, address
    assert Activity.objects.filter(company=company).count() == before


def test_every_page_asks_an_unknown_reader_to_log_in(company: Company, founder: Person) -> None:
    everything = one_of_everything(company, founder)
    for name, wanted in ADDRESSES:
        answer = Client().get(everything.address(name, wanted))
        assert answer.status_code in (302, 405), name
        assert answer.headers.get("Location", "/login/").startswith("/login/"), name


def test_a_viewer_changes_nothing(company: Company, founder: Person, browse: Browse) -> None:
    everything = one_of_everything(company, founder)
    client = browse(build.member(company, role=Role.VIEWER))
    before = Activity.objects.count()
    for name, values in CHANGES:
        answer = client.post(everything.address(name, dict(ADDRESSES)[name]), values)
        assert answer.status_code == 403, name
    assert Activity.objects.count() == before


def test_a_board_member_changes_nothing_that_is_for_owners(company: Company, founder: Person, browse: Browse) -> None:
    everything = one_of_everything(company, founder)
    client = browse(build.member(company))
    before = Activity.objects.count()
    for name, values in OWNERS_CHANGES:
        answer = client.post(everything.address(name, dict(ADDRESSES)[name]), values)
        assert answer.status_code == 403, name
    assert Activity.objects.count() == before


def test_a_viewer_is_shown_no_button_that_changes_something_of_the_company(
    company: Company, founder: Person, browse: Browse
) -> None:
    everything = one_of_everything(company, founder)
    client = browse(build.member(company, role=Role.VIEWER))
    for name in ("board", "issue", "agent", "approvals", "run"):
        body = client.get(everything.address(name, dict(ADDRESSES)[name])).content.decode()
        main = body.split('id="main"')[1].split('<div class="connection"')[0]
        forms = re.findall(r'<form[^>]* action="([^"]*)"', main)
        own = [everything.address(form, frozenset({"identifier"})) for form in ("watch", "noise")]
        assert [address for address in forms if address not in own] == [], name


def test_a_removed_member_is_out_at_once(company: Company, founder: Person, browse: Browse) -> None:
    person = build.member(company)
    client = browse(person)
    assert client.get("/acme/board/").status_code == 200
    remove_member(actor=founder, member=build.member_row(person))
    assert client.get("/acme/board/").status_code == 404


def test_somebody_elses_inbox_item_does_not_exist(company: Company, founder: Person, browse: Browse) -> None:
    everything = one_of_everything(company, founder)
    client = browse(build.member(company))
    assert client.post(everything.address("archive-inbox-item", frozenset({"item"}))).status_code == 404
