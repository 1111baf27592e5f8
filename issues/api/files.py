"""Files that people attach to issues."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from issues import blobs
from issues.keysets import OLDEST_FIRST
from issues.models import Attachment, Extraction
from issues.rest.paging import Page
from issues.rest.problems import MEDIA_TYPE, ProblemShape
from issues.rest.scope import issue_in_scope, row_in_scope
from issues.rest.shapes import Form, SecretsField, Shape, SomebodyField, StampField
from issues.rest.views import PageQuery, Resource, operation
from issues.services.files import attach_file

TAG = "Attachments"


class AttachmentShape(Shape):
    """A file on an issue."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    media_type = serializers.CharField(help_text="Told from its content.")
    size = serializers.IntegerField(source="blob.size", help_text="Bytes.")
    sha256 = serializers.CharField(source="blob_id")
    extraction = serializers.ChoiceField(choices=Extraction.choices, help_text="Whether agents can read its text.")
    why_unread = serializers.CharField(help_text="What kept its text from being read.")
    secrets = SecretsField()
    uploaded_by = SomebodyField("uploaded_by", allow_null=True)
    created_at = StampField()


class AttachmentTextShape(AttachmentShape):
    """A file on an issue, with what can be read of it."""

    text = serializers.CharField(help_text="As agents are shown it; empty where nothing can be read.")


class AttachmentForm(Form):
    file = serializers.FileField(max_length=255, help_text="At most 25 MiB.")


class Attachments(Resource):
    parser_classes = [MultiPartParser]

    @operation("List attachments", tag=TAG, query=PageQuery, answer=AttachmentShape, paged=True)
    def get(self, *, identifier: str, query: Mapping[str, Any]) -> Page[Attachment]:
        _, issue = issue_in_scope(self.actor, identifier)
        return self.page(_rows().filter(issue=issue), OLDEST_FIRST, query)

    @operation("Attach a file", tag=TAG, body=AttachmentForm, answer=AttachmentShape, status=HTTPStatus.CREATED)
    def post(self, *, identifier: str, form: Mapping[str, Any]) -> Attachment:
        """As multipart/form-data. Agents are shown the text that can be read from it."""
        scope, issue = issue_in_scope(self.actor, identifier)
        file = form["file"]
        file.seek(0)  # a call that the database ended is made anew
        return attach_file(actor=scope.actor, issue=issue, name=file.name, content=file.read())


class AttachmentItem(Resource):
    @operation("Get an attachment", tag=TAG, answer=AttachmentTextShape)
    def get(self, *, id: int) -> Attachment:
        """What is known of it and the text that was read from it; its bytes are at `content`."""
        return row_in_scope(self.actor, _rows().defer(None), id)[1]


class AttachmentContent(Resource):
    @extend_schema(
        operation_id="download_an_attachment",
        summary="Download an attachment",
        tags=[TAG],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            ("default", MEDIA_TYPE): OpenApiResponse(ProblemShape, "Refused, and why."),
        },
    )
    def get(self, _request: Request, *, id: int) -> FileResponse:
        """Its bytes. Always as a download, and never as a type that a browser would run."""
        _, attachment = row_in_scope(self.actor, _rows(), id)
        return FileResponse(
            blobs.open_bytes(attachment.blob_id),
            as_attachment=True,
            filename=attachment.name,
            content_type="application/octet-stream",
        )


def _rows() -> QuerySet[Attachment]:
    return Attachment.objects.select_related("blob", "uploaded_by__user", "issue__company").defer("text")
