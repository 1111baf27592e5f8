"""Every refusal and error of the API, as problem+json (RFC 9457)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.exceptions import ValidationError as ModelValidationError
from django.http import Http404
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response

from issues.refusals import Invalid, Refusal, TooOften

MEDIA_TYPE = "application/problem+json"
BODY = "body"
"""Stands for the field where no single one is wrong."""

TOO_OFTEN = "This key or session calls too often. Retry-After says for how many seconds to wait."

Errors = dict[str, list[str]]


class ProblemShape(serializers.Serializer[Any]):
    """Why a call was refused. Some types carry more: a checkout its holder, a stale write the issue as it is."""

    type = serializers.CharField(help_text="A name for this kind of problem: `urn:trimus:problem:...`.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What is wrong here, in words.")
    hint = serializers.CharField(required=False, help_text="What to do instead.")
    errors = serializers.DictField(  # type: ignore[assignment] # a field, which the framework takes off the class
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="For each field or parameter what is wrong with it.",
    )

    class Meta:
        ref_name = "Problem"


class Malformed(exceptions.ParseError):
    """The request cannot be read at all."""


class BodyTooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body is too large."
    default_code = "too_large"


def answer_problem(error: Exception, _context: Mapping[str, Any]) -> Response | None:
    """The answer to an error that a view raised; None for a bug, which goes on to Django."""
    match error:
        case Refusal():
            return refused(error)
        case exceptions.ValidationError():
            return _invalid(dict(_flatten(error.detail)))
        case ModelValidationError():
            return _invalid(dict(_flatten(getattr(error, "message_dict", error.messages))))
        case exceptions.APIException():
            return _from_framework(error)
        case Http404():
            return problem(HTTPStatus.NOT_FOUND, "not-found", "There is nothing at this address.")
        case PermissionDenied():
            return problem(HTTPStatus.FORBIDDEN, "forbidden", str(error) or "This is not allowed.")
        case RequestDataTooBig():
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", BodyTooLarge.default_detail)
        case _:
            return None


def problem(
    code: int, kind: str, detail: str, *, hint: str = "", errors: Errors | None = None, **more: Any
) -> Response:
    """A problem document. `kind` is its type's last word; `more` are further members."""
    document: dict[str, Any] = {
        "type": f"urn:trimus:problem:{kind}",
        "title": kind.replace("-", " ").capitalize(),
        "status": int(code),
        "detail": _sendable(detail),
    }
    if hint:
        document["hint"] = _sendable(hint)
    if errors:
        document["errors"] = {_sendable(name): [*map(_sendable, messages)] for name, messages in errors.items()}
    return Response(document | more, status=code, content_type=MEDIA_TYPE)


def refused(refusal: Refusal, **more: Any) -> Response:
    """The answer to a refusal. `more` are further members."""
    errors = {refusal.field: [refusal.reason]} if isinstance(refusal, Invalid) and refusal.field else None
    kind = _kebab(type(refusal).__name__)
    answer = problem(
        refusal.http_status, kind, refusal.reason, hint=refusal.hint, errors=errors, **refusal.facts, **more
    )
    if isinstance(refusal, TooOften):
        answer["Retry-After"] = str(refusal.seconds)
    return answer


def _invalid(errors: Errors) -> Response:
    detail = "; ".join(f"{field}: {' '.join(messages)}" for field, messages in errors.items())
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", detail, errors=errors)


def _from_framework(error: exceptions.APIException) -> Response:
    detail = TOO_OFTEN if isinstance(error, exceptions.Throttled) else str(error.detail)
    answer = problem(error.status_code, _kind_of(error), detail)
    if challenge := getattr(error, "auth_header", None):
        answer["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        answer["Retry-After"] = str(math.ceil(wait))
    return answer


def _kind_of(error: exceptions.APIException) -> str:
    match error:
        case exceptions.ParseError():
            return "malformed"
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return "unauthenticated"
        case exceptions.PermissionDenied():
            return "forbidden"
        case exceptions.Throttled():
            return "too-many-requests"
        case _:
            return error.default_code.replace("_", "-")


def _flatten(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested errors as `field.inner` with its messages."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            name = BODY if key == "non_field_errors" else str(key)
            yield from _flatten(value, f"{path}.{name}" if path else name)
    elif isinstance(detail, list) and any(isinstance(entry, Mapping) for entry in detail):
        for place, entry in enumerate(detail):
            yield from _flatten(entry, f"{path}.{place}" if path else str(place))
    else:
        yield path or BODY, [str(message) for message in (detail if isinstance(detail, list) else [detail])]


def _sendable(text: str) -> str:
    """The text with halves of surrogate pairs written out: what a refusal quotes may not even be text."""
    return text.encode(errors="backslashreplace").decode()


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
