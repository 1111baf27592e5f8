"""Attachments (with the workspace's files and the issue's findings) and the Notebook."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from engine.text.children import finding_text
from engine.text.context import Attachment, Finding, Materials, Note, Notebook, WorkspaceFile
from engine.text.fitting import Fitting, Measure, fit_lines, fit_texts
from engine.text.quoting import flat, quote_clamped, size_of

LONGEST_TEXT = 100_000
LEAST_TEXT = 400
SMALL_FILE = 4_000
"""Characters up to which a workspace file is shown whole; of a larger one the name is enough for who wrote it."""
JUST_NOW = timedelta(minutes=5)
RECENT = timedelta(hours=1)


def fit_materials(materials: Materials, *, allowance: int, measure: Measure) -> Fitting | None:
    """What lies on the issue, texts cut evenly until they fit; the mere list when they do not."""

    def render(limit: int) -> str:
        return "\n".join(
            [
                *(_attachment(attachment, limit) for attachment in materials.attachments),
                *(_file(file, limit) for file in materials.files),
                *(_finding(finding, limit) for finding in materials.findings),
            ]
        )

    return fit_texts(render, longest=LONGEST_TEXT, least=LEAST_TEXT, allowance=allowance, measure=measure) or fit_lines(
        _names(materials), _more, allowance=allowance, measure=measure
    )


def fit_notebook(notebook: Notebook, now: datetime, *, allowance: int, measure: Measure) -> Fitting | None:
    """The notes, newest first, and the observations; texts cut evenly until they fit."""
    notes = sorted(notebook.notes, key=lambda note: note.written_at, reverse=True)

    def render(limit: int) -> str:
        lines = [_note(note, now, limit) for note in notes]
        if notebook.observations:
            lines.append("Observed earlier:")
        return "\n".join([*lines, *(f"- {flat(text, limit)}" for text in notebook.observations)])

    longest = max((len(text) for text in (*(note.text for note in notes), *notebook.observations)), default=0)
    return fit_texts(render, longest=longest, least=min(longest, 80), allowance=allowance, measure=measure)


def age_of(then: datetime, now: datetime) -> str:
    """How old something is, coarse on purpose: a text that changes by the minute cannot be cached."""
    age = now - then
    if age < JUST_NOW:
        return "just now"
    if age < RECENT:
        return "recent"
    hours = int(age / timedelta(hours=1))
    return f"~{hours} h ago" if hours < 48 else f"~{hours // 24} days ago"


def _finding(finding: Finding, limit: int) -> str:
    return f"- {finding_text(finding, limit)}"


def _file(file: WorkspaceFile, limit: int) -> str:
    heading = _file_name(file)
    if file.text is None or len(file.text) > min(SMALL_FILE, limit):
        return heading
    return f"{heading}\n{quote_clamped(file.text, SMALL_FILE)}"


def _attachment(attachment: Attachment, limit: int) -> str:
    heading = _attachment_name(attachment)
    return heading if attachment.unread else f"{heading}\n{quote_clamped(attachment.text, limit)}"


def _names(materials: Materials) -> Sequence[str]:
    return [
        *(_attachment_name(attachment) for attachment in materials.attachments),
        *(_file_name(file) for file in materials.files),
        *(f"- finding: {flat(finding.title) or 'untitled'}" for finding in materials.findings),
    ]


def _file_name(file: WorkspaceFile) -> str:
    return f"- workspace file, {size_of(file.size)}: {flat(file.path, 1_000)}"


def _attachment_name(attachment: Attachment) -> str:
    unread = f", {flat(attachment.unread)}" if attachment.unread else ""
    return f"- attachment, {flat(attachment.media_type)}, {size_of(attachment.size)}{unread}: {flat(attachment.name)}"


def _note(note: Note, now: datetime, limit: int) -> str:
    return f"- {age_of(note.written_at, now)}: {flat(note.key)}\n{quote_clamped(note.text, limit)}"


def _more(count: int) -> str:
    return f"[{count} more]"
