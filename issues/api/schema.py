"""The description of the API, a page that shows it, and whether it answers."""

from __future__ import annotations

import functools
import json
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from issues.rest.shapes import Shape
from issues.rest.views import Resource, operation
from trimus.headers import DIRECTIVES

_DOCS_POLICY = "; ".join("img-src 'self' data:" if line.startswith("img-src") else line for line in DIRECTIVES)
"""The page's own pictures are written into its style sheet."""


class HealthShape(Shape):
    """That the API answers."""

    status = serializers.ChoiceField(choices=["ok"])


class Health(Resource):
    permission_classes = []
    authentication_classes = []

    @operation("Get health", tag="Health", answer=HealthShape)
    def get(self) -> Any:
        """200 when this process serves and reaches its database. Needs no key."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return _OK


class _Health:
    status = "ok"


_OK = _Health()


@require_safe
def schema(_request: HttpRequest) -> HttpResponse:
    """The OpenAPI description, as JSON. It says nothing about the installation and needs no key."""
    return HttpResponse(_schema_text(), content_type="application/vnd.oai.openapi+json")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The same to read and to try, from this server's own files alone."""
    page = render(request, "api/docs.html")
    page["Content-Security-Policy"] = _DOCS_POLICY
    return page


@functools.cache
def _schema_text() -> bytes:
    # Made once a process: it follows from the code, and takes a second.
    description = SchemaGenerator().get_schema(request=None, public=True)
    return json.dumps(description, ensure_ascii=False).encode()
