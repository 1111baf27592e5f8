"""What agents wrote into workspaces, what was attached, and findings, as they are read by the API."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues import blobs
from issues.actors import Person, Worker
from issues.models import Company, Issue
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from tests import build
from tests.api.client import Api


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    return build.issue(company, "Write the guide", assignee=ada)


@pytest.fixture
def worker(ada: Agent, issue: Issue) -> Worker:
    return build.at_work(ada, issue)


def test_files_are_listed_at_their_newest_version_and_read_at_any(api: Api, issue: Issue, worker: Worker) -> None:
    write_file(actor=worker, issue=issue, path="guide/herbs.md", text="Basil.\n")
    write_file(actor=worker, issue=issue, path="notes.txt", text="x")
    write_file(actor=worker, issue=issue, path="guide/herbs.md", text="Basil, mint.\n")
    rows = api.get("issues/ACME-1/files").rows
    assert [(row["path"], row["version"], row["size"]) for row in rows] == [
        ("guide/herbs.md", 2, 13),
        ("notes.txt", 1, 1),
    ]
    assert rows[0]["written_by"]["handle"] == "ada"
    newest = api.get(f"files/{rows[0]['id']}")
    assert (newest["issue"], newest["text"]) == ("ACME-1", "Basil, mint.\n")
    assert api.get(f"files/{rows[0]['id']}", version=1)["text"] == "Basil.\n"
    assert api.get(f"files/{rows[0]['id']}", version=3).status == 404
    assert [row["version"] for row in api.get(f"files/{rows[0]['id']}/versions").rows] == [2, 1]


def test_a_file_is_downloaded_and_never_run(api: Api, issue: Issue, worker: Worker) -> None:
    file = write_file(actor=worker, issue=issue, path="a/page.html", text="<script>").file
    write_file(actor=worker, issue=issue, path="a/page.html", text="later")
    answer = api.client.get(f"/api/files/{file.pk}/content", {"version": 1})
    assert b"".join(answer.streaming_content) == b"<script>"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert api.client.get(f"/api/files/{file.pk}/content", {"version": "x"}).status_code == 422


@pytest.mark.parametrize("content", [b"a" * (256 * 1024 + 1), b"\xff\xfe"])
def test_what_is_long_or_no_text_has_none(
    api: Api, issue: Issue, worker: Worker, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("issues.services.files._encode", lambda _path, _text: content)
    file = write_file(actor=worker, issue=issue, path="a.bin", text="").file
    assert api.get(f"files/{file.pk}")["text"] is None


def test_bytes_that_the_disk_has_lost_are_told_as_missing(api: Api, issue: Issue, worker: Worker) -> None:
    version = write_file(actor=worker, issue=issue, path="a.txt", text="Soon lost, and nobody else's.")
    blobs.path_of(version.blob_id).unlink()
    assert api.get(f"files/{version.file.pk}").status == 404


def test_an_attachment_is_read_with_its_text(api: Api, founder: Person, issue: Issue) -> None:
    attachment = attach_file(actor=founder, issue=issue, name="a.txt", content=b"Water each morning.")
    assert api.get(f"attachments/{attachment.pk}")["text"] == "Water each morning."
    assert "text" not in api.get("issues/ACME-1/attachments").rows[0]


def test_findings_of_all_issues_are_listed_by_whom_they_are_of(
    api: Api, company: Company, issue: Issue, worker: Worker
) -> None:
    bob = build.agent(company, "Bob")
    record_finding(actor=worker, issue=issue, title="Rain", body="It rains on Mondays.")
    other = build.issue(company, assignee=bob)
    last = record_finding(actor=build.at_work(bob, other), issue=other, body="Found.")
    assert [row["issue"] for row in api.get("findings").rows] == ["ACME-2", "ACME-1"]
    assert [row["title"] for row in api.get("findings", agent="ada").rows] == ["Rain"]
    assert api.get(f"findings/{last.pk}")["body"] == "Found."
    assert api.get("findings", agent="nobody").status == 422
