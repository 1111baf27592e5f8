"""Findings: results worth keeping."""

from __future__ import annotations

from issues.activity import record
from issues.actors import Worker
from issues.effects import service
from issues.flagging import secret_kinds
from issues.models import Finding, Issue
from issues.policies import Right, require
from issues.texts import check_line, check_text


@service
def record_finding(*, actor: Worker, issue: Issue, title: str = "", body: str) -> Finding:
    """Keep a result on the issue. The agent of the issue's parent is shown it."""
    require(actor, Right.RECORD_FINDING, issue)
    title = check_line(title, "title", limit=300, required=False)
    body = check_text(body, "finding", required=True)
    finding = Finding.objects.create(
        issue=issue,
        agent=actor.agent,
        run=actor.run,
        title=title,
        body=body,
        secret_kinds=secret_kinds(issue.company, title, body),
    )
    record(actor, "finding.recorded", issue, finding=finding.pk)
    return finding
