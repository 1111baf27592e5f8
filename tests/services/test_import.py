"""A company from the file it was exported to: all of it, or nothing."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from agents.export import export_pieces
from agents.imports.archive import LINE_BYTES, Archive
from agents.model_choices import ModelChoice
from agents.models import Routine, Wakeup
from agents.services.imports import import_company
from agents.services.providers import change_models
from issues.actors import Person
from issues.models import Attachment, Comment, Company, CompanyStatus, InboxItem, Issue, Status, User, WorkspaceFile
from issues.refusals import Refusal
from issues.services.comments import pin_comment
from issues.services.companies import change_company
from issues.services.issues import set_status
from issues.services.policy import set_cap
from tests import build
from tests.services.exporting import company_with_everything, rows

pytestmark = pytest.mark.django_db

Change = Callable[[dict[str, list[Any]]], object]


@pytest.fixture
def founded() -> tuple[Company, Person]:
    return company_with_everything()


@pytest.fixture
def company(founded: tuple[Company, Person]) -> Company:
    return founded[0]


def exported(of: Company) -> bytes:
    return b"".join(export_pieces(of))


def imported(file: bytes, *, by: Person | None = None, **options: Any) -> Company:
    actor = by or Person(build.user("newcomer"))
    return import_company(actor=actor, archive=Archive(io.BytesIO(file)), **options).company


def altered(file: bytes, change: Change) -> bytes:
    """The file after its rows, by part, were changed."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    read = {name: [json.loads(line) for line in parts[name].splitlines()] for name in parts if "json" in name}
    change(read)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, "\n".join(map(json.dumps, read[name])) if name in read else content)
    return out.getvalue()


def test_what_comes_out_of_it_again_is_what_went_in(company: Company, founded: tuple[Company, Person]) -> None:
    owner = founded[1]
    change_company(actor=owner, company=company, hop_limit=3, norms="Be brief.", checkpoints=False)
    set_cap(actor=owner, company=company, verb="assign", cap=2)
    pin_comment(actor=owner, comment=Comment.objects.get(body="On it."))
    set_status(actor=owner, issue=company.issues.get(number=1), status=Status.DONE)
    build.member(company, "reader", role="viewer")
    before = zipfile.ZipFile(io.BytesIO(exported(company)))
    again = imported(exported(company), key="AGAIN")
    after = zipfile.ZipFile(io.BytesIO(exported(again)))
    assert sorted(before.namelist()) == sorted(after.namelist())
    for name in before.namelist():
        if name.startswith("blobs/"):
            assert before.read(name) == after.read(name)
            continue
        expected, found = rows(before, name), rows(after, name)
        for row in (*expected, *found):
            for passing in ("exported_at", "key", "enabled") + (("name",) if name == "members.jsonl" else ()):
                row.pop(passing, None)
        assert found == expected, name


def test_it_wakes_and_tells_nobody_and_waits_for_somebody_to_begin(company: Company) -> None:
    build.issue(company, "For @bob", description="@bob and @acme-founder", assignee=company.agents.get(handle="bob"))
    file = exported(company)
    wakeups, items = Wakeup.objects.count(), InboxItem.objects.count()
    again = imported(file, key="AGAIN")
    assert (Wakeup.objects.count(), InboxItem.objects.count()) == (wakeups, items)
    assert again.status == CompanyStatus.PAUSED
    assert [routine.enabled for routine in Routine.objects.filter(company=again)] == [False]
    page = Client()
    page.force_login(User.objects.get(username="newcomer"))
    assert page.get("/again/issues/AGAIN-1/").status_code == 200
    assert build.issue(again, "Next").number == 4


def test_what_was_a_program_elsewhere_runs_nothing_here_until_an_owner_says_what(company: Company) -> None:
    build.agent(company, "Cato", adapter="process", command="cat")
    assert b'"cat"' not in zipfile.ZipFile(io.BytesIO(exported(company))).read("agents.jsonl")

    def change(parts: dict[str, list[Any]]) -> None:
        parts["agents.jsonl"][-1]["command"] = "rm -r ."

    file = altered(exported(company), change)
    done = import_company(actor=Person(build.user()), archive=Archive(io.BytesIO(file)), key="AGAIN")
    cato = done.company.agents.get(handle="cato")
    assert (cato.adapter, cato.command, cato.status) == ("llm", "", "paused")
    assert any("@cato was a program on its server" in remark for remark in done.remarks)


def test_secrets_and_kinds_of_files_are_told_from_the_texts_anew(company: Company) -> None:
    def change(parts: dict[str, list[Any]]) -> None:
        parts["issues.jsonl"][0]["description"] = f"ghp_{'a1' * 18}"
        parts["attachments.jsonl"][0]["media_type"] = "text/html"

    again = imported(altered(exported(company), change), key="AGAIN")
    assert again.issues.get(number=1).secrets == ["GitHub token"]
    assert Attachment.objects.get(issue__company=again).media_type == "text/plain"
    assert set(WorkspaceFile.objects.filter(issue__company=again).values_list("is_made", flat=True)) == {False}


def test_the_other_members_are_whom_one_says_or_new_accounts_without_a_password(company: Company) -> None:
    for handle in ("cleo", "dora"):
        build.member(company, handle)
    cleo = build.user("her-own-account")
    again = imported(exported(company), key="AGAIN", accounts={"cleo": cleo})
    members = {member.handle: member for member in again.members.select_related("user")}
    assert (members["acme-founder"].user.username, members["cleo"].user) == ("newcomer", cleo)
    dora = members["dora"].user
    assert (dora.username, dora.name, dora.has_usable_password()) == ("again-dora", "Dora", False)


def test_models_of_providers_that_are_not_here_are_left_out_with_a_word(
    company: Company, founded: tuple[Company, Person]
) -> None:
    build.provider(company, "home")
    change_models(actor=founded[1], company=company, chain=[ModelChoice("home", "house-model")])
    company.refresh_from_db()
    done = import_company(actor=Person(build.user()), archive=Archive(io.BytesIO(exported(company))), key="AGAIN")
    assert done.company.model_chain == []
    assert "no provider “home”" in done.remarks[0]


def _ring(parts: dict[str, list[Any]]) -> None:
    parts["issues.jsonl"][0]["parent"], parts["issues.jsonl"][1]["parent"] = 2, 1


def _both(parts: dict[str, list[Any]]) -> None:
    parts["files.jsonl"][1]["path"] = "notes"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parts: parts["company.json"][0].update(format=2), "another version"),
        (lambda parts: parts["company.json"][0].update(hop_limit="many"), "company.json, line 1: “hop_limit”"),
        (lambda parts: parts["company.json"][0].update(hop_limit=-1), "hop limit must be"),
        (lambda parts: parts["company.json"][0].update(action_caps=[]), "“action_caps”"),
        (lambda parts: parts["members.jsonl"][0].update(handle="../x"), "cannot be a handle"),
        (lambda parts: parts["members.jsonl"].append({"handle": "x", "name": "X", "role": "god"}), "role"),
        (lambda parts: parts["agents.jsonl"][0].update(adapter="shell"), "agents.jsonl, line 1: “shell”"),
        (lambda parts: parts["agents.jsonl"][0].update(manager="bob"), "report to itself"),
        (lambda parts: parts["agents.jsonl"].append(parts["agents.jsonl"][0]), "is taken"),
        (lambda parts: parts["skills.jsonl"][0].update(agents=["gone"]), "none of its agents"),
        (lambda parts: parts["routines.jsonl"][0].update(cron="whenever"), "routines.jsonl, line 1"),
        (lambda parts: parts["issues.jsonl"][0].update(status="lost"), "issues.jsonl, line 1: 'lost'"),
        (lambda parts: parts["issues.jsonl"][0].update(priority=9), "priority"),
        (lambda parts: parts["issues.jsonl"][0].update(number=2), "two issues 2"),
        (lambda parts: parts["issues.jsonl"][0].update(number=2**40), "number"),
        (lambda parts: parts["issues.jsonl"][0].update(title="a\x00b"), "NUL"),
        (lambda parts: parts["issues.jsonl"][0].update(description="a\ud800b"), "surrogate"),
        (lambda parts: parts["issues.jsonl"][0].update(assignee="nobody"), "no member “nobody”"),
        (lambda parts: parts["issues.jsonl"][0].update(created_at="2026-01-01T00:00:00"), "moment with its zone"),
        (lambda parts: parts["issues.jsonl"][0].update(due_date="2026-02-31"), "day"),
        (lambda parts: parts["issues.jsonl"][0].update(labels=["none"]), "no label “none”"),
        (lambda parts: parts["issues.jsonl"][0].update(blockers=[1]), "waits for itself"),
        (lambda parts: parts["issues.jsonl"][0].update(blockers=[99]), "issue 99, which is not"),
        (_ring, "hangs under itself"),
        (lambda parts: parts["comments.jsonl"][0].update(issue=99), "issue that is not in the file"),
        (lambda parts: parts["comments.jsonl"][0].update(body=" "), "empty"),
        (lambda parts: parts["comments.jsonl"][0].update(body="x" * 64_001), "64,001 bytes"),
        (lambda parts: parts["comments.jsonl"][0].update(body="x" * LINE_BYTES), "more than is read"),
        (lambda parts: parts["comments.jsonl"].append([]), "no JSON object"),
        (lambda parts: parts["findings.jsonl"][0].update(agent=None), "names no agent"),
        (lambda parts: parts["files.jsonl"][0].update(path="../../evil"), "not a file or folder name"),
        (_both, "both a file and a folder"),
    ],
)  # fmt: skip
def test_what_could_not_have_come_about_here_is_refused_with_its_place_and_nothing_is_made(
    company: Company, change: Change, words: str
) -> None:
    before = (Company.objects.count(), Issue.objects.count())
    with pytest.raises(Refusal, match=words):
        imported(altered(exported(company), change), key="AGAIN")
    assert (Company.objects.count(), Issue.objects.count()) == before


@pytest.mark.parametrize("file", [b"", b"PK\x03\x04 and no more", b"%PDF-1.4"])
def test_what_is_no_such_file_is_refused(file: bytes) -> None:
    with pytest.raises(Refusal, match="no zip file"):
        imported(file)


def test_bytes_that_are_not_what_their_name_says_are_refused_and_missing_ones_left_out(company: Company) -> None:
    digest = hashlib.sha256(b"attached").hexdigest().encode()
    with pytest.raises(Refusal, match="not what its name says"):
        imported(_with_bytes(exported(company), digest.decode(), b"others"), key="AGAIN")
    done = import_company(
        actor=Person(build.user()),
        archive=Archive(io.BytesIO(_with_bytes(exported(company), digest.decode(), None))),
        key="AGAIN",
    )
    assert not Attachment.objects.filter(issue__company=done.company).exists()
    assert "was left out" in done.remarks[0]


def test_files_over_the_quota_are_refused(company: Company) -> None:
    def change(parts: dict[str, list[Any]]) -> None:
        parts["company.json"][0]["file_quota_mib"] = 1

    big = bytes(1024 * 1024)
    digest = hashlib.sha256(big).hexdigest()
    file = _with_bytes(altered(exported(company), change), digest, big)
    with pytest.raises(Refusal, match="do not fit"):
        imported(altered(file, lambda parts: parts["attachments.jsonl"][0].update(blob=digest)), key="AGAIN")


def _with_bytes(file: bytes, digest: str, content: bytes | None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            if name != f"blobs/{digest}":
                after.writestr(name, before.read(name))
        if content is not None:
            after.writestr(f"blobs/{digest}", content)
    return out.getvalue()


class TestCommand:
    @pytest.fixture
    def file(self, company: Company, tmp_path: Path) -> str:
        path = tmp_path / "acme.zip"
        path.write_bytes(exported(company))
        return str(path)

    def said(self, file: str, *arguments: str) -> str:
        out = io.StringIO()
        call_command("import_company", file, *arguments, stdout=out)
        return out.getvalue()

    def test_a_preview_says_what_there_would_be_and_changes_nothing(self, file: str) -> None:
        said = self.said(file, "--preview", "--key", "NEW")
        assert "NEW: Acme Ltd would hold 2 agents, 1 projects" in said
        assert "Nothing was changed." in said
        assert [company.key for company in Company.objects.all()] == ["ACME"]

    def test_a_key_that_is_taken_is_renamed_skipped_or_replaced(self, file: str, company: Company) -> None:
        with pytest.raises(CommandError, match="--if-taken skip"):
            self.said(file)
        assert "nothing was done" in self.said(file, "--if-taken", "skip")
        assert "NEW: Acme Ltd holds" in self.said(file, "--key", "new")
        company.runs.update(state="succeeded", ended_at=company.created_at)
        assert "ACME: Acme Ltd holds" in self.said(file, "--if-taken", "replace")
        assert sorted(Company.objects.values_list("key", flat=True)) == ["ACME", "NEW"]
        assert not Company.objects.filter(pk=company.pk).exists()

    def test_a_file_that_is_refused_does_not_take_away_what_it_was_to_replace(
        self, file: str, company: Company, tmp_path: Path
    ) -> None:
        company.runs.update(state="succeeded", ended_at=company.created_at)
        broken = tmp_path / "broken.zip"
        broken.write_bytes(altered(Path(file).read_bytes(), _ring))
        with pytest.raises(CommandError, match=r"Nothing was changed. issues\.jsonl"):
            self.said(str(broken), "--if-taken", "replace")
        assert Company.objects.get(key="ACME").issues.count() == 2

    def test_whose_it_is_and_who_is_who_can_be_said(self, file: str) -> None:
        build.user("boss")
        self.said(file, "--key", "NEW", "--owner", "boss")
        assert [member.user.username for member in Company.objects.get(key="NEW").members.all()] == ["boss"]
        for arguments, words in (
            (("--key", "X1", "--owner", "nobody"), "no active account “nobody”"),
            (("--key", "X1", "--member", "cleo=nobody"), "no active account “nobody”"),
        ):
            with pytest.raises(CommandError, match=words):
                self.said(file, *arguments)
        with pytest.raises(CommandError, match="cannot be read"):
            self.said(file + ".none")
