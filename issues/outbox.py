"""The outbox of webhooks: what they are to be told is written in the transaction of the change, so that nothing is told
that did not happen, and nothing that happened is lost."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Sequence

from django.utils import timezone

from issues.models import Activity, Delivery, Webhook


def post(lines: Sequence[Activity]) -> None:
    """A delivery of each line for each webhook of its company that wants to be told of it: two statements, however many
    lines there are, and none where there are none."""
    if not lines:
        return
    webhooks: dict[int, list[Webhook]] = defaultdict(list)
    for webhook in Webhook.objects.filter(company__in={line.company_id for line in lines}, enabled=True):
        webhooks[webhook.company_id].append(webhook)
    Delivery.objects.bulk_create(
        new_delivery(webhook, line.kind, line)
        for line in lines
        for webhook in webhooks[line.company_id]
        if line.kind.partition(".")[0] in webhook.kinds
    )


def new_delivery(webhook: Webhook, kind: str, activity: Activity | None) -> Delivery:
    """A message that waits to be sent, not yet saved."""
    uid = f"msg_{secrets.token_hex(16)}"
    return Delivery(webhook=webhook, uid=uid, kind=kind, activity=activity, due_at=timezone.now())
