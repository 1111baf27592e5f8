"""How issues look in the API, and the queries that read exactly what is shown."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Aggregate, OuterRef, Prefetch, QuerySet, Subquery, TextField, prefetch_related_objects
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from issues.models import Company, Issue, Label, Reviewer, Status, Verdict
from issues.rest.scope import Scope, first, no_such_issue, split_identifier
from issues.rest.shapes import PriorityField, SecretsField, Shape, SomebodyField, StampField, texts_of

_ROW_RELATIONS = ("company", "project", "assignee_agent", "assignee_member__user", "parent")
_ROW_COLUMNS = (
    "number",
    "title",
    "status",
    "priority",
    "rank",
    "due_date",
    "version",
    "created_at",
    "updated_at",
    "closed_at",
    "company__key",
    "project__name",
    "assignee_agent__handle",
    "assignee_agent__name",
    "assignee_member__handle",
    "assignee_member__user__name",
    "assignee_member__user__username",
    "parent__number",
)
_WHOLE_RELATIONS = ("responsible__user", "created_by_member__user", "created_by_agent", "created_by_hook")
_WHOLE_COLUMNS = (
    "description",
    "secret_kinds",
    "status_changed_at",
    "started_at",
    "responsible__handle",
    "responsible__user__name",
    "responsible__user__username",
    "created_by_member__handle",
    "created_by_member__user__name",
    "created_by_member__user__username",
    "created_by_agent__handle",
    "created_by_agent__name",
    "created_by_hook__name",
)


@extend_schema_field(OpenApiTypes.STR)
class ParentField(serializers.ReadOnlyField):
    """The parent's identifier. It is of the same company, whose key is at hand."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", **options)

    def to_representation(self, value: Issue) -> str | None:
        return f"{value.company.key}-{value.parent.number}" if value.parent is not None else None


class LabelNamesField(serializers.ListField):
    """Names of labels, sorted, from the one text that `label_names` makes of them."""

    child = serializers.CharField()

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", **options)

    def to_representation(self, data: Any) -> list[str]:
        return sorted(data.label_names.split(",")) if data.label_names else []


class Joined(Aggregate):
    """The texts of a group with commas between them."""

    function = "STRING_AGG"
    template = "%(function)s(%(expressions)s, ',')"
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="GROUP_CONCAT", **context)


class IssueRowShape(Shape):
    """An issue as lists have it."""

    identifier = serializers.CharField(help_text="`ACME-12`.")
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    priority = PriorityField()
    assignee = SomebodyField("assignee_agent", "assignee_member", allow_null=True)
    project = serializers.CharField(source="project.name", allow_null=True)
    labels = LabelNamesField()
    parent = ParentField(allow_null=True)  # type: ignore[assignment] # a field, which the framework takes off the class
    due_date = serializers.DateField(allow_null=True)
    version = serializers.IntegerField(help_text="Counts changes; the ETag.")
    created_at = StampField()
    updated_at = StampField()
    closed_at = StampField(allow_null=True)


class IssueLinkShape(Shape):
    """Another issue, as one refers to it."""

    identifier = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)


class ReviewerShape(Shape):
    """Who judges the issue, and the verdict of this round."""

    reviewer = SomebodyField("member", "agent")
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    note = serializers.CharField()


class IssueShape(IssueRowShape):
    """An issue, whole."""

    description = serializers.CharField()
    secrets = SecretsField()
    responsible = SomebodyField("responsible", help_text="Who answers for it.")
    created_by = SomebodyField("created_by_member", "created_by_agent", allow_null=True)
    created_by_hook = serializers.CharField(
        source="created_by_hook.name", allow_null=True, help_text="The hook that opened it, where one did."
    )
    status_changed_at = StampField()
    started_at = StampField(allow_null=True)
    blockers = IssueLinkShape(many=True)
    reviewers = ReviewerShape(many=True)


def issue_rows(company: Company) -> QuerySet[Issue]:
    """The company's issues with what a row shows, in one query."""
    rows = company.issues.select_related(*_ROW_RELATIONS).only(*_ROW_COLUMNS)
    return rows.annotate(label_names=_label_names())


def issue_whole(scope: Scope, identifier: str) -> Issue:
    """The issue with all that is shown of it. NotFound if the company has no such issue."""
    key, number = split_identifier(identifier)
    issue = None
    if key == scope.company.key:
        issue = first(_wholes(scope.company).filter(number=number))
    if issue is None:
        raise no_such_issue(identifier)
    return issue


def as_whole(issue: Issue, *, labels: Collection[Label], blockers: Collection[Issue]) -> Issue:
    """An issue just opened with these, as `issue_whole` would read it. Looking everything up again would take a third
    of the time of opening one, so what is known to be empty is not asked for."""
    known: dict[str, QuerySet[Any]] = {"reviewers": Reviewer.objects.none(), "blockers": Issue.objects.none()}
    if blockers:
        del known["blockers"]
    vars(issue)["_prefetched_objects_cache"] = known  # where Django keeps what was read ahead
    vars(issue)["label_names"] = ",".join(label.name for label in labels)
    prefetch_related_objects([issue], *([_with_blockers()] if blockers else []))
    return issue


def links(issues: QuerySet[Issue]) -> QuerySet[Issue]:
    """Only what a link to an issue shows."""
    return issues.select_related("company").only("number", "title", "status", "company__key")


def etag(issue: Issue) -> str:
    """Names the version of the issue's own fields."""
    return f'"{issue.version}"'


def _wholes(company: Company) -> QuerySet[Issue]:
    return (
        company.issues.select_related(*_ROW_RELATIONS, *_WHOLE_RELATIONS)
        .prefetch_related(_with_blockers(), _with_reviewers())
        .only(*_ROW_COLUMNS, *_WHOLE_COLUMNS)
        .annotate(label_names=_label_names())
    )


def _label_names() -> Subquery:
    """All labels of an issue as one text: no name holds a comma. As rows of their own they took half of a list's
    time."""
    tagged = Issue.labels.through._default_manager.filter(issue=OuterRef("pk")).order_by().values("issue")
    names: QuerySet[Any, Any] = tagged.annotate(names=Joined("label__name"))
    return Subquery(names.values("names"))


def _with_blockers() -> Prefetch[Any, Any, Any]:
    return Prefetch("blockers", links(Issue.objects.order_by("number")))


def _with_reviewers() -> Prefetch[Any, Any, Any]:
    reviewers = Reviewer.objects.select_related("member__user", "agent").defer(*texts_of("agent"))
    return Prefetch("reviewers", reviewers.order_by("pk"))
