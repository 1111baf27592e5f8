"""Paths that would lead out of a workspace, or to one file under two names: refused with the reason through each door,
and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from agents.models import ActionOutcome
from issues.actors import Person
from issues.models import Attachment, Blob, FileVersion, Grant, Issue, WorkspaceFile
from issues.paths import check_path
from issues.rights import Right
from issues.services.files import ATTACHMENT_BYTES, WRITE_BYTES
from issues.services.keys import create_user_key
from issues.services.policy import change_policy
from tests.services.test_files import BAD_PATHS
from tests.verbs.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)

ATTACKS = [path for paths in BAD_PATHS.values() for path in paths]


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def stage() -> Stage:
    return Stage()


def can_be_said(path: str) -> bool:
    """Whether the path can be a verb's argument: on one line, and something."""
    return bool(path.strip()) and "\n" not in path and "\ud800" not in path and "\x00" not in path


@pytest.mark.parametrize("path", [path for path in ATTACKS if can_be_said(path)])
def test_an_agents_attack_is_a_recorded_denial(path: str, stage: Stage, data_folder: Path) -> None:
    outcome = stage.outcome(f"Look.\n\n/write-file {path}\n```\nattack\n```")
    assert outcome.outcome == ActionOutcome.DENIED
    assert "refused" in outcome.reason
    assert not WorkspaceFile.objects.exists()
    assert [path for path in data_folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("docs/Plan.md", "docs/PLAN.md"),
        ("Docs/plan.md", "docs/plan.md"),
        ("straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("docs", "Docs/a"),
    ],
)
def test_a_second_name_for_one_file_is_refused(first: str, second: str, stage: Stage) -> None:
    trial = stage.reply(f"Look.\n\n/write-file {first}\n```\none\n```\n/write-file {second}\n```\ntwo\n```")
    assert [outcome.outcome for outcome in trial.outcomes] == [ActionOutcome.APPLIED, ActionOutcome.FAILED]
    assert [row.path for row in WorkspaceFile.objects.all()] == [first]


def test_a_file_has_4_mib_to_the_byte_through_the_verb(stage: Stage, data_folder: Path) -> None:
    fits = "x" * WRITE_BYTES
    trial = stage.reply(f"Look.\n\n/write-file a.txt\n```\n{fits}\n```\n/write-file b.txt\n```\nx{fits}\n```")
    sizes = [version.blob.size for version in FileVersion.objects.select_related("blob")]
    assert [outcome.outcome for outcome in trial.outcomes] == [ActionOutcome.APPLIED, ActionOutcome.DENIED]
    assert sizes == [WRITE_BYTES]
    assert "at most 4,194,304 fit" in trial.outcomes[1].reason
    assert [path.stat().st_size for path in data_folder.rglob("a.txt")] == [WRITE_BYTES]


def test_a_file_that_waits_for_the_board_leaves_no_bytes_before_its_yes(stage: Stage, data_folder: Path) -> None:
    change_policy(actor=stage.owner, company=stage.company, permission=Right.WRITE_FILE, grant=Grant.APPROVAL)
    outcome = stage.outcome("Look.\n\n/write-file a.txt\n```\nText.\n```")
    assert outcome.outcome == ActionOutcome.APPROVAL
    assert [path for path in data_folder.rglob("*") if path.is_file()] == []
    assert stage.decide(stage.issue.approvals.get()).failure == ""
    assert [path.read_text() for path in data_folder.rglob("a.txt")] == ["Text."]


def test_the_quota_is_a_denial_with_the_figures(stage: Stage) -> None:
    stage.company.file_quota_mib = 1
    stage.company.save(update_fields=["file_quota_mib"])
    outcome = stage.outcome(f"Look.\n\n/write-file a.txt\n```\n{'x' * 1_048_577}\n```")
    assert outcome.outcome == ActionOutcome.DENIED
    assert "the company's files take 0 of 1,048,576 bytes" in outcome.reason


def upload(client: Client, owner: Person, issue: Issue, name: str, content: bytes) -> tuple[int, str]:
    """The answer to a body written by hand: a client's library would make the name harmless."""
    _, key = create_user_key(actor=owner, user=owner.user, name="test")
    body = (
        b'--cut\r\nContent-Disposition: form-data; name="file"; filename="'
        + name.encode("utf-8", "surrogatepass")
        + b'"\r\nContent-Type: text/plain\r\n\r\n'
        + content
        + b"\r\n--cut--\r\n"
    )
    answer = client.generic(
        "POST",
        f"/api/issues/{issue.identifier}/attachments",
        body,
        content_type="multipart/form-data; boundary=cut",
        headers={"Authorization": f"Bearer {key}"},
    )
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("path", ATTACKS)
def test_an_uploads_name_is_refused_or_is_no_more_than_a_name(
    path: str, stage: Stage, client: Client, data_folder: Path
) -> None:
    status, said = upload(client, stage.owner, stage.issue, path, b"attack")
    kept = list(Attachment.objects.values_list("name", flat=True))
    if status == 201:
        (name,) = kept
        assert check_path(name) == name
        assert "/" not in name
    else:
        assert status in (400, 422), said
        assert re.search("is refused: |not a file|No file|total header size", said), said
        assert kept == []
        assert not Blob.objects.exists()
    assert {path.parent.parent.name for path in data_folder.rglob("*") if path.is_file()} <= {"blobs"}


def test_an_upload_has_25_mib_to_the_byte(stage: Stage, client: Client) -> None:
    assert upload(client, stage.owner, stage.issue, "a.bin", b"\x00" * ATTACHMENT_BYTES)[0] == 201
    status, said = upload(client, stage.owner, stage.issue, "b.bin", b"\x00" * (ATTACHMENT_BYTES + 1))
    assert status == 413
    assert "at most 26,214,400 fit" in said
    assert Attachment.objects.count() == 1
