"""A company as one zip file: what it is made of as JSON, its files as they are, never a key.

Rows name one another as people do: by handle, name and issue number, so that the file can be read anywhere. It is read
part by part while it is written, so work that goes on meanwhile may stand in one part and not yet in another.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone

from agents.models import Agent, Routine, Skill
from issues.blobs import path_of
from issues.models import Attachment, Blob, Comment, Company, FileVersion, Finding, Issue, Label, Member, Project
from issues.secrets import mask_known

FORMAT = 1
"""Raised when a reader of the old form would misread the new one."""

ROWS_AT_ONCE = 500
READ_BYTES = 256 * 1024

Row = dict[str, Any]


def export_pieces(
    company: Company, *, known_secrets: Collection[str] = (), told: Callable[[str], object] = lambda _part: None
) -> Iterator[bytes]:
    """The zip file, piece by piece; `told` hears of each part before it is read. `known_secrets` are values that are
    masked wherever they stand in a text."""
    out = _Written()
    masked = [json.dumps(secret, ensure_ascii=False)[1:-1] for secret in known_secrets]  # as they stand in a row
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, read in _PARTS.items():
            told(name)
            with archive.open(name, "w", force_zip64=True) as part:
                for row in read(company):
                    line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
                    part.write(mask_known(line, masked).encode("utf-8", "replace"))
                    if out.size > READ_BYTES:
                        yield out.take()
            yield out.take()
        told("blobs")
        for blob in _blobs(company):
            yield from _write_blob(archive, out, blob)
    yield out.take()


class _Written:
    """Where a zip file is written to that is sent at once: it cannot be wound back."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """There is nothing to wait for."""

    def close(self) -> None:
        """What was written is taken afterwards."""

    def take(self) -> bytes:
        taken, self._pieces, self.size = b"".join(self._pieces), [], 0
        return taken


def _write_blob(archive: zipfile.ZipFile, out: _Written, blob: Blob) -> Iterator[bytes]:
    """A file's content under its hash. What is missing on disk is left out: its row still names it."""
    path = path_of(blob.sha256)
    if not path.is_file():
        return
    with path.open("rb") as content, archive.open(f"blobs/{blob.sha256}", "w", force_zip64=True) as part:
        while piece := content.read(READ_BYTES):
            part.write(piece)
            yield out.take()
    yield out.take()


def _company(company: Company) -> Iterable[Row]:
    taken = ("name", "key", "mission", "norms", "time_zone", "hop_limit", "continue_limit", "runs_per_hour",
             "max_concurrent_runs", "comments_wake_assignee", "agents_may_create_labels", "hires_on_probation",
             "action_caps", "prompt_budget", "retention_days", "file_quota_mib", "model_tiers", "model_chain",
             "checkpoints", "default_thinking")  # fmt: skip
    yield {"format": FORMAT, "exported_at": timezone.now().isoformat(), **_fields(company, taken)}


def _members(company: Company) -> Iterable[Row]:
    """Without their e-mail and accounts: those are theirs."""
    for member in Member.objects.filter(company=company).select_related("user").order_by("pk"):
        yield {"handle": member.handle, "name": member.name, "role": member.role, "removed_at": member.removed_at}


def _agents(company: Company) -> Iterable[Row]:
    taken = ("handle", "name", "role", "title", "description", "instructions", "knowledge", "status", "adapter",
             "model_tier", "provider", "model", "script", "tier", "thinking", "max_output_tokens", "policy",
             "max_concurrent_runs", "schedule_minutes", "active_hours")  # fmt: skip
    for agent in Agent.objects.filter(company=company).select_related("manager").order_by("pk"):
        yield {**_fields(agent, taken), "manager": _handle(agent.manager)}


def _skills(company: Company) -> Iterable[Row]:
    for skill in Skill.objects.filter(company=company).prefetch_related("agents").order_by("pk"):
        taken = _fields(skill, ("name", "description", "body", "enabled"))
        yield {**taken, "agents": [agent.handle for agent in skill.agents.all()]}


def _routines(company: Company) -> Iterable[Row]:
    taken = ("name", "cron", "time_zone", "title", "body", "priority", "enabled")
    for routine in Routine.objects.filter(company=company).select_related("assignee", "responsible", "project"):
        yield {
            **_fields(routine, taken),
            "assignee": routine.assignee.handle,
            "responsible": routine.responsible.handle,
            "project": routine.project.name if routine.project is not None else None,
        }


def _projects(company: Company) -> Iterable[Row]:
    for project in Project.objects.filter(company=company).order_by("pk"):
        yield _fields(project, ("name", "description", "rules", "archived_at"))


def _labels(company: Company) -> Iterable[Row]:
    for label in Label.objects.filter(company=company).order_by("pk"):
        yield _fields(label, ("name", "colour"))


def _issues(company: Company) -> Iterable[Row]:
    taken = ("number", "title", "description", "status", "priority", "rank", "due_date", "created_at", "updated_at",
             "status_changed_at", "started_at", "closed_at")  # fmt: skip
    issues = Issue.objects.filter(company=company).select_related(
        "project", "assignee_agent", "assignee_member", "responsible", "parent", "created_by_agent", "created_by_member"
    )
    related = ("labels", Prefetch("blockers", Issue.objects.only("number")), "reviewers__agent", "reviewers__member")
    for issue in issues.prefetch_related(*related).order_by("number").iterator(chunk_size=ROWS_AT_ONCE):
        yield {
            **_fields(issue, taken),
            "project": issue.project.name if issue.project is not None else None,
            "labels": [label.name for label in issue.labels.all()],
            "assignee": _handle(issue.assignee_agent or issue.assignee_member),
            "responsible": _handle(issue.responsible),
            "created_by": _handle(issue.created_by_agent or issue.created_by_member),
            "parent": issue.parent.number if issue.parent is not None else None,
            "blockers": [blocker.number for blocker in issue.blockers.all()],
            "reviewers": [
                {"reviewer": _handle(row.agent or row.member), "verdict": row.verdict} for row in issue.reviewers.all()
            ],
        }


def _comments(company: Company) -> Iterable[Row]:
    """Those that stand: what was deleted is gone."""
    rows = Comment.objects.filter(issue__company=company, deleted_at=None)
    for comment in _of_issues(rows, "author_agent", "author_member"):
        yield {
            "issue": comment.issue.number,
            "author": _handle(comment.author_agent or comment.author_member),
            **_fields(comment, ("body", "created_at", "edited_at", "pinned_at")),
        }


def _findings(company: Company) -> Iterable[Row]:
    for finding in _of_issues(Finding.objects.filter(issue__company=company), "agent"):
        taken = _fields(finding, ("title", "body", "created_at"))
        yield {"issue": finding.issue.number, "agent": finding.agent.handle, **taken}


def _attachments(company: Company) -> Iterable[Row]:
    for attachment in _of_issues(Attachment.objects.filter(issue__company=company), "uploaded_by"):
        yield {
            "issue": attachment.issue.number,
            **_fields(attachment, ("name", "media_type", "created_at")),
            "by": _handle(attachment.uploaded_by),
            "blob": attachment.blob_id,
        }


def _files(company: Company) -> Iterable[Row]:
    """Every version of every workspace file."""
    versions = FileVersion.objects.filter(file__issue__company=company).select_related("file__issue", "agent")
    for version in versions.order_by("pk").iterator(chunk_size=ROWS_AT_ONCE):
        yield {
            "issue": version.file.issue.number,
            "path": version.file.path,
            "version": version.number,
            "agent": _handle(version.agent),
            "created_at": version.created_at,
            "blob": version.blob_id,
        }


def _blobs(company: Company) -> Iterable[Blob]:
    """The content of its files, each once, whatever how many name it."""
    attached = Attachment.objects.filter(issue__company=company).values("blob")
    written = FileVersion.objects.filter(file__issue__company=company).values("blob")
    used = Blob.objects.filter(pk__in=attached.union(written))
    return used.order_by("pk").iterator(chunk_size=ROWS_AT_ONCE)


def _of_issues(rows: Any, *relations: str) -> Iterable[Any]:
    return rows.select_related("issue", *relations).order_by("pk").iterator(chunk_size=ROWS_AT_ONCE)  # type: ignore[no-any-return]


def _fields(row: Any, names: Iterable[str]) -> Row:
    return {name: getattr(row, name) for name in names}


def _handle(one: Agent | Member | None) -> str | None:
    return None if one is None else one.handle


_PARTS: dict[str, Callable[[Company], Iterable[Row]]] = {
    "company.json": _company,
    "members.jsonl": _members,
    "agents.jsonl": _agents,
    "skills.jsonl": _skills,
    "routines.jsonl": _routines,
    "projects.jsonl": _projects,
    "labels.jsonl": _labels,
    "issues.jsonl": _issues,
    "comments.jsonl": _comments,
    "findings.jsonl": _findings,
    "attachments.jsonl": _attachments,
    "files.jsonl": _files,
}
"""One JSON object a line, in the order in which a reader can follow what names what."""
