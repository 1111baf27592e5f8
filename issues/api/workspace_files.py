"""Files of issues' workspaces: what agents write, each with its versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from issues import blobs
from issues.keysets import NEWEST_FIRST, OLDEST_FIRST
from issues.models import FileVersion, WorkspaceFile
from issues.refusals import NotFound
from issues.rest.paging import Page
from issues.rest.problems import MEDIA_TYPE, ProblemShape
from issues.rest.scope import issue_in_scope, row_in_scope
from issues.rest.shapes import Query, SecretsField, Shape, SomebodyField, StampField, texts_of
from issues.rest.views import PageQuery, Resource, operation

TAG = "Files"
SHOWN_BYTES = 256 * 1024
"""Up to here a file is answered as text, too."""


class FileVersionShape(Shape):
    """One content of a file. It is never changed."""

    version = serializers.IntegerField(source="number", help_text="From 1.")
    size = serializers.IntegerField(source="blob.size", help_text="Bytes.")
    sha256 = serializers.CharField(source="blob_id")
    secrets = SecretsField()
    written_by = SomebodyField("agent", allow_null=True, help_text="Null: brought by an import.")
    run = serializers.IntegerField(source="run_id", allow_null=True)
    created_at = StampField()


class FileRowShape(FileVersionShape):
    """A file at its newest version."""

    id = serializers.IntegerField(source="file_id")
    path = serializers.CharField(source="file.path", help_text="Within the workspace of the issue.")


class FileShape(FileRowShape):
    """A file at one of its versions, with its text."""

    issue = serializers.CharField()
    text = serializers.CharField(allow_null=True, help_text="Null: too large, or no UTF-8. Its bytes are at `content`.")

    def to_representation(self, instance: ReadFile) -> dict[str, Any]:
        shown = FileRowShape().to_representation(instance.version)
        return shown | {"issue": instance.issue, "text": instance.text}


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A version that was read."""

    version: FileVersion
    issue: str
    text: str | None


class VersionQuery(Query):
    version = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="The newest unless said."
    )


class IssueFiles(Resource):
    @operation("List the files of an issue", tag=TAG, query=PageQuery, answer=FileRowShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[FileVersion]:
        """What its agents wrote, each file at its newest version. What people attach is at `attachments`."""
        _, issue = issue_in_scope(self.actor, identifier)
        page = self.page(_files().filter(issue=issue).annotate(newest=_newest()), OLDEST_FIRST, query)
        return Page(_newest_of(page.rows), page.cursor)


class FileItem(Resource):
    @operation("Get a file", tag=TAG, query=VersionQuery, answer=FileShape)
    def get(self, *, id: int, query: Mapping[str, Any]) -> ReadFile:
        """At its newest version or the one that is named, with its text if that is not too long."""
        _, file = row_in_scope(self.actor, _files(), id)
        version = _version(file, query.get("version"))
        return ReadFile(version, file.issue.identifier, _text(version))


class FileVersions(Resource):
    @operation("List the versions of a file", tag=TAG, query=PageQuery, answer=FileVersionShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[FileVersion]:
        """The newest first."""
        _, file = row_in_scope(self.actor, _files(), id)
        return self.page(_versions().filter(file=file), NEWEST_FIRST, query)


class FileContent(Resource):
    @extend_schema(
        operation_id="download_a_file",
        summary="Download a file",
        tags=[TAG],
        parameters=[OpenApiParameter("version", int, description="The newest unless said.")],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            ("default", MEDIA_TYPE): OpenApiResponse(ProblemShape, "Refused, and why."),
        },
    )
    def get(self, request: Request, *, id: int) -> FileResponse:
        """Its bytes. Always as a download, and never as a type that a browser would run."""
        reader = VersionQuery(data=request.query_params.dict())
        reader.is_valid(raise_exception=True)
        _, file = row_in_scope(self.actor, _files(), id)
        version = _version(file, reader.validated_data.get("version"))
        return FileResponse(
            blobs.open_bytes(version.blob_id),
            as_attachment=True,
            filename=file.path.rpartition("/")[2],
            content_type="application/octet-stream",
        )


def _files() -> QuerySet[WorkspaceFile]:
    return WorkspaceFile.objects.select_related("issue__company").defer("issue__description")


def _versions() -> QuerySet[FileVersion]:
    return FileVersion.objects.select_related("file", "blob", "agent").defer(*texts_of("agent"))


def _newest() -> Subquery:
    return Subquery(FileVersion.objects.filter(file=OuterRef("pk")).order_by("-number").values("pk")[:1])


def _newest_of(files: Sequence[Any]) -> list[FileVersion]:
    found = _versions().in_bulk([file.newest for file in files])
    return [found[file.newest] for file in files]


def _version(file: WorkspaceFile, number: int | None) -> FileVersion:
    versions = _versions().filter(file=file).order_by("-number")
    found = versions.first() if number is None else versions.filter(number=number).first()
    if found is None:
        raise NotFound(f"“{file.path}” has no version {number}.")
    return found


def _text(version: FileVersion) -> str | None:
    if version.blob.size > SHOWN_BYTES:
        return None
    try:
        with blobs.open_bytes(version.blob_id) as content:
            return content.read().decode()
    except UnicodeDecodeError:
        return None
