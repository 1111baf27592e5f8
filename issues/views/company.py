"""The company's settings: who it is, how far agents go by themselves, how long texts are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from issues.numbers import as_number
from issues.pages import Visit, changed, company_page, show
from issues.quota import allowed_bytes
from issues.refusals import Invalid, Refusal
from issues.services.companies import change_company, delete_company
from issues.zones import zone_names


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in plain words. `unit` stands for numbers; without one it is on or off."""

    field: str
    label: str
    help: str
    unit: str = ""


TEXTS = ("name", "mission", "norms", "time_zone")
LIMITS = (
    Setting("hop_limit", "Agents in a row", "How many may wake one another before a person has to.", "agents"),
    Setting("continue_limit", "Runs in a row on an own issue", "How often an agent goes on without a person.", "runs"),
    Setting("runs_per_hour", "Runs in an hour", "Of one agent on one issue. More wait for their turn.", "runs"),
    Setting("max_concurrent_runs", "Runs at once", "In the whole company. More wait for their turn.", "runs"),
    Setting("prompt_budget", "Longest prompt", "What an agent is shown of an issue at most.", "tokens"),
    Setting(
        "comments_wake_assignee",
        "Comments wake the assignee",
        "A person's comment wakes the agent that has the issue, unless it names another.",
    ),
    Setting("agents_may_create_labels", "Agents make labels", "One that an agent names and that is missing is made."),
    Setting("hires_on_probation", "Hires begin on probation", "They ask before they close, assign or open an issue."),
    Setting("checkpoints", "Sum up long issues", "What does not fit into a prompt any more stands in it as a summary."),
)
RETENTION = (
    Setting(
        "retention_days",
        "Keep prompts and replies",
        "Then their texts are dropped. Figures, actions and comments stay.",
        "days",
    ),
)
FILES = (
    Setting(
        "file_quota_mib",
        "Room for files",
        "Attachments and every version of workspace files together. Above it nothing more is taken.",
        "MiB",
    ),
)

_PARTS = {"limits": LIMITS, "retention": RETENTION, "files": FILES}


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def settings(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Four forms, each saved by itself; `part` says which one was sent."""
    if request.method != "POST":
        return _page(request, visit)
    part = request.POST.get("part", "")
    try:
        change_company(actor=visit.person, company=visit.company, **_changes(part, request.POST))
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal, part=part)
    return changed(request, "The settings are saved.", to=reverse("settings", args=[visit.company.slug]), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def delete(request: HttpRequest, visit: Visit) -> HttpResponse:
    """For good, so only by who writes its key down once more."""
    refusal = None
    if request.method == "POST":
        try:
            return _delete(request, visit)
        except Refusal as refused:
            refusal = refused
    context = {"at": reverse("settings", args=[visit.company.slug]), "refusal": refusal}
    response = show(request, visit, "settings/delete_company.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response


def _delete(request: HttpRequest, visit: Visit) -> HttpResponse:
    if request.POST.get("key", "").strip().upper() != visit.company.key:
        raise Invalid(f"Write {visit.company.key} to say that you mean it.", field="key")
    name = visit.company.name
    delete_company(actor=visit.person, company=visit.company)
    return changed(request, f"{name} is deleted.", to=reverse("companies"), moves_on=True)


def _changes(part: str, form: Any) -> dict[str, Any]:
    if part == "company":
        return {name: form.get(name, "") for name in TEXTS}
    return {setting.field: _value(setting, form) for setting in _PARTS.get(part, ())}


def _value(setting: Setting, form: Any) -> int | bool:
    value = form.get(setting.field, "").strip()
    if not setting.unit:
        return bool(value)
    number = as_number(value)
    if number is None:
        raise Invalid(f"“{setting.label}” is a number of {setting.unit}.", field=setting.field)
    return number


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None, part: str = "") -> HttpResponse:
    """The values as they stand, but for the part that was refused: that one as it was sent."""

    def shown(name: str, of: str) -> Any:
        return request.POST.get(name, "") if part == of else getattr(visit.company, name)

    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "settings",
        "values": {name: shown(name, "company") for name in TEXTS},
        "limits": [(setting, shown(setting.field, "limits")) for setting in LIMITS],
        "retention": [(setting, shown(setting.field, "retention")) for setting in RETENTION],
        "files": [(setting, shown(setting.field, "files")) for setting in FILES],
        "used_bytes": visit.company.file_bytes,
        "allowed_bytes": allowed_bytes(visit.company),
        "zones": zone_names(),
        "refusal": refusal,
        "part": part,
    }
    response = show(request, visit, "settings/company.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
