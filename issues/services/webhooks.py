"""Webhooks out, as owners set them up: where to, of what, by which secret."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from django.conf import settings
from django.utils import timezone

from issues.activity import record
from issues.actors import SYSTEM, Actor
from issues.effects import service
from issues.models import Company, Delivery, DeliveryState, InboxKind, Role, Webhook, WebhookKind
from issues.outbox import new_delivery
from issues.outside_urls import check_url
from issues.policies import Right, require
from issues.refusals import Conflict, Invalid, NotFound
from issues.sealing import seal
from issues.services.inbox import tell
from issues.services.locks import lock_company
from issues.signatures import new_secret
from issues.texts import check_line
from issues.webhook_payloads import TEST_KIND

MOST_WEBHOOKS = 20
OLD_SECRET_STAYS = datetime.timedelta(days=1)
"""After a rotation messages are signed by both secrets for so long: receivers change theirs without losing any."""


@service
def add_webhook(*, actor: Actor, company: Company, url: str, kinds: Iterable[str]) -> tuple[Webhook, str]:
    """A server that is told of these kinds of changes from now on, and the secret that it verifies them by, which is
    shown this once. Owners only."""
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    if company.webhooks.count() >= MOST_WEBHOOKS:
        raise Conflict(f"A company has at most {MOST_WEBHOOKS} webhooks.")
    secret = new_secret()
    webhook = Webhook(company=company, url=_check_url(url), kinds=_check_kinds(kinds), sealed_secret=seal(secret))
    webhook.save(force_insert=True)
    _note_kinds(company)
    record(actor, "webhook.added", company, webhook=webhook.pk, host=webhook.host, kinds=webhook.kinds)
    return webhook, secret


@service
def edit_webhook(
    *, actor: Actor, webhook: Webhook, url: str | None = None, kinds: Iterable[str] | None = None
) -> Webhook:
    """Change where it is sent, or what it is told; None leaves either as it is. What waits goes to the new address."""
    webhook, company = _lock(actor, webhook)
    before = (webhook.url, webhook.kinds)
    if url is not None:
        webhook.url = _check_url(url)
    if kinds is not None:
        webhook.kinds = _check_kinds(kinds)
    if (webhook.url, webhook.kinds) != before:
        if webhook.url != before[0]:
            _forgive(webhook)
        webhook.save()
        _note_kinds(company)
        record(actor, "webhook.edited", company, webhook=webhook.pk, host=webhook.host, kinds=webhook.kinds)
    return webhook


@service
def switch_webhook(*, actor: Actor, webhook: Webhook, on: bool) -> Webhook:
    """Turn it on or off. What waits when it is turned off is not sent, nor what happens until it is on again."""
    webhook, company = _lock(actor, webhook)
    if webhook.enabled != on:
        webhook.enabled, webhook.why_off = on, ""
        # Also when it is turned on: a change that was under way as it was turned off has left its message since.
        _drop_waiting(webhook, "The webhook was turned off.")
        _forgive(webhook)
        webhook.save()
        _note_kinds(company)
        record(actor, "webhook.switched", company, webhook=webhook.pk, host=webhook.host, on=on)
    return webhook


@service
def rotate_secret(*, actor: Actor, webhook: Webhook) -> tuple[Webhook, str]:
    """A new secret, shown this once. For a day messages are signed by the old one, too."""
    webhook, company = _lock(actor, webhook)
    secret = new_secret()
    webhook.sealed_old_secret, webhook.old_secret_until = webhook.sealed_secret, timezone.now() + OLD_SECRET_STAYS
    webhook.sealed_secret = seal(secret)
    webhook.save()
    record(actor, "webhook.rotated", company, webhook=webhook.pk, host=webhook.host)
    return webhook, secret


@service
def remove_webhook(*, actor: Actor, webhook: Webhook) -> None:
    """Forget it, its secret and its deliveries."""
    webhook, company = _lock(actor, webhook)
    record(actor, "webhook.removed", company, webhook=webhook.pk, host=webhook.host)
    webhook.delete()
    _note_kinds(company)


@service
def send_test(*, actor: Actor, webhook: Webhook) -> Delivery:
    """A message that tells of nothing, sent as all others are. Conflict if the webhook is off."""
    webhook, company = _lock(actor, webhook)
    if not webhook.enabled:
        raise Conflict("The webhook is off.", "Turn it on first.")
    waiting = webhook.deliveries.filter(kind=TEST_KIND, state=DeliveryState.PENDING).first()
    if waiting is not None:
        return waiting
    _forgive(webhook)  # somebody has mended it, and looks
    webhook.save()
    delivery = new_delivery(webhook, TEST_KIND, None)
    delivery.save(force_insert=True)
    record(actor, "webhook.tested", company, webhook=webhook.pk, host=webhook.host)
    return delivery


@service
def give_up_on(webhook: Webhook, why: str, *, for_good: bool = False) -> None:
    """Turn it off because its receiver does not take what it is sent, and tell the owners. Nothing if somebody turned
    it off or removed it meanwhile, or it was mended; `for_good` says that its receiver wants no more even so."""
    company = lock_company(webhook.company)
    held = _held(company, webhook)
    if held is None or not held.enabled or (held.failures == 0 and not for_good):
        return
    held.enabled, held.why_off = False, why[:300]
    held.save()
    _drop_waiting(held, "The webhook was turned off.")
    _note_kinds(company)
    record(SYSTEM, "webhook.switched", company, webhook=held.pk, host=held.host, on=False)
    owners = company.members.present().filter(role=Role.OWNER)
    tell(owners, InboxKind.FAILURE, f"The webhook to {held.host} was turned off. {why}", company=company)


def _lock(actor: Actor, webhook: Webhook) -> tuple[Webhook, Company]:
    """The webhook and its company, held. NotFound if it was removed meanwhile."""
    require(actor, Right.MANAGE_COMPANY, webhook.company)
    company = lock_company(webhook.company)
    held = _held(company, webhook)
    if held is None:
        raise NotFound("There is no such webhook.")
    return held, company


def _held(company: Company, webhook: Webhook) -> Webhook | None:
    # Its key never changes: deliveries name it by that, without a constraint, and wait for nobody.
    held = Webhook.objects.select_for_update(no_key=True).filter(company=company, pk=webhook.pk).first()
    if held is not None:
        held.company = company
    return held


def _note_kinds(company: Company) -> None:
    """Let the company's row say what its webhooks want: who writes activity sees by it whether anybody asks."""
    wanted = company.webhooks.filter(enabled=True).values_list("kinds", flat=True)
    company.webhook_kinds = sorted({kind for kinds in wanted for kind in kinds})
    company.save(update_fields=["webhook_kinds"])


def _forgive(webhook: Webhook) -> None:
    """Forget its failures: it is tried anew at once."""
    webhook.failures, webhook.failing_since, webhook.held_until = 0, None, None
    webhook.deliveries.filter(state=DeliveryState.PENDING).update(due_at=timezone.now())


def _drop_waiting(webhook: Webhook, why: str) -> None:
    waiting = webhook.deliveries.filter(state=DeliveryState.PENDING)
    waiting.update(state=DeliveryState.DROPPED, ended_at=timezone.now(), error=why)


def _check_url(url: str) -> str:
    return check_url(
        check_line(url, "url", limit=1_000),
        "url",
        example="https://hooks.example.org/trimus",
        may_be_private=settings.PRIVATE_WEBHOOK_URLS,
        allowed_by="TRIMUS_PRIVATE_WEBHOOK_URLS",
    )


def _check_kinds(kinds: Iterable[str]) -> list[str]:
    wanted = set(kinds)
    if unknown := wanted - set(WebhookKind.values):
        raise Invalid(
            f"“{min(unknown)[:40]}” is nothing that a webhook can be told.",
            f"There are: {', '.join(WebhookKind.values)}.",
            field="kinds",
        )
    if not wanted:
        raise Invalid("Choose what it is told.", f"There are: {', '.join(WebhookKind.values)}.", field="kinds")
    return [kind for kind in WebhookKind.values if kind in wanted]
