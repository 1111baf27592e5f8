"""The frame of a resource: an operation says once what comes in and what goes out, and is checked and documented by
that."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from issues.actors import Actor
from issues.keysets import Order
from issues.refusals import Invalid, NotFound
from issues.rest import once
from issues.rest.paging import DEFAULT_LIMIT, MAX_LIMIT, Page, read_page
from issues.rest.problems import MEDIA_TYPE, ProblemShape
from issues.rest.shapes import CommaField, Form, Query, Shape

Handler = Callable[..., Any]


class PageQuery(Query):
    """Every list comes in pages."""

    cursor = serializers.CharField(required=False, max_length=500, help_text="As the `next` link has it.")
    limit = serializers.IntegerField(
        required=False, default=DEFAULT_LIMIT, min_value=1, max_value=MAX_LIMIT, help_text="Rows of a page at most."
    )


class CompanyQuery(PageQuery):
    """A list in one company."""

    company = serializers.CharField(
        required=False, default="", max_length=10, help_text="Key of the company; needed by who is in several."
    )


class WideQuery(PageQuery):
    """A list whose rows hold whole texts."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # Not as an attribute: the framework has one of that name.
        few = CommaField(child=serializers.CharField(), required=False, help_text=_FEW)
        return {**super().get_fields(), FIELDS: few}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers, with headers of its own."""

    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


FIELDS = "fields"
_FEW = "Only these fields of each row, with commas between them; all unless said."
_ONCE = "Any name for this call: sent again under it within a day, it makes nothing and gets the first answer."


class Resource(APIView):
    """A resource of the API. Its methods are operations."""

    @property
    def actor(self) -> Actor:
        """Who calls. The permission has made sure that there is somebody."""
        return cast("Actor", self.request.auth)

    def page(self, rows: Any, order: Order, query: Mapping[str, Any]) -> Page[Any]:
        """The page of a list that the query asks for."""
        return read_page(rows, order, cursor=query.get("cursor", ""), limit=query["limit"])

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        # What was read a moment ago may be wrong now; nothing between us and the client keeps it.
        answer.headers.setdefault("Cache-Control", "private, no-store")
        return answer


class Nowhere(Resource):
    """Any address below the API that is none."""

    permission_classes = []
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound("There is nothing at this address.")


def operation(
    summary: str,
    *,
    tag: str,
    query: type[Query] | None = None,
    body: type[Form] | None = None,
    answer: type[Shape] | None = None,
    paged: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
    secret: bool = False,
    kept: bool = False,
) -> Callable[[Handler], Any]:
    """Make a method one operation of the API.

    It is called with the parts of the address, and by keyword with `query` and `form` as far as they are declared,
    both checked. What it answers is shown as `answer`, or as a page of them; with neither there is no body (204).
    `headers` are those it looks at, with what they are for. Its docstring is its description. One that makes something
    (201, or 202 for what comes later), or whose answer is to be `kept` all the same, can be sent again under an
    idempotency key, unless what it answers is `secret`.
    """
    shape = answer() if answer is not None else None
    code = status if answer is not None else HTTPStatus.NO_CONTENT
    is_kept = (kept or code in (HTTPStatus.CREATED, HTTPStatus.ACCEPTED)) and not secret

    def decorate(handler: Handler) -> Any:
        @functools.wraps(handler)
        def handle(view: Resource, request: Request, **parts: Any) -> Response:
            if query is not None:
                parts["query"] = _read(query, _joined(request))
            fields = _chosen(shape, parts.get("query", {}).get(FIELDS))
            if body is not None:
                parts["form"] = _read(body, request.data, partial=request.method == "PATCH")

            def answer_call() -> Response:
                result = handler(view, **parts)
                if isinstance(result, Response):
                    return result
                return _respond(request, shape, result, code, fields)

            if is_kept and once.HEADER in request.headers:
                return once.answer_once(request, view.actor, answer_call)
            return answer_call()

        looked_at = {**(headers or {}), **({once.HEADER: _ONCE} if is_kept else {})}
        return _document(summary, tag, query, body, answer, paged, code, looked_at)(handle)

    return decorate


def _read(form: type[Form], data: Any, *, partial: bool = False) -> Mapping[str, Any]:
    reader = form(data=data, partial=partial)
    reader.is_valid(raise_exception=True)
    values: Mapping[str, Any] = reader.validated_data
    return values


def _joined(request: Request) -> dict[str, str]:
    """The query, where a parameter that is given twice counts as one with a comma."""
    return {name: ",".join(values) for name, values in request.query_params.lists()}


def _chosen(shape: Shape | None, names: Sequence[str] | None) -> Sequence[str] | None:
    """The fields of a row that are asked for; None for all. Invalid for one that rows do not have."""
    for name in names or ():
        if shape is None or name not in shape.fields:
            known = ", ".join(shape.fields) if shape is not None else ""
            raise Invalid(f"Rows have no field “{name[:60]}”.", f"There are: {known}.", field=FIELDS)
    return names


def _respond(
    request: Request, shape: Shape | None, result: Any, code: HTTPStatus, fields: Sequence[str] | None
) -> Response:
    answer = result if isinstance(result, Answer) else Answer(result)
    return Response(_show(request, shape, answer.body, fields), status=code, headers=dict(answer.headers))


def _show(request: Request, shape: Shape | None, result: Any, fields: Sequence[str] | None) -> Any:
    if shape is None:
        return None
    if not isinstance(result, Page):
        return shape.to_representation(result)
    address = None
    if result.cursor:
        query = request.query_params.copy()
        query["cursor"] = result.cursor
        address = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
    rows = [shape.to_representation(row) for row in result.rows]
    if fields is not None:
        rows = [{name: row[name] for name in fields} for row in rows]
    return {"results": rows, "next": address}


def _document(
    summary: str,
    tag: str,
    query: type[Query] | None,
    body: type[Form] | None,
    answer: type[Shape] | None,
    paged: bool,
    code: HTTPStatus,
    headers: Mapping[str, str],
) -> Callable[[Handler], Any]:
    is_wide = query is not None and issubclass(query, WideQuery)
    shown = _page_of(answer, is_wide) if answer is not None and paged else answer
    parameters: list[Any] = [query] if query is not None else []
    parameters += [
        OpenApiParameter(name, str, OpenApiParameter.HEADER, description=text) for name, text in headers.items()
    ]
    document: Callable[[Handler], Any] = extend_schema(
        operation_id=summary.lower().replace(" ", "_"),
        summary=summary,
        tags=[tag],
        parameters=parameters,
        request=body,
        responses={
            code: shown or OpenApiResponse(description="Done."),
            ("default", MEDIA_TYPE): OpenApiResponse(ProblemShape, "Refused, and why."),
        },
    )
    return document


class _Partly:
    """Documents rows of which no field has to be there."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields: dict[str, serializers.Field[Any, Any, Any, Any]] = super().get_fields()  # type: ignore[misc]
        for one in fields.values():
            one.required = one.read_only = False
        return fields


@functools.cache
def _page_of(row: type[Shape], is_wide: bool) -> type[serializers.Serializer[Any]]:
    """The documentation of a page of such rows, of which `is_wide` ones may have some fields alone."""
    name = row.__name__.removesuffix("Shape")
    row = type(f"{name}RowShape", (_Partly, row), {"__doc__": row.__doc__}) if is_wide else row
    return type(
        f"{name}Page",
        (serializers.Serializer,),
        {
            "__doc__": "Some rows of a list, and where the next ones are.",
            "results": row(many=True),
            "next": serializers.URLField(allow_null=True, help_text="Null on the last page."),
        },
    )
