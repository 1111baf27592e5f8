"""A company with one of everything that an export holds, and what the file says of it."""

from __future__ import annotations

import json
import zipfile
from typing import Any

from issues.actors import Person
from issues.models import Company
from issues.services.blockers import add_blockers
from issues.services.comments import delete_comment
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.reviews import set_reviewers
from tests import build


def company_with_everything() -> tuple[Company, Person]:
    """The company and its founder."""
    company, owner = build.company_with_founder()
    ada = build.agent(company, "Ada", adapter="external", instructions="Be kind.")
    bob = build.agent(company, "Bob", manager=ada)
    label = build.label(company, "bug")
    issue = build.issue(
        company,
        "First — ünïcode",
        description="Two\nlines.",
        assignee=ada,
        labels=[label],
        project=build.project(company),
    )
    child = build.issue(company, "Second", parent=issue)
    add_blockers(actor=owner, issue=child, blockers=[issue])
    set_reviewers(actor=owner, issue=child, reviewers=[bob])
    build.skill(company, "Sums", "Add.", agents=[ada])
    build.routine(company, ada)
    worker = build.at_work(ada, issue)
    build.comment(issue, "On it.", actor=worker)
    delete_comment(actor=owner, comment=build.comment(issue, "Never said."))
    record_finding(actor=worker, issue=issue, title="Found", body="It is the cache.")
    attach_file(actor=owner, issue=issue, name="../../evil.txt", content=b"attached")
    write_file(actor=worker, issue=issue, path="notes/a.md", text="one")
    write_file(actor=worker, issue=issue, path="notes/a.md", text="two")
    return company, owner


def rows(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    """The objects of a part."""
    return [json.loads(line) for line in archive.read(name).decode().splitlines()]
