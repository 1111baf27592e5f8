"""The company's data as one file."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from agents.export import export_pieces
from agents.services.exports import begin_export
from engine.routing import secrets_of
from issues.pages import Visit, company_page


@require_POST
@company_page
def export(_request: HttpRequest, visit: Visit) -> StreamingHttpResponse:
    """Written while it is sent."""
    company = begin_export(actor=visit.person, company=visit.company)
    answer = StreamingHttpResponse(
        export_pieces(company, known_secrets=secrets_of(company)), content_type="application/zip"
    )
    name = f"{company.slug}-{timezone.now():%Y-%m-%d}.zip"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
