"""Projects and labels."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from issues.keysets import OLDEST_FIRST
from issues.models import Label, Project
from issues.rest.paging import Page
from issues.rest.scope import Scope, row_in_scope, scope_of
from issues.rest.shapes import Form, Shape, StampField, WrittenField
from issues.rest.views import CompanyQuery, Resource, operation
from issues.services.projects import (
    archive_project,
    create_label,
    create_project,
    delete_label,
    edit_label,
    edit_project,
    restore_project,
)

TAG = "Projects and labels"
_PROJECTS = Project.objects.select_related("company")
_LABELS = Label.objects.select_related("company")


class ProjectShape(Shape):
    """A body of work."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField()
    rules = serializers.CharField(help_text="What agents keep to in this project.")
    archived_at = StampField(allow_null=True)
    created_at = StampField()


class ProjectForm(Form):
    name = serializers.CharField(max_length=120)
    description = WrittenField(required=False, allow_blank=True)
    rules = WrittenField(required=False, allow_blank=True)


class NewProjectForm(ProjectForm):
    company = serializers.CharField(required=False, default="", max_length=10)


class LabelShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    colour = serializers.CharField(help_text="`#1f6feb`.")


class LabelForm(Form):
    name = serializers.CharField(max_length=60)
    colour = serializers.CharField(required=False, max_length=7, help_text="`#1f6feb`.")


class NewLabelForm(LabelForm):
    company = serializers.CharField(required=False, default="", max_length=10)


class Projects(Resource):
    @operation("List projects", tag=TAG, query=CompanyQuery, answer=ProjectShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Project]:
        return self.page(scope_of(self.actor, query["company"]).company.projects.all(), OLDEST_FIRST, query)

    @operation("Create a project", tag=TAG, body=NewProjectForm, answer=ProjectShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Project:
        scope, fields = _split(self, form)
        return create_project(actor=scope.actor, company=scope.company, **fields)


class ProjectItem(Resource):
    @operation("Get a project", tag=TAG, answer=ProjectShape)
    def get(self, *, id: int) -> Project:
        return row_in_scope(self.actor, _PROJECTS, id)[1]

    @operation("Change a project", tag=TAG, body=ProjectForm, answer=ProjectShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Project:
        scope, project = row_in_scope(self.actor, _PROJECTS, id)
        return edit_project(actor=scope.actor, project=project, **form)


class ProjectArchive(Resource):
    @operation("Archive a project", tag=TAG, answer=ProjectShape)
    def post(self, *, id: int) -> Project:
        """Take it out of menus; its issues keep it."""
        scope, project = row_in_scope(self.actor, _PROJECTS, id)
        return archive_project(actor=scope.actor, project=project)


class Labels(Resource):
    @operation("List labels", tag=TAG, query=CompanyQuery, answer=LabelShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[Label]:
        return self.page(scope_of(self.actor, query["company"]).company.labels.all(), OLDEST_FIRST, query)

    @operation("Create a label", tag=TAG, body=NewLabelForm, answer=LabelShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> Label:
        """Agents may where the company allows it."""
        scope, fields = _split(self, form)
        return create_label(actor=scope.actor, company=scope.company, **fields)


class ProjectRestore(Resource):
    @operation("Restore a project", tag=TAG, answer=ProjectShape)
    def post(self, *, id: int) -> Project:
        """Bring an archived one back into menus."""
        scope, project = row_in_scope(self.actor, _PROJECTS, id)
        return restore_project(actor=scope.actor, project=project)


class LabelItem(Resource):
    @operation("Get a label", tag=TAG, answer=LabelShape)
    def get(self, *, id: int) -> Label:
        return row_in_scope(self.actor, _LABELS, id)[1]

    @operation("Change a label", tag=TAG, body=LabelForm, answer=LabelShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Label:
        """Issues keep it."""
        scope, label = row_in_scope(self.actor, _LABELS, id)
        return edit_label(actor=scope.actor, label=label, **form)

    @operation("Delete a label", tag=TAG)
    def delete(self, *, id: int) -> None:
        """Issues lose it."""
        scope, label = row_in_scope(self.actor, _LABELS, id)
        delete_label(actor=scope.actor, label=label)


def _split(resource: Resource, form: Mapping[str, Any]) -> tuple[Scope, dict[str, Any]]:
    """The company that the form names, and the rest of it."""
    return scope_of(resource.actor, form["company"]), {key: form[key] for key in form if key != "company"}
