"""What stands in the API's addresses, and that a slash at their end makes no difference."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.urls import register_converter, resolve
from django.urls.converters import StringConverter
from django.views.decorators.csrf import csrf_exempt


class IdentifierConverter(StringConverter):
    """An issue's identifier: `ACME-12`, in capital letters or not."""

    regex = "[A-Za-z][A-Za-z0-9]{1,9}-[0-9]{1,9}"


class IdConverter:
    """The id of a row: a number that every database can hold."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(IdentifierConverter, "identifier")
register_converter(IdConverter, "id")


@csrf_exempt  # the view that is called asks for the token where one is due
def without_slash(request: HttpRequest, address: str) -> HttpResponseBase:
    """Answer `/api/issues/` as `/api/issues`: a redirect would lose the body of a POST."""
    match = resolve(f"/api/{address.rstrip('/')}")
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return answer
