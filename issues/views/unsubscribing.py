"""Having one kind of notices by e-mail no more, by the link in such an e-mail."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from issues.refusals import Refusal
from issues.services.notices import stop_notices
from issues.unsubscribing import read_word


@csrf_exempt  # mail programs post it themselves (RFC 8058), without a cookie; the word in the address is the proof
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, word: str) -> HttpResponse:
    """Opening it shows a button, since programs that preview links would follow it otherwise."""
    try:
        if request.method == "POST":
            member, kind = stop_notices(word=word)
        else:
            member, kind = read_word(word)
    except Refusal as refusal:
        return render(request, "session/unsubscribe.html", {"refusal": refusal}, status=refusal.http_status)
    context = {"member": member, "kind": kind, "is_done": request.method == "POST"}
    return render(request, "session/unsubscribe.html", context)
