"""What an issue holds beside words: findings, workspace files with their versions, attachments."""

from __future__ import annotations

import re

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from issues import blobs
from issues.diffs import diff_lines
from issues.markdown import Place
from issues.models import Attachment, FileVersion, Finding, WorkspaceFile
from issues.names import Names
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound
from issues.services.files import attach_file
from issues.views.lookup import find_issue

SHOWN_BYTES = 256 * 1024
"""Larger files are offered for download instead of shown."""

_SANDBOX = "sandbox; default-src 'none'"
_SHOWN_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@require_safe
@company_page
def finding(request: HttpRequest, visit: Visit, identifier: str, finding: int) -> HttpResponse:
    issue = find_issue(visit, identifier)
    found = Finding.objects.filter(issue=issue, pk=finding).first()
    if found is None:
        raise NotFound("There is no such finding.")
    names = Names(visit.company)
    context = {
        "issue": issue,
        "finding": found,
        "agent": names.agents.get(found.agent_id),
        "place": Place(visit.company.key, names.handles),
    }
    return show(request, visit, "issues/finding.html", context)


@require_safe
@company_page
def workspace_file(request: HttpRequest, visit: Visit, identifier: str, file: int) -> HttpResponse:
    """A file at one of its versions (the newest unless asked), with what that version changed."""
    issue = find_issue(visit, identifier)
    found = WorkspaceFile.objects.filter(issue=issue, pk=file).first()
    versions = list(FileVersion.objects.filter(file=found).select_related("blob").order_by("-number"))
    if found is None or not versions:
        raise NotFound("There is no such file.")
    shown = next((row for row in versions if str(row.number) == request.GET.get("version")), versions[0])
    before = next((row for row in versions if row.number == shown.number - 1), None)
    text = _text(shown)
    names = Names(visit.company)
    context = {
        "issue": issue,
        "file": found,
        "versions": [{"row": row, "agent": names.agents.get(row.agent_id or 0)} for row in versions],
        "shown": shown,
        "text": text,
        "diff": diff_lines(_text(before) or "", text or "") if before is not None else [],
    }
    return show(request, visit, "issues/file.html", context)


@require_safe
@company_page
def attachment(request: HttpRequest, visit: Visit, attachment: int, name: str) -> HttpResponseBase:  # noqa: ARG001
    """The bytes, as a download that no page can run; pictures can stand in a text."""
    found = Attachment.objects.select_related("blob").filter(issue__company=visit.company, pk=attachment).first()
    if found is None:
        raise NotFound("There is no such attachment.")
    is_picture = found.media_type in _SHOWN_IMAGES
    response = FileResponse(
        blobs.open_bytes(found.blob_id),
        as_attachment=not is_picture,
        filename=found.name,
        content_type=found.media_type if is_picture else "application/octet-stream",
    )
    response.headers["Content-Security-Policy"] = _SANDBOX
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@require_POST
@company_page
def attach(request: HttpRequest, visit: Visit, identifier: str) -> HttpResponse:
    """Attach what was sent. With `cite` the answer is how a comment names it, which the composer puts in."""
    issue = find_issue(visit, identifier)
    files = request.FILES.getlist("file")
    if not files:
        raise Invalid("Choose a file first.", field="file")
    attached = [
        attach_file(actor=visit.person, issue=issue, name=file.name or "file", content=file.read()) for file in files
    ]
    said = f"{files[0].name} is attached." if len(files) == 1 else f"{len(files)} files are attached."
    if "cite" in request.POST:
        return JsonResponse({"said": said, "text": "\n".join(_citation(visit, one) for one in attached)})
    return changed(request, said, to=reverse("issue", args=[visit.company.slug, identifier]))


def _citation(visit: Visit, attachment: Attachment) -> str:
    """The attachment as a text names it: a picture as one, anything else as a link."""
    address = reverse("attachment", args=[visit.company.slug, attachment.pk, attachment.name])
    label = re.sub(r"([\\\[\]])", r"\\\1", attachment.name)
    return f"{'!' if attachment.media_type in _SHOWN_IMAGES else ''}[{label}]({address})"


def _text(version: FileVersion | None) -> str | None:
    """The content as text; None if it is too large to show."""
    if version is None or version.blob.size > SHOWN_BYTES:
        return None
    with blobs.open_bytes(version.blob_id) as content:
        return content.read().decode("utf-8", "replace")
