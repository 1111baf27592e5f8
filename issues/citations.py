"""Identifiers of issues within texts: which there are, and how each issue stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from issues.models import Status
from issues.names import NamedIssue

MOST = 200
"""Issues that one page looks up; further ones are links without their status."""

_LINK = re.compile(r'<a class="issue-link" href="([^"]*)">([^<]*)</a>')


def cited_numbers(key: str, texts: Iterable[str]) -> frozenset[int]:
    """The numbers of the company's issues that the texts name."""
    identifier = re.compile(rf"(?<![\w/-]){re.escape(key)}-(\d{{1,9}})(?![\w-])")
    found: dict[int, None] = {}
    for text in texts:
        if f"{key}-" in text:
            found.update(dict.fromkeys(int(match[1]) for match in identifier.finditer(text)))
    return frozenset(list(found)[:MOST])


def show_standing(rendered: SafeString, issues: Mapping[str, NamedIssue]) -> SafeString:
    """A rendered text in which each identifier shows its issue's status and title. The text is cached without them,
    since they change."""
    if 'class="issue-link"' not in rendered:
        return rendered
    return mark_safe(_LINK.sub(lambda link: _with_standing(link, issues), rendered))  # noqa: S308 - escaped below


def _with_standing(link: re.Match[str], issues: Mapping[str, NamedIssue]) -> str:
    issue = issues.get(link[2])
    if issue is None:
        return link[0]
    status = Status(issue.status)
    drawing = (
        f'<svg class="icon {status}" role="img" aria-label="{status.label}"><use href="#i-status-{status}"/></svg>'
    )
    words = f"<s>{link[2]}</s>" if status.is_closed else link[2]
    return f'<a class="issue-link" href="{link[1]}" title="{escape(issue.title)}">{drawing} {words}</a>'
