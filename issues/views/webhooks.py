"""Webhooks out: where the company's changes are told, what was sent there, and what became of it. Owners see to them;
others see which servers are told."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from issues.models import DeliveryState, Webhook, WebhookKind
from issues.pages import Visit, changed, company_page, is_partial, show
from issues.policies import Right, require
from issues.refusals import NotFound, Refusal
from issues.services.webhooks import (
    OLD_SECRET_STAYS,
    add_webhook,
    edit_webhook,
    remove_webhook,
    rotate_secret,
    send_test,
    switch_webhook,
)

SHOWN = 50
"""Messages of a webhook's page."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def webhooks(request: HttpRequest, visit: Visit) -> HttpResponse:
    """The company's webhooks; posted to, it adds one and shows its secret in the answer, this once."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        webhook, secret = add_webhook(
            actor=visit.person,
            company=visit.company,
            url=request.POST.get("url", ""),
            kinds=request.POST.getlist("kinds"),
        )
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    return _secret(request, visit, webhook, secret)


@require_safe
@company_page
def webhook_page(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    """One webhook with its last messages. For owners: an address may hold a secret of its receiver's."""
    require(visit.person, Right.MANAGE_COMPANY, visit.company)
    return _one(request, visit, _of_company(visit, webhook))


@require_POST
@company_page
def edit(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    row = _of_company(visit, webhook)
    try:
        edit_webhook(
            actor=visit.person,
            webhook=row,
            url=request.POST.get("url", ""),
            kinds=request.POST.getlist("kinds"),
        )
    except Refusal as refusal:
        if not visit.is_owner:
            raise
        return _one(request, visit, row, refusal=refusal)
    return changed(request, "The webhook is changed.", to=_address(row), moves_on=True)


@require_POST
@company_page
def switch(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    row = switch_webhook(actor=visit.person, webhook=_of_company(visit, webhook), on=request.POST.get("on") == "1")
    said = f"{row.host} is told from now on." if row.enabled else f"{row.host} is told no more."
    return changed(request, said, to=_address(row), moves_on=True)


@require_POST
@company_page
def try_it(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    row = _of_company(visit, webhook)
    send_test(actor=visit.person, webhook=row)
    return changed(request, "A test is on its way.", to=_address(row), moves_on=True)


@never_cache
@require_POST
@company_page
def rotate(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    """The new secret stands in the answer, this once."""
    row, secret = rotate_secret(actor=visit.person, webhook=_of_company(visit, webhook))
    return _secret(request, visit, row, secret, is_new=False)


@require_POST
@company_page
def remove(request: HttpRequest, visit: Visit, webhook: int) -> HttpResponse:
    row = _of_company(visit, webhook)
    remove_webhook(actor=visit.person, webhook=row)
    return changed(request, f"The webhook to {row.host} is removed.", to=_home(visit), moves_on=True)


def _of_company(visit: Visit, pk: int) -> Webhook:
    row = visit.company.webhooks.filter(pk=pk).first()
    if row is None:
        raise NotFound("There is no such webhook.")
    row.company = visit.company
    return row


def _home(visit: Visit) -> str:
    return reverse("webhooks", args=[visit.company.slug])


def _address(row: Webhook) -> str:
    return reverse("webhook", args=[row.company.slug, row.pk])


def _frame(visit: Visit) -> dict[str, Any]:
    at = reverse("settings", args=[visit.company.slug])
    return {"at": at, "here": "webhooks", "kinds": WebhookKind.choices, "now": timezone.now()}


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    context = {
        **_frame(visit),
        "webhooks": list(visit.company.webhooks.all()),
        "hooks": list(visit.company.hooks.filter(removed_at=None)),
        "url": request.POST.get("url", ""),
        "chosen": request.POST.getlist("kinds") if refusal is not None else WebhookKind.values,
        "refusal": refusal,
    }
    response = show(request, visit, "settings/webhooks.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response


def _one(request: HttpRequest, visit: Visit, row: Webhook, *, refusal: Refusal | None = None) -> HttpResponse:
    messages = list(row.deliveries.order_by("-pk")[:SHOWN])
    context = {
        **_frame(visit),
        "webhook": row,
        "messages_sent": messages,
        "is_waiting": row.enabled and any(message.state == DeliveryState.PENDING for message in messages),
        "url": request.POST.get("url", "") if refusal is not None else row.url,
        "chosen": request.POST.getlist("kinds") if refusal is not None else row.kinds,
        "refusal": refusal,
    }
    template = "settings/webhook_messages.html" if is_partial(request) else "settings/webhook.html"
    response = show(request, visit, template, context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response


def _secret(request: HttpRequest, visit: Visit, row: Webhook, secret: str, *, is_new: bool = True) -> HttpResponse:
    context = {
        **_frame(visit),
        "webhook": row,
        "secret": secret,
        "is_new": is_new,
        "old_stays_hours": round(OLD_SECRET_STAYS.total_seconds() / 3_600),
    }
    return show(request, visit, "settings/webhook_secret.html", context)
