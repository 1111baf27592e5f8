"""Findings of the whole company: what agents recorded as worth keeping."""

from __future__ import annotations

import functools
import operator

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from issues.models import Finding
from issues.names import Names
from issues.numbers import as_number
from issues.pages import Visit, company_page, show
from issues.search import MAX_WORDS

PAGE = 50


@require_safe
@company_page
def findings(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Newest first, those that hold all the words of `text`; `before` is the id of the last one of the page before."""
    text, agent = request.GET.get("text", "").replace("\0", " ").strip()[:200], request.GET.get("agent", "")
    chosen = Finding.objects.filter(issue__company=visit.company)
    if text.split():
        words = text.split()[:MAX_WORDS]
        chosen = chosen.filter(functools.reduce(operator.and_, map(_holds, words)))
    if (pk := as_number(agent)) is not None:
        chosen = chosen.filter(agent=pk)
    if (before := as_number(request.GET.get("before", ""))) is not None:
        chosen = chosen.filter(pk__lt=before)
    rows = list(chosen.select_related("issue").order_by("-pk")[: PAGE + 1])
    names = Names(visit.company)
    context = {
        "at": reverse("findings", args=[visit.company.slug]),
        "rows": [{"finding": row, "agent": names.agents.get(row.agent_id)} for row in rows[:PAGE]],
        "next": rows[PAGE - 1].pk if len(rows) > PAGE else None,
        "names": names,
        "chosen": {"text": text, "agent": agent},
    }
    return show(request, visit, "issues/findings.html", context)


def _holds(word: str) -> Q:
    return Q(title__icontains=word) | Q(body__icontains=word) | Q(issue__title__icontains=word)
