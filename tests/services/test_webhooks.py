"""Webhooks out, as owners set them up."""

from __future__ import annotations

from typing import Any

import pytest

from issues.actors import Person
from issues.models import Activity, Company, Role, WebhookKind
from issues.refusals import Conflict, Forbidden, Invalid, NotFound
from issues.services.webhooks import (
    MOST_WEBHOOKS,
    add_webhook,
    edit_webhook,
    remove_webhook,
    rotate_secret,
    send_test,
    switch_webhook,
)
from issues.signatures import sign
from tests import build

pytestmark = pytest.mark.django_db

URL = "https://hooks.example.org/T0/B1?token=x"


def test_it_is_signed_as_the_convention_has_it() -> None:
    """The vector that Standard Webhooks and its libraries are tried with."""
    signature = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        uid="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_owners_alone_set_them_up(company: Company, owner: Person) -> None:
    webhook, _ = add_webhook(actor=owner, company=company, url=URL, kinds=["issue"])
    for role in (Role.BOARD, Role.VIEWER):
        other = build.member(company, role=role)
        for attempt in (
            lambda other=other: add_webhook(actor=other, company=company, url=URL, kinds=["issue"]),
            lambda other=other: edit_webhook(actor=other, webhook=webhook, kinds=["run"]),
            lambda other=other: switch_webhook(actor=other, webhook=webhook, on=False),
            lambda other=other: rotate_secret(actor=other, webhook=webhook),
            lambda other=other: send_test(actor=other, webhook=webhook),
            lambda other=other: remove_webhook(actor=other, webhook=webhook),
        ):
            with pytest.raises(Forbidden):
                attempt()
    worker = build.at_work(build.agent(company), build.issue(company))
    with pytest.raises(Forbidden):
        add_webhook(actor=worker, company=company, url=URL, kinds=["issue"])
    _, stranger = build.company_with_founder("OTHR")
    with pytest.raises(NotFound):
        switch_webhook(actor=stranger, webhook=webhook, on=False)


def test_each_change_is_written_down_without_the_address(company: Company, owner: Person) -> None:
    webhook, secret = add_webhook(actor=owner, company=company, url=URL, kinds=["run", "issue"])
    edit_webhook(actor=owner, webhook=webhook, url=URL + "y", kinds=["comment"])
    edit_webhook(actor=owner, webhook=webhook, kinds=["comment"])  # which it is
    send_test(actor=owner, webhook=webhook)
    _, other = rotate_secret(actor=owner, webhook=webhook)
    switch_webhook(actor=owner, webhook=webhook, on=False)
    switch_webhook(actor=owner, webhook=webhook, on=False)
    remove_webhook(actor=owner, webhook=webhook)
    lines = Activity.objects.filter(kind__startswith="webhook.").order_by("pk")
    assert [line.kind.partition(".")[2] for line in lines] == [
        "added", "edited", "tested", "rotated", "switched", "removed",
    ]  # fmt: skip
    written = str(list(lines.values_list("data", flat=True)))
    assert "hooks.example.org" in written
    assert not any(word in written for word in ("token", "T0", secret, other))
    assert secret != other


def test_the_company_knows_what_anybody_wants(company: Company, owner: Person) -> None:
    first, _ = add_webhook(actor=owner, company=company, url=URL, kinds=["run", "issue"])
    second, _ = add_webhook(actor=owner, company=company, url=URL, kinds=["run"])
    company.refresh_from_db()
    assert company.webhook_kinds == ["issue", "run"]
    switch_webhook(actor=owner, webhook=first, on=False)
    company.refresh_from_db()
    assert company.webhook_kinds == ["run"]
    remove_webhook(actor=owner, webhook=second)
    company.refresh_from_db()
    assert company.webhook_kinds == []


@pytest.mark.parametrize(
    "url",
    ["", "ftp://example.org", "https://", "https://user:pw@example.org", "https://[::1", "https://example.org:0/", "x"],
)
def test_what_is_no_address_is_refused(company: Company, owner: Person, url: str) -> None:
    with pytest.raises(Invalid) as refused:
        add_webhook(actor=owner, company=company, url=url, kinds=["issue"])
    assert refused.value.field == "url"


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "localhost", "db.internal"])
def test_outside_local_mode_an_address_leads_outside(company: Company, owner: Person, settings: Any, host: str) -> None:
    settings.PRIVATE_WEBHOOK_URLS = False
    with pytest.raises(Invalid, match="TRIMUS_PRIVATE_WEBHOOK_URLS"):
        add_webhook(actor=owner, company=company, url=f"http://{host}/x", kinds=["issue"])
    settings.PRIVATE_WEBHOOK_URLS = True
    add_webhook(actor=owner, company=company, url=f"http://{host}/x", kinds=["issue"])


@pytest.mark.parametrize("kinds", [[], ["issue", "nonsense"]])
def test_what_it_is_told_must_be_something(company: Company, owner: Person, kinds: list[str]) -> None:
    with pytest.raises(Invalid, match="issue, comment, approval, run, budget") as refused:
        add_webhook(actor=owner, company=company, url=URL, kinds=kinds)
    assert refused.value.field == "kinds"


def test_there_are_so_many_at_most(company: Company, owner: Person) -> None:
    for _ in range(MOST_WEBHOOKS):
        add_webhook(actor=owner, company=company, url=URL, kinds=[str(kind) for kind in WebhookKind])
    with pytest.raises(Conflict):
        add_webhook(actor=owner, company=company, url=URL, kinds=["issue"])


def test_a_test_waits_once_and_not_for_one_that_is_off(company: Company, owner: Person) -> None:
    webhook, _ = add_webhook(actor=owner, company=company, url=URL, kinds=["issue"])
    assert send_test(actor=owner, webhook=webhook) == send_test(actor=owner, webhook=webhook)
    switch_webhook(actor=owner, webhook=webhook, on=False)
    with pytest.raises(Conflict):
        send_test(actor=owner, webhook=webhook)
