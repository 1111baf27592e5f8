"""Saved views: the filters of a board or list, under a name."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers

from issues.actors import Actor, Person
from issues.keysets import OLDEST_FIRST
from issues.models import SavedView
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, SomebodyField, StampField
from issues.rest.views import CompanyQuery, Resource, operation
from issues.services.saved_views import change_view, delete_view, save_view

TAG = "Saved views"
_QUERY = "What it filters by, as the page's address has it: `status=open&priority=high`. Empty: nothing."


class ViewShape(Shape):
    """A selection of issues that somebody comes back to."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    page = serializers.ChoiceField(choices=SavedView.Page.choices)
    query = serializers.CharField(help_text=_QUERY)
    shared = serializers.BooleanField(source="is_shared", help_text="Whether everybody in the company is offered it.")
    owner = SomebodyField("member")
    created_at = StampField()


class ViewForm(Form):
    name = serializers.CharField(max_length=60)
    query = serializers.CharField(required=False, allow_blank=True, max_length=1_000, help_text=_QUERY)
    shared = serializers.BooleanField(required=False)


class NewViewForm(ViewForm):
    company = serializers.CharField(required=False, default="", max_length=10)
    page = serializers.ChoiceField(choices=SavedView.Page.choices, required=False, default=SavedView.Page.BOARD)


class Views(Resource):
    @operation("List saved views", tag=TAG, query=CompanyQuery, answer=ViewShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[SavedView]:
        """The caller's own and those that are shared."""
        scope = scope_of(self.actor, query["company"])
        return self.page(_visible(scope.actor).filter(company=scope.company), OLDEST_FIRST, query)

    @operation("Save a view", tag=TAG, body=NewViewForm, answer=ViewShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> SavedView:
        """People only. Two of one person have different names."""
        scope = scope_of(self.actor, form["company"])
        return save_view(
            actor=scope.actor,
            company=scope.company,
            name=form["name"],
            page=SavedView.Page(form["page"]),
            query=form.get("query", ""),
            shared=form.get("shared", False),
        )


class ViewItem(Resource):
    @operation("Get a saved view", tag=TAG, answer=ViewShape)
    def get(self, *, id: int) -> SavedView:
        return row_in_scope(self.actor, _visible(self.actor), id)[1]

    @operation("Change a saved view", tag=TAG, body=ViewForm, answer=ViewShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> SavedView:
        """The caller's own."""
        scope, view = row_in_scope(self.actor, _visible(self.actor), id)
        return change_view(actor=scope.actor, view=view, **form)

    @operation("Delete a saved view", tag=TAG)
    def delete(self, *, id: int) -> None:
        """The caller's own. The issues in it are not touched."""
        scope, view = row_in_scope(self.actor, _visible(self.actor), id)
        delete_view(actor=scope.actor, view=view)


def _visible(actor: Actor) -> QuerySet[SavedView]:
    seen = Q(is_shared=True)
    if isinstance(actor, Person):
        seen |= Q(member__user=actor.user)
    return SavedView.objects.filter(seen).select_related("company", "member__user")
