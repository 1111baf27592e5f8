"""A company as one zip file: whole, without keys, and nobody else's."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from agents import export
from agents.export import export_pieces
from engine.routing import secrets_of
from issues.actors import Person
from issues.models import Activity, Company, Role
from issues.services.files import attach_file
from issues.services.keys import create_agent_key
from tests import build
from tests.services.exporting import company_with_everything, rows

CANARY = "canary-7f3a"


@pytest.fixture
def founded(db: None) -> tuple[Company, Person]:
    return company_with_everything()


@pytest.fixture
def company(founded: tuple[Company, Person]) -> Company:
    return founded[0]


def opened(company: Company) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(export_pieces(company, known_secrets=secrets_of(company)))))
    assert archive.testzip() is None
    return archive


def test_everything_stands_in_it_and_names_one_another(company: Company) -> None:
    archive = opened(company)
    [about] = rows(archive, "company.json")
    assert (about["format"], about["key"], about["hop_limit"]) == (export.FORMAT, "ACME", company.hop_limit)
    agents = {row["handle"]: row for row in rows(archive, "agents.jsonl")}
    assert (agents["ada"]["instructions"], agents["bob"]["manager"]) == ("Be kind.", "ada")
    first, second = rows(archive, "issues.jsonl")
    assert (first["title"], first["assignee"], first["labels"]) == ("First — ünïcode", "ada", ["bug"])
    assert (second["parent"], second["blockers"], second["reviewers"][0]["reviewer"]) == (1, [1], "bob")
    assert rows(archive, "skills.jsonl")[0]["agents"] == ["ada"]
    assert rows(archive, "routines.jsonl")[0]["assignee"] == "ada"
    assert [(row["issue"], row["author"], row["body"]) for row in rows(archive, "comments.jsonl")] == [
        (1, "ada", "On it.")
    ]
    assert rows(archive, "findings.jsonl")[0]["body"] == "It is the cache."
    assert len(rows(archive, "projects.jsonl")) == len(rows(archive, "labels.jsonl")) == 1
    assert [row["role"] for row in rows(archive, "members.jsonl")] == ["owner"]


def test_files_are_there_under_their_hash_and_no_name_of_theirs_is_a_path(company: Company) -> None:
    archive = opened(company)
    [attached] = rows(archive, "attachments.jsonl")
    versions = rows(archive, "files.jsonl")
    assert [(row["path"], row["version"]) for row in versions] == [("notes/a.md", 1), ("notes/a.md", 2)]
    contents = [archive.read(f"blobs/{row['blob']}") for row in (attached, *versions)]
    assert contents == [b"attached", b"one", b"two"]
    assert all(
        hashlib.sha256(archive.read(n)).hexdigest() == n[6:] for n in archive.namelist() if n.startswith("blobs/")
    )
    assert all(name.startswith("blobs/") or "/" not in name for name in archive.namelist())


def test_no_key_and_no_account_is_in_it(company: Company, founded: tuple[Company, Person], settings: Any) -> None:
    model_key = f"sk-{CANARY}-0123456789abcdef"
    settings.LLM = replace(settings.LLM, openai_api_key=model_key)
    owner = founded[1]
    _, key = create_agent_key(actor=owner, agent=company.agents.get(handle="bob"))
    owner.user.email = "secret@example.org"
    owner.user.save()
    build.issue(company, f"My key is {model_key}")
    archive = opened(company)
    whole = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (model_key, key, "secret@example.org", owner.user.password or "no password"):
        assert secret.encode() not in whole


def test_another_companys_rows_and_files_are_not_in_it(company: Company) -> None:
    other, owner = build.company_with_founder("OTHR")
    agent = build.agent(other, CANARY, adapter="external")
    issue = build.issue(other, CANARY, assignee=agent)
    build.comment(issue, CANARY)
    attach_file(actor=owner, issue=issue, name="a.txt", content=CANARY.encode())
    archive = opened(company)
    assert CANARY.encode() not in b"".join(archive.read(name) for name in archive.namelist())


def test_it_takes_as_many_queries_whatever_there_is(company: Company, django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        build.comment(build.issue(company, f"More {number}"), "x")
    with django_assert_max_num_queries(20):
        opened(company)


def test_a_file_that_is_missing_on_disk_is_left_out(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "path_of", lambda digest: Path("/nowhere") / digest)
    archive = opened(company)
    assert not any(name.startswith("blobs/") for name in archive.namelist())
    assert rows(archive, "attachments.jsonl")


def test_an_owner_downloads_it_and_that_is_written_down(company: Company, founded: tuple[Company, Person]) -> None:
    page = Client()
    page.force_login(founded[1].user)
    assert 'action="/acme/settings/export/"' in page.get("/acme/settings/").content.decode()
    answer = page.post("/acme/settings/export/")
    assert answer.streaming
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="acme-')
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert len(rows(archive, "issues.jsonl")) == 2
    assert Activity.objects.latest("pk").kind == "company.exported"


def test_nobody_else_does(company: Company) -> None:
    for role in (Role.BOARD, Role.VIEWER):
        page = Client()
        page.force_login(build.member(company, f"a-{role}", role=role).user)
        assert page.post("/acme/settings/export/").status_code == 403
        assert "settings/export" not in page.get("/acme/settings/").content.decode()
    stranger = Client()
    stranger.force_login(build.user("stranger"))
    assert stranger.post("/acme/settings/export/").status_code == 404


def test_the_command_writes_it_and_leaves_alone_what_is_there(company: Company, tmp_path: Path) -> None:
    path, out = tmp_path / "acme.zip", io.StringIO()
    call_command("export_company", "acme", str(path), stdout=out)
    assert "issues.jsonl …" in out.getvalue()
    with zipfile.ZipFile(path) as archive:
        assert len(rows(archive, "issues.jsonl")) == 2
    for arguments, words in (
        (("acme", str(path)), "exists already"),
        (("NOPE", str(tmp_path / "b.zip")), "There are: ACME"),
        (("acme", str(tmp_path / "none" / "b.zip")), "cannot be written"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("export_company", *arguments, stdout=io.StringIO())
