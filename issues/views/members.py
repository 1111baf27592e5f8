"""Who belongs to the company, and as what."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from issues.models import Member, Role
from issues.names import somebody_of
from issues.pages import Visit, changed, company_page, show
from issues.refusals import Invalid, NotFound, Refusal
from issues.services.accounts import LINK_LIFE
from issues.services.companies import change_role, remove_member
from issues.services.invitations import invite_member


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def members(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Everybody; posted to, it adds somebody. A new account's log-in link is shown in the answer, this once."""
    if request.method != "POST":
        return _page(request, visit)
    try:
        invited = invite_member(
            actor=visit.person,
            company=visit.company,
            username=request.POST.get("username", ""),
            name=request.POST.get("name", ""),
            role=_role(request),
        )
    except Refusal as refusal:
        return _page(request, visit, refusal=refusal)
    if not invited.token:
        return changed(request, f"{invited.member.name} is a member now.", to=_address(visit), moves_on=True)
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "members",
        "member": invited.member,
        "link": request.build_absolute_uri(reverse("log-in-by-link", args=[invited.token])),
        "hours": int(LINK_LIFE.total_seconds() // 3600),
    }
    return show(request, visit, "settings/invited.html", context)


@require_POST
@company_page
def role(request: HttpRequest, visit: Visit, member: int) -> HttpResponse:
    found = change_role(actor=visit.person, member=_find(visit, member), role=_role(request))
    said = f"{found.name} is {found.get_role_display().lower()} now."
    return changed(request, said, to=_address(visit), moves_on=True)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page
def remove(request: HttpRequest, visit: Visit, member: int) -> HttpResponse:
    """Asked once more before, on a page of its own, since it shuts somebody out at once."""
    found = _find(visit, member)
    if request.method != "POST":
        context = {"at": reverse("settings", args=[visit.company.slug]), "member": found}
        return show(request, visit, "settings/remove_member.html", context)
    remove_member(actor=visit.person, member=found)
    if found.pk == visit.member.pk:
        return changed(request, f"You have left {visit.company.name}.", to=reverse("companies"), moves_on=True)
    return changed(request, f"{found.name} is removed.", to=_address(visit), moves_on=True)


def _role(request: HttpRequest) -> Role:
    value = request.POST.get("role", "")
    if value not in Role.values:
        raise Invalid("Choose a role.", field="role")
    return Role(value)


def _find(visit: Visit, pk: int) -> Member:
    found = Member.objects.present().select_related("company", "user").filter(company=visit.company, pk=pk).first()
    if found is None:
        raise NotFound("There is no such member.")
    return found


def _address(visit: Visit) -> str:
    return reverse("members", args=[visit.company.slug])


def _page(request: HttpRequest, visit: Visit, *, refusal: Refusal | None = None) -> HttpResponse:
    context = {
        "at": reverse("settings", args=[visit.company.slug]),
        "here": "members",
        "members": [
            {"member": member, "somebody": somebody_of(member)}
            for member in visit.company.members.present().select_related("user").order_by("joined_at", "pk")
        ],
        "roles": list(Role),
        "values": request.POST,
        "refusal": refusal,
    }
    response = show(request, visit, "settings/members.html", context)
    response.status_code = refusal.http_status if refusal is not None else 200
    return response
