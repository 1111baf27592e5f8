"""Finding issues by what somebody remembers of them."""

from __future__ import annotations

import re

from django.db.models import Q, QuerySet

from issues.models import Issue

MAX_WORDS = 8
"""Of a search; each further one would be one more pass over the texts."""

_NUMBER = re.compile(r"(?:[A-Za-z][A-Za-z0-9]{1,9}-|#)?([0-9]{1,9})")


def matching(issues: QuerySet[Issue], text: str) -> QuerySet[Issue]:
    """Those with the number that `text` is (`12`, `#12`, `acme-12`), or with all its words in title or description."""
    words = text.split()[:MAX_WORDS]
    if not words:
        return issues.none()
    found = Q()
    for word in words:
        found &= Q(title__icontains=word) | Q(description__icontains=word)
    number = _NUMBER.fullmatch(text.strip())
    if number is not None:
        found |= Q(number=int(number[1]))
    return issues.filter(found)
