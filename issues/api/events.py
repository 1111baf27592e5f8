"""What changes in a company, as it changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from issues.actors import Person, Worker
from issues.events import READER, RETRY
from issues.models import Activity, Company
from issues.numbers import as_number
from issues.rest.problems import MEDIA_TYPE, ProblemShape
from issues.rest.rates import key_of
from issues.rest.scope import Scope, scope_of
from issues.rest.shapes import Query
from issues.rest.views import Resource


class EventsQuery(Query):
    company = serializers.CharField(
        required=False, default="", max_length=10, help_text="Key of the company; needed by who is in several."
    )
    after = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**63 - 1,
        help_text="The id of the last event seen. Last-Event-ID goes before it. Without either, it begins now.",
    )


class Events(Resource):
    @extend_schema(
        operation_id="follow_the_events_of_a_company",
        summary="Follow the events of a company",
        tags=["History and reviews"],
        parameters=[EventsQuery, OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER)],
        responses={
            (200, "text/event-stream"): OpenApiTypes.STR,
            ("default", MEDIA_TYPE): OpenApiResponse(ProblemShape, "Refused, and why."),
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """A stream of server-sent events that stays open. `change` has as data `kind` (as in activity), `issue` (an
        identifier) and `run`, each null where there is none, and its id is that of the line of activity; it carries no
        text: ask for what you want to know. What happened in the last seconds may come twice. `late` is true where a
        lower id comes after a higher one. `reset` says that more was missed than is told again: read anew what you
        show. `ping` keeps the line open, and `bye` ends it, when the key or the membership ends."""
        query = _read(request)
        scope = scope_of(self.actor, query["company"])
        # A client that comes back asks at the same address again: its header is what it saw last.
        seen = as_number(request.headers.get("Last-Event-ID", ""))
        after = seen if seen is not None else query.get("after")
        going_on = {
            "after": after if after is not None else _newest(scope.company),
            "reader": _reader(request, scope),
        }
        # The server that serves this for real goes on from here: it needs no thread for who waits (`issues.events`).
        return HttpResponse(RETRY, content_type="text/event-stream", headers={READER: json.dumps(going_on)})


def _read(request: Request) -> Mapping[str, Any]:
    reader = EventsQuery(data=request.query_params.dict())
    reader.is_valid(raise_exception=True)
    values: Mapping[str, Any] = reader.validated_data
    return values


def _newest(company: Company) -> int:
    return Activity.objects.filter(company=company).order_by("-pk").values_list("pk", flat=True).first() or 0


def _reader(request: Request, scope: Scope) -> dict[str, Any]:
    """Who listens to what: whatever of it ends, ends the stream."""
    actor = scope.actor
    member = actor.member if isinstance(actor, Person) else None
    return {
        "company": scope.company.pk,
        "prefix": scope.company.key,
        "member": member.pk if member is not None else None,
        "agent": actor.agent.pk if isinstance(actor, Worker) else None,
        "key": key_of(request),
    }
