"""Findings and files. What a file is and says is read from its content anew, not from what the row says of it."""

from __future__ import annotations

from collections import defaultdict

from django.utils import timezone

from agents.imports.archive import Row
from agents.imports.house import House
from agents.imports.work import in_batches, keep_written
from agents.models import Agent
from issues import blobs
from issues.extraction import extract_at_once
from issues.flagging import secret_kinds
from issues.models import Attachment, FileVersion, Finding, WorkspaceFile
from issues.paths import check_path, path_key
from issues.quota import take_room
from issues.services.files import ATTACHMENT_BYTES, WRITE_BYTES
from issues.texts import check_line, check_text


def add_findings(house: House) -> None:
    for rows in in_batches(house.archive.rows("findings.jsonl")):
        findings = [_finding(house, row) for row in rows]
        keep_written(Finding, findings, "created_at")
        house.made["findings"] += len(findings)


def add_attachments(house: House) -> None:
    """PDF and Office files are read by the workers afterwards."""
    for row in house.archive.rows("attachments.jsonl"):
        content = _content(house, row, ATTACHMENT_BYTES)
        if content is None:
            continue
        with row.told():
            name = check_path(row.text("name").replace("/", "_"))
            take_room(house.company, len(content), field="file")
            read = extract_at_once(name, content)
            attachment = Attachment(
                issue=house.issue(row),
                uploaded_by=house.member(row, "by"),
                name=name,
                media_type=read.media_type,
                blob=blobs.store(content),
                extraction=read.extraction,
                why_unread=read.why,
                text=read.text,
                secret_kinds=secret_kinds(house.company, read.text),
                created_at=row.moment("created_at") or timezone.now(),
            )
        keep_written(Attachment, [attachment], "created_at")
        house.made["attachments"] += 1


def add_files(house: House) -> None:
    """Every version of the files of workspaces; the folders are made by the workers afterwards."""
    files: dict[tuple[int, str], WorkspaceFile] = {}
    newest: defaultdict[int, int] = defaultdict(int)
    folders: set[tuple[int, str]] = set()
    for row in house.archive.rows("files.jsonl"):
        content = _content(house, row, WRITE_BYTES)
        if content is None:
            continue
        with row.told():
            issue, path = house.issue(row), check_path(row.text("path"))
            place = (issue.pk, path_key(path))
            if place not in files:
                _check_tree(place, files, folders)
                files[place] = WorkspaceFile.objects.create(issue=issue, path=path, key=place[1])
            take_room(house.company, len(content), field="file")
            file = files[place]
            newest[file.pk] += 1
            version = _version(house, row, file, newest[file.pk], content)
        keep_written(FileVersion, [version], "created_at")
        house.made["versions of files"] += 1


def _finding(house: House, row: Row) -> Finding:
    with row.told():
        title = check_line(row.text("title"), "title", limit=300, required=False)
        body = check_text(row.text("body"), "finding", required=True)
        return Finding(
            issue=house.issue(row),
            agent=_agent(house, row),
            title=title,
            body=body,
            secret_kinds=secret_kinds(house.company, title, body),
            created_at=row.moment("created_at") or timezone.now(),
        )


def _agent(house: House, row: Row) -> Agent:
    agent = house.agent(row, "agent")
    if agent is None:
        raise row.refused("it names no agent.")
    return agent


def _version(house: House, row: Row, file: WorkspaceFile, number: int, content: bytes) -> FileVersion:
    return FileVersion(
        file=file,
        number=number,
        blob=blobs.store(content),
        agent=house.agent(row, "agent"),
        secret_kinds=secret_kinds(house.company, content.decode(errors="replace")),
        created_at=row.moment("created_at") or timezone.now(),
    )


def _content(house: House, row: Row, limit: int) -> bytes | None:
    """The bytes that the row names; None, with a remark, where the file does not hold them."""
    content = house.archive.content(row.text("blob"), limit=limit)
    if content is None:
        house.remarks.append(f"{row.place}: its content is not in the file, so it was left out.")
    return content


def _check_tree(
    place: tuple[int, str], files: dict[tuple[int, str], WorkspaceFile], folders: set[tuple[int, str]]
) -> None:
    """Refuse a file where there is a folder, and a folder where there is a file."""
    issue, key = place
    parts = key.split("/")
    above = {(issue, "/".join(parts[:end])) for end in range(1, len(parts))}
    if place in folders or above & files.keys():
        raise ValueError("its path is both a file and a folder.")
    folders |= above
