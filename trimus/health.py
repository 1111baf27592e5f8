"""Whether this web process can answer, for supervisors and load balancers."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, HttpResponse


def health(_request: HttpRequest) -> HttpResponse:
    """200 once the process serves and reaches its database; says nothing else, and needs no log-in."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")
