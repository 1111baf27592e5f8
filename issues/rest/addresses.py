"""What stands in the API's addresses, and that a slash at their end makes no difference."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.urls import register_converter, resolve
from django.views.decorators.csrf import csrf_exempt

from issues.converters import Identifier


class Id:
    """The id of a row: a number that every database can hold."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(Identifier, "issue")
register_converter(Id, "id")


@csrf_exempt  # the view that is called asks for the token where one is due
def without_slash(request: HttpRequest, address: str) -> HttpResponseBase:
    """Answer `/api/issues/` as `/api/issues`: a redirect would lose the body of a POST."""
    match = resolve(f"/api/{address.rstrip('/')}")
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return answer
