"""An installation with a data folder of its own, and a backup of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from agents.models import Agent, DryRun
from issues.actors import Person
from issues.models import Company, Issue
from issues.services.comments import write_comment
from issues.services.files import attach_file
from issues.services.notices import note_new
from tests import build
from tests.engine.backups.commands import drop_former, run


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    if connection.vendor == "postgresql" and shutil.which("pg_dump") is None:
        pytest.skip("no pg_dump: apt-get install postgresql-client")
    yield settings.DATA_DIR
    if connection.vendor == "postgresql":
        drop_former()


@pytest.fixture
def issue(company: Company, owner: Person, ada: Agent) -> Issue:
    """With a file, a comment, and its agent at work."""
    issue = build.issue(company, "Before", assignee=ada)
    attach_file(actor=owner, issue=issue, name="a.txt", content=b"bytes")
    build.member(company, "octavia")
    write_comment(actor=owner, issue=issue, body="Said before to @octavia.")
    note_new()
    write_comment(actor=owner, issue=issue, body="And again, @octavia.")
    run = build.at_work(ada, issue).run
    assert run is not None
    DryRun.objects.create(company=company, run=run, member=build.member_row(owner))
    return issue


@pytest.fixture
def backup(issue: Issue, tmp_path: Path) -> Path:
    path = tmp_path / "kept.zip"
    run("backup", to=str(path))
    return path
