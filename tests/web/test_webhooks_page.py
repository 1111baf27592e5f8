"""Settings, Webhooks: servers are added, tried, changed, and what was sent to them is shown."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from issues.actors import Person
from issues.models import Company, DeliveryState, Role, Webhook
from issues.sealing import unseal
from issues.services.webhooks import add_webhook, send_test
from tests import build
from tests.web.test_pages import text_of

Browse = Callable[[Person], Client]
PAGE = "/acme/settings/webhooks/"
NEW = {"url": "https://hooks.test/in?token=x", "kinds": ["issue", "run"]}


@pytest.fixture
def webhook(company: Company, founder: Person) -> Webhook:
    return add_webhook(actor=founder, company=company, **NEW)[0]


def secret_in(body: bytes) -> str:
    return re.findall(r"whsec_[A-Za-z0-9+/=]+", body.decode())[0]


def test_one_is_added_and_its_secret_shown_once(page: Client, company: Company) -> None:
    answer = page.post(PAGE, NEW)
    webhook = company.webhooks.get()
    assert secret_in(answer.content) == unseal(webhook.sealed_secret)
    assert "no-store" in answer.headers["Cache-Control"]
    for path in (PAGE, f"{PAGE}{webhook.pk}/"):
        body = page.get(path).content.decode()
        assert "hooks.test" in body
        assert "whsec_" not in body


def test_what_is_refused_comes_back_as_it_was_sent(page: Client, webhook: Webhook) -> None:
    for path in (PAGE, f"{PAGE}{webhook.pk}/edit/"):
        answer = page.post(path, {"url": "ftp://hooks.test/x", "kinds": ["budget"]})
        body = answer.content.decode()
        assert answer.status_code == 422
        assert 'value="ftp://hooks.test/x"' in body
        assert re.findall(r'value="(\w+)" checked', body) == ["budget"]


def test_it_is_changed_switched_tried_and_removed(page: Client, webhook: Webhook) -> None:
    here = f"{PAGE}{webhook.pk}/"
    page.post(f"{here}edit/", {"url": "https://other.test/", "kinds": ["comment"]})
    page.post(f"{here}try/")
    webhook.refresh_from_db()
    assert (webhook.host, webhook.kinds, webhook.deliveries.get().kind) == ("other.test", ["comment"], "webhook.test")
    page.post(f"{here}switch/", {"on": "0"})
    assert "Off" in text_of(page.get(here).content)
    page.post(f"{here}switch/", {"on": "1"})
    webhook.refresh_from_db()
    assert webhook.enabled
    page.post(f"{here}remove/")
    assert page.get(here).status_code == 404


def test_a_new_secret_is_shown_once(page: Client, webhook: Webhook) -> None:
    answer = page.post(f"{PAGE}{webhook.pk}/secret/")
    webhook.refresh_from_db()
    assert secret_in(answer.content) == unseal(webhook.sealed_secret)
    assert "by the old one, too" in text_of(answer.content)


def test_what_was_sent_is_shown_and_looked_at_again_while_it_waits(
    page: Client, webhook: Webhook, founder: Person
) -> None:
    here = f"{PAGE}{webhook.pk}/"
    assert "Nothing was sent yet." in text_of(page.get(here).content)
    message = send_test(actor=founder, webhook=webhook)
    assert 'hx-trigger="every 3s"' in page.get(here).content.decode()
    message.state, message.status_code, message.milliseconds = DeliveryState.PENDING, 503, 1_234
    message.tries, message.error = 2, "503 Service Unavailable"
    message.due_at = timezone.now() + datetime.timedelta(hours=1, minutes=1)
    message.save()
    said = text_of(page.get(here, headers={"HX-Request": "true"}).content)
    assert "Tried 2 times" in said
    assert "503 Service Unavailable" in said
    assert "1,234 ms" in said
    assert "again at" in said
    assert "Change it" not in said
    message.state = DeliveryState.DELIVERED
    message.save()
    body = page.get(here).content.decode()
    assert "Delivered" in body
    assert "every 3s" not in body


def test_one_that_trimus_turned_off_says_why(page: Client, webhook: Webhook) -> None:
    Webhook.objects.update(enabled=False, why_off="It has failed for a day.")
    for path in (PAGE, f"{PAGE}{webhook.pk}/"):
        assert "It has failed for a day." in text_of(page.get(path).content)


@pytest.mark.parametrize("role", [Role.BOARD, Role.VIEWER])
def test_others_see_the_servers_and_not_their_addresses(
    company: Company, webhook: Webhook, browse: Browse, role: Role
) -> None:
    client = browse(build.member(company, role=role))
    body = client.get(PAGE).content.decode()
    assert "hooks.test" in body
    assert "token=x" not in body
    assert "Add a webhook" not in body
    assert client.get(f"{PAGE}{webhook.pk}/").status_code == 403
    refused = client.post(f"{PAGE}{webhook.pk}/edit/", {"url": "x"})
    assert refused.status_code == 403
    assert "token=x" not in refused.content.decode()
