"""Routines: work that comes round by the clock, and what became of each time."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from agents.models import Routine, RoutineFire
from agents.services.routines import create_routine, edit_routine, fire_routine_now, switch_routine
from issues.effects import unit
from issues.keysets import NEWEST_FIRST, OLDEST_FIRST
from issues.rest.paging import Page
from issues.rest.references import agent_named, member_named, project_named
from issues.rest.scope import Scope, row_in_scope, scope_of
from issues.rest.shapes import Form, PriorityField, Shape, SomebodyField, StampField, WrittenField, texts_of
from issues.rest.views import CompanyQuery, PageQuery, Resource, operation

TAG = "Routines"
_CRON = "Five fields, like `30 9 * * 1-5`: minute, hour, day of the month, month, day of the week."


class RoutineRowShape(Shape):
    """Work that comes round by the clock."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    cron = serializers.CharField(help_text=_CRON)
    time_zone = serializers.CharField(help_text="In which the schedule is read.")
    title = serializers.CharField(help_text="Of the issues it opens.")
    assignee = SomebodyField("assignee")
    enabled = serializers.BooleanField()
    next_fire_at = StampField(allow_null=True, help_text="Null while it is off.")


class RoutineShape(RoutineRowShape):
    """A routine with the issue that it opens."""

    body = serializers.CharField(help_text="The description of the issues it opens.")
    priority = PriorityField()
    project = serializers.CharField(source="project.name", allow_null=True)
    responsible = SomebodyField("responsible")
    created_at = StampField()


class FireShape(Shape):
    """One time of a routine: the issue that it opened, or why it opened none."""

    id = serializers.IntegerField()
    due_at = StampField()
    fired_at = StampField()
    issue = serializers.CharField(source="issue.identifier", allow_null=True)
    skipped_because = serializers.CharField()


class RoutineForm(Form):
    name = serializers.CharField(max_length=120)
    cron = serializers.CharField(max_length=120, help_text=_CRON)
    title = serializers.CharField(max_length=300, help_text="Of the issues it opens.")
    assignee = serializers.CharField(help_text="The handle or name of an agent.")
    time_zone = serializers.CharField(required=False, max_length=64, help_text="The company's unless said.")
    body = WrittenField(required=False, allow_blank=True)
    priority = PriorityField(required=False)
    project = serializers.CharField(required=False, allow_null=True)
    enabled = serializers.BooleanField(required=False)


class NewRoutineForm(RoutineForm):
    company = serializers.CharField(required=False, default="", max_length=10)
    responsible = serializers.CharField(
        required=False, help_text="The handle or name of who answers for its issues; the caller unless said."
    )


class Routines(Resource):
    @operation("List routines", tag=TAG, query=CompanyQuery, answer=RoutineRowShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Routine]:
        scope = scope_of(self.actor, query["company"])
        rows = _rows().filter(company=scope.company).defer("body", *texts_of("assignee"))
        return self.page(rows, OLDEST_FIRST, query)

    @operation("Create a routine", tag=TAG, body=NewRoutineForm, answer=RoutineShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Routine:
        """It opens an issue for its agent at each time of its schedule, unless the one before is still open."""
        scope = scope_of(self.actor, form["company"])
        fields = _resolved(scope, form)
        return create_routine(actor=scope.actor, company=scope.company, **fields)


class RoutineItem(Resource):
    @operation("Get a routine", tag=TAG, answer=RoutineShape)
    def get(self, *, id: int) -> Routine:
        return row_in_scope(self.actor, _rows(), id)[1]

    @operation("Change a routine", tag=TAG, body=RoutineForm, answer=RoutineShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Routine:
        """Change what is given, all or nothing. Issues that it opened stay as they are; one that is turned on counts
        from now."""
        scope, routine = row_in_scope(self.actor, _rows(), id)
        fields = _resolved(scope, form)
        enabled = fields.pop("enabled", None)
        with unit():  # both or neither
            if fields:
                routine = edit_routine(actor=scope.actor, routine=routine, **fields)
            if enabled is not None:
                routine = switch_routine(actor=scope.actor, routine=routine, enabled=enabled)
        return routine


class RoutineFires(Resource):
    @operation("List the fires of a routine", tag=TAG, query=PageQuery, answer=FireShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[RoutineFire]:
        """The newest first."""
        _, routine = row_in_scope(self.actor, _rows(), id)
        rows = routine.fires.select_related("issue__company").defer("issue__description")
        return self.page(rows, NEWEST_FIRST, query)

    @operation("Fire a routine", tag=TAG, answer=FireShape, status=HTTPStatus.CREATED)
    def post(self, *, id: int) -> RoutineFire:
        """Open its issue now, out of turn, whatever is still open. Its own times stay as they are."""
        scope, routine = row_in_scope(self.actor, _rows(), id)
        return fire_routine_now(actor=scope.actor, routine=routine)


def _rows() -> QuerySet[Routine]:
    return Routine.objects.select_related("company", "assignee", "responsible__user", "project")


def _resolved(scope: Scope, form: Mapping[str, Any]) -> dict[str, Any]:
    """The form with what its words name in place of the words."""
    fields = {name: value for name, value in form.items() if name != "company"}
    if "assignee" in fields:
        fields["assignee"] = agent_named(scope, fields["assignee"], "assignee")
    if "responsible" in fields:
        fields["responsible"] = member_named(scope, fields["responsible"], "responsible")
    if "project" in fields:
        fields["project"] = project_named(scope.company, fields["project"])
    return fields
