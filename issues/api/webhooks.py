"""Webhooks out. Their secrets are shown once, when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from issues.actors import Actor
from issues.effects import unit
from issues.keysets import NEWEST_FIRST, OLDEST_FIRST
from issues.models import Company, Delivery, DeliveryState, Webhook, WebhookKind
from issues.policies import Right, require
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, StampField
from issues.rest.views import CompanyQuery, PageQuery, Resource, operation
from issues.services.webhooks import (
    add_webhook,
    edit_webhook,
    remove_webhook,
    rotate_secret,
    send_test,
    switch_webhook,
)

TAG = "Webhooks"


class WebhookShape(Shape):
    """A server that is told of changes."""

    id = serializers.IntegerField()
    url = serializers.CharField()
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=WebhookKind.choices))
    enabled = serializers.BooleanField()
    why_off = serializers.CharField(help_text="Why Trimus turned it off; empty where a person did, or it is on.")
    failing_since = StampField(allow_null=True)
    held_until = StampField(allow_null=True, help_text="Nothing is sent before.")
    created_at = StampField()


@dataclass(frozen=True, slots=True)
class Told:
    """A webhook with its secret."""

    row: Webhook
    secret: str


class FreshWebhookShape(WebhookShape):
    """A webhook with a secret just made."""

    secret = serializers.CharField(help_text="Shown this once.")

    def to_representation(self, instance: Told) -> dict[str, Any]:
        return WebhookShape().to_representation(instance.row) | {"secret": instance.secret}


class DeliveryShape(Shape):
    """One message to a webhook."""

    id = serializers.CharField(source="uid", help_text="As its receiver gets it in `webhook-id`, at each try the same.")
    kind = serializers.CharField(help_text="`issue.status`, `comment.written`, ...")
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    tries = serializers.IntegerField()
    status_code = serializers.IntegerField(allow_null=True, help_text="What its receiver answered last.")
    milliseconds = serializers.IntegerField(allow_null=True, help_text="How long the last try took.")
    error = serializers.CharField()
    created_at = StampField()
    due_at = StampField(help_text="Not tried before.")
    tried_at = StampField(allow_null=True)
    ended_at = StampField(allow_null=True)


class WebhookForm(Form):
    url = serializers.CharField(max_length=1_000, help_text="An http or https address; redirects are not followed.")
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=WebhookKind.choices), max_length=20, help_text="What it is told of."
    )


class NewWebhookForm(WebhookForm):
    company = serializers.CharField(required=False, default="", max_length=10, help_text="Key of the company.")


class ChangedWebhookForm(WebhookForm):
    enabled = serializers.BooleanField()


class Webhooks(Resource):
    @operation("List webhooks", tag=TAG, query=CompanyQuery, answer=WebhookShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Webhook]:
        """Owners only: an address may hold a secret of its receiver's."""
        company = _owned(self.actor, query["company"])
        return self.page(Webhook.objects.filter(company=company), OLDEST_FIRST, query)

    @operation(
        "Add a webhook", tag=TAG, body=NewWebhookForm, answer=FreshWebhookShape, status=HTTPStatus.CREATED, secret=True
    )
    def post(self, *, form: Mapping[str, Any]) -> Told:
        """Owners only. It is told of what happens from now on."""
        scope = scope_of(self.actor, form["company"])
        return Told(*add_webhook(actor=scope.actor, company=scope.company, url=form["url"], kinds=form["kinds"]))


class WebhookItem(Resource):
    @operation("Get a webhook", tag=TAG, answer=WebhookShape)
    def get(self, *, id: int) -> Webhook:
        return _webhook(self.actor, id)

    @operation("Change a webhook", tag=TAG, body=ChangedWebhookForm, answer=WebhookShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Webhook:
        """Owners only. What waits for one that is turned off is not sent."""
        webhook = _webhook(self.actor, id)
        with unit():
            if "url" in form or "kinds" in form:
                webhook = edit_webhook(actor=self.actor, webhook=webhook, url=form.get("url"), kinds=form.get("kinds"))
            if "enabled" in form:
                webhook = switch_webhook(actor=self.actor, webhook=webhook, on=form["enabled"])
        return webhook

    @operation("Remove a webhook", tag=TAG)
    def delete(self, *, id: int) -> None:
        """Owners only. Its messages are forgotten with it."""
        remove_webhook(actor=self.actor, webhook=_webhook(self.actor, id))


class WebhookSecret(Resource):
    @operation("Rotate the secret of a webhook", tag=TAG, answer=FreshWebhookShape)
    def post(self, *, id: int) -> Told:
        """A new secret. For a day messages are signed by the old one, too."""
        return Told(*rotate_secret(actor=self.actor, webhook=_webhook(self.actor, id)))


class WebhookTest(Resource):
    @operation("Try a webhook", tag=TAG, answer=DeliveryShape)
    def post(self, *, id: int) -> Delivery:
        """Send it a message that tells of nothing. What becomes of it stands among its deliveries within seconds."""
        return send_test(actor=self.actor, webhook=_webhook(self.actor, id))


class WebhookDeliveries(Resource):
    @operation("List the deliveries of a webhook", tag=TAG, query=PageQuery, answer=DeliveryShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[Delivery]:
        """The newest first."""
        rows = Delivery.objects.filter(webhook=_webhook(self.actor, id)).defer("body")
        return self.page(rows, NEWEST_FIRST, query)


def _owned(actor: Actor, key: str) -> Company:
    scope = scope_of(actor, key)
    require(scope.actor, Right.MANAGE_COMPANY, scope.company)
    return scope.company


def _webhook(actor: Actor, pk: int) -> Webhook:
    """NotFound for another company's, and Forbidden for who is no owner of its own."""
    scope, webhook = row_in_scope(actor, Webhook.objects.select_related("company"), pk)
    require(scope.actor, Right.MANAGE_COMPANY, scope.company)
    return webhook
