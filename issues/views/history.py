"""What a comment said before it was edited."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from itertools import pairwise

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from issues.diffs import DiffLine, diff_lines
from issues.models import Comment
from issues.names import Names
from issues.pages import Visit, company_page, show
from issues.views.lookup import find_comment, find_issue


@dataclass(frozen=True, slots=True)
class Version:
    """What a comment said from a time on, and what that changed; of the first, nothing."""

    body: str
    written_at: datetime.datetime
    changes: list[DiffLine]


@require_safe
@company_page
def comment_history(request: HttpRequest, visit: Visit, identifier: str, comment: int) -> HttpResponse:
    """What the comment says and said, newest first, each with what it changed."""
    issue = find_issue(visit, identifier)
    found = find_comment(issue, comment)
    names = Names(visit.company)
    context = {
        "issue": issue,
        "comment": found,
        "author": names.somebody(agent=found.author_agent_id, member=found.author_member_id),
        "versions": _versions(found),
    }
    return show(request, visit, "issues/comment_history.html", context)


def _versions(comment: Comment) -> list[Version]:
    written = [(version.body, version.written_at) for version in comment.versions.order_by("pk")]
    written.append((comment.body, comment.edited_at or comment.created_at))
    changes = [diff_lines(before, after) for (before, _), (after, _) in pairwise(written)]
    versions = [Version(body, at, change) for (body, at), change in zip(written, [[], *changes], strict=True)]
    return versions[::-1]
