"""Files of an issue: what people attach and what agents write."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from issues import blobs
from issues.activity import record
from issues.actors import Actor, Worker
from issues.effects import service
from issues.extraction import extract_at_once, extract_slowly, failed
from issues.flagging import secret_kinds
from issues.models import Attachment, Extraction, FileVersion, Issue, WorkspaceFile
from issues.paths import check_path, path_key
from issues.policies import Right, require
from issues.quota import take_room
from issues.refusals import Conflict, Invalid, TooLarge
from issues.services.locks import lock_issue
from issues.workspaces import make_after_write, place_of

WRITE_BYTES = 4 * 1024 * 1024
"""A file written by an agent, at most."""

ATTACHMENT_BYTES = 25 * 1024 * 1024
"""A file attached by a person, at most."""


@service
def attach_file(*, actor: Actor, issue: Issue, name: str, content: bytes) -> Attachment:
    """Attach a file. Its type is told from its content; agents are shown the text that can be read from it.

    A PDF or Office file is read after the transaction, which it would hold up for seconds; up to 10, then the file
    counts as one that cannot be read.
    """
    member = require(actor, Right.EDIT, issue)
    name = _file_name(name)
    if not content:
        raise Invalid(f"“{name}” is empty.", field="file")
    if len(content) > ATTACHMENT_BYTES:
        raise TooLarge(f"“{name}” has {len(content):,} bytes; at most {ATTACHMENT_BYTES:,} fit.", field="file")
    take_room(issue.company, len(content), field="file")
    read = extract_at_once(name, content)
    attachment = Attachment.objects.create(
        issue=issue,
        uploaded_by=member,
        name=name,
        media_type=read.media_type,
        blob=blobs.store(content),
        extraction=read.extraction,
        why_unread=read.why,
        text=read.text,
        secret_kinds=secret_kinds(issue.company, read.text),
    )
    record(actor, "file.attached", issue, attachment=attachment.pk)
    if read.extraction == Extraction.PENDING:
        transaction.on_commit(partial(read_attachment, attachment))
    return attachment


def _file_name(sent: str) -> str:
    """The last part of what a browser calls the file."""
    try:
        return check_path(sent.replace("\\", "/").rsplit("/", 1)[-1])
    except Invalid as refusal:
        raise Invalid(refusal.reason, "Give the file another name.", field="file") from None


def read_attachment(attachment: Attachment) -> None:
    """Read the text of an attachment that waits for it. Never inside a transaction: it takes up to 10 seconds."""
    try:
        read = extract_slowly(attachment.media_type, blobs.read(attachment.blob))
    except OSError as error:
        read = failed(attachment.media_type, f"its bytes cannot be read ({error.strerror})")
    attachment.extraction, attachment.why_unread, attachment.text = read.extraction, read.why, read.text
    waiting = Attachment.objects.filter(pk=attachment.pk, extraction=Extraction.PENDING)
    attachment.secret_kinds = secret_kinds(attachment.issue.company, read.text)
    waiting.update(
        extraction=read.extraction, why_unread=read.why, text=read.text, secret_kinds=attachment.secret_kinds
    )


@service
def write_file(*, actor: Worker, issue: Issue, path: str, text: str) -> FileVersion:
    """Write a file of the issue's workspace as its next version; the same content again makes none."""
    issue = lock_issue(issue)
    require(actor, Right.WRITE_FILE, issue)
    path = check_path(path)
    content = _encode(path, text)
    if len(content) > WRITE_BYTES:
        raise TooLarge(f"“{path}” would have {len(content):,} bytes; at most {WRITE_BYTES:,} fit.", field="path")
    file, _ = WorkspaceFile.objects.get_or_create(issue=issue, key=path_key(path), defaults={"path": path})
    if file.path != path:
        raise Conflict(f"“{path}” and “{file.path}” would be one file on some systems.", "Use the name that is there.")
    newest = file.versions.order_by("-number").first()
    if newest is not None and newest.blob_id == blobs.digest_of(content):
        return newest
    _check_tree(issue, file)
    take_room(issue.company, len(content), field="path")
    number = newest.number + 1 if newest is not None else 1
    version = FileVersion.objects.create(
        file=file,
        number=number,
        blob=blobs.store(content),
        agent=actor.agent,
        run=actor.run,
        secret_kinds=secret_kinds(issue.company, text),
    )
    file.is_made = False
    file.save(update_fields=["is_made", "updated_at"])
    record(actor, "file.written", issue, file=file.pk, version=version.number)
    transaction.on_commit(partial(make_after_write, place_of(issue)), robust=True)
    return version


def _encode(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"The text for “{path}” holds half of a surrogate pair.", field="body") from None


def _check_tree(issue: Issue, file: WorkspaceFile) -> None:
    """Refuse a file where there is a folder, and a folder where there is a file."""
    parts = file.key.split("/")
    above = ["/".join(parts[:end]) for end in range(1, len(parts))]
    if issue.files.filter(key__in=above).exists():
        raise Conflict(f"A part of “{file.path}” is a file already.")
    if issue.files.filter(key__startswith=file.key + "/").exists():
        raise Conflict(f"“{file.path}” is a folder already.")
