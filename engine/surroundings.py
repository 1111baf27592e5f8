"""What lies around an issue for a prompt: its children, and the files and findings on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db.models import OuterRef, Subquery

from engine.inventory import Kept
from engine.participants import author, issue_line, lined, participant
from engine.text.context import Attachment, Child, Finding, Materials, WorkspaceFile
from engine.text.context import Comment as ContextComment
from issues import blobs
from issues.models import Attachment as AttachmentRow
from issues.models import Comment, Extraction, FileVersion, Issue, was_brought
from issues.models import Finding as FindingRow

MOST_CHILDREN = 200
SMALL_FILE = 4_000
"""Bytes up to which a workspace file is shown whole."""


def read_children(issue: Issue) -> tuple[Child, ...]:
    """Every direct child with its findings and newest comment, in three queries."""
    children = list(
        issue.children.select_related("company", "assignee_agent", "assignee_member__user")
        .only("parent", "updated_at", *lined())
        .order_by("-updated_at")[:MOST_CHILDREN]
    )
    comments = _newest_comments(children)
    findings = defaultdict(list)
    for row in FindingRow.objects.filter(issue__in=children).select_related("agent").order_by("pk"):
        findings[row.issue_id].append(_finding(row))
    return tuple(
        Child(
            issue_line(child),
            child.updated_at,
            tuple(findings[child.pk]),
            _comment(comments[child.pk]) if child.pk in comments else None,
        )
        for child in children
    )


def _newest_comments(children: Sequence[Issue]) -> dict[int, Comment]:
    """Each child's newest comment, by the child's id."""
    newest = Comment.objects.filter(issue=OuterRef("pk"), deleted_at=None).order_by("-pk").values("pk")[:1]
    ids = Issue.objects.filter(pk__in=[child.pk for child in children]).values(newest=Subquery(newest))
    comments = Comment.objects.filter(pk__in=ids).select_related("author_agent", "author_member__user")
    comments = comments.annotate(brought=was_brought())
    return {comment.issue_id: comment for comment in comments}


def read_materials(issue: Issue, there: Collection[Kept] = tuple(Kept)) -> Materials:
    """Attachments, workspace files at their newest version, and the issue's own findings; `there` tells which of them
    there are."""
    attachments = issue.attachments.select_related("blob").order_by("pk") if Kept.ATTACHMENTS in there else ()
    findings = issue.findings.select_related("agent").order_by("pk") if Kept.FINDINGS in there else ()
    return Materials(
        attachments=tuple(
            Attachment(row.name, row.media_type, row.blob.size, row.text, _why_unread(row)) for row in attachments
        ),
        files=_files(issue) if Kept.FILES in there else (),
        findings=tuple(_finding(row) for row in findings),
    )


def _files(issue: Issue) -> tuple[WorkspaceFile, ...]:
    newest = FileVersion.objects.filter(file__issue=issue).select_related("file", "blob").order_by("file", "-number")
    latest: dict[int, FileVersion] = {}
    for version in newest:
        latest.setdefault(version.file_id, version)
    return tuple(
        WorkspaceFile(version.file.path, version.blob.size, _small_text(version))
        for version in sorted(latest.values(), key=lambda version: version.file.path)
    )


def _small_text(version: FileVersion) -> str | None:
    if version.blob.size > SMALL_FILE:
        return None
    try:
        return blobs.read(version.blob).decode()
    except (OSError, UnicodeDecodeError):
        return None


def _why_unread(row: AttachmentRow) -> str:
    if row.extraction == Extraction.DONE:
        return ""
    label = Extraction(row.extraction).label.lower()
    return f"{label}: {row.why_unread}" if row.why_unread else label


def _finding(row: FindingRow) -> Finding:
    return Finding(participant(row.agent), row.title, row.body)


def _comment(comment: Comment) -> ContextComment:
    return ContextComment(comment.pk, author(comment), comment.created_at, comment.body)
