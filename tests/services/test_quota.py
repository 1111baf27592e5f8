"""What a company's files may take together, counted to the byte, whoever adds them and how many at once."""

from __future__ import annotations

from functools import partial

import pytest

from agents.models import Agent
from issues.actors import Person, Worker
from issues.models import Attachment, Blob, Company, FileUse, FileVersion, Issue
from issues.quota import MIB, recount
from issues.refusals import Invalid, OverQuota
from issues.services.companies import change_company
from issues.services.files import attach_file, write_file
from issues.services.issues import delete_issue
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def company() -> Company:
    return build.company_with_founder(file_quota_mib=1)[0]


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    return build.at_work(ada, build.issue(company, assignee=ada))


@pytest.fixture
def home(worker: Worker) -> Issue:
    assert worker.home is not None
    return worker.home


def used(company: Company) -> int:
    return Company.objects.get(pk=company.pk).file_bytes


def test_attachments_and_every_version_count_at_their_full_size(
    company: Company, owner: Person, worker: Worker, home: Issue
) -> None:
    assert used(company) == 0
    attach_file(actor=owner, issue=home, name="a.txt", content=b"x" * 100)
    write_file(actor=worker, issue=home, path="a.txt", text="x" * 100)
    write_file(actor=worker, issue=home, path="a.txt", text="y" * 10)
    assert used(company) == 210
    write_file(actor=worker, issue=home, path="a.txt", text="y" * 10)  # makes no version
    assert used(company) == 210


def test_the_quota_holds_to_the_byte(company: Company, owner: Person, worker: Worker, home: Issue) -> None:
    attach_file(actor=owner, issue=home, name="a.bin", content=b"\x00" * (MIB - 10))
    with pytest.raises(OverQuota) as refused:
        write_file(actor=worker, issue=home, path="a.txt", text="x" * 11)
    assert refused.value.facts == {"needed": 11, "used": MIB - 10, "allowed": MIB}
    assert "11 bytes do not fit: the company's files take 1,048,566 of 1,048,576 bytes." in str(refused.value)
    assert not FileVersion.objects.exists()
    write_file(actor=worker, issue=home, path="a.txt", text="x" * 10)
    with pytest.raises(OverQuota):
        attach_file(actor=owner, issue=home, name="b.txt", content=b"1")
    assert used(company) == MIB
    assert Blob.objects.count() == 2


def test_an_owner_makes_room_and_takes_it_away(company: Company, owner: Person, issue: Issue) -> None:
    attach_file(actor=owner, issue=issue, name="a.bin", content=b"\x00" * MIB)
    company = change_company(actor=owner, company=company, file_quota_mib=2)
    issue.refresh_from_db()
    attach_file(actor=owner, issue=issue, name="b.bin", content=b"\x01" * MIB)
    change_company(actor=owner, company=company, file_quota_mib=1)
    issue.refresh_from_db()
    with pytest.raises(OverQuota, match=r"2,097,152 of 1,048,576"):
        attach_file(actor=owner, issue=issue, name="c.bin", content=b"1")
    with pytest.raises(Invalid):
        change_company(actor=owner, company=company, file_quota_mib=0)


def test_a_deleted_issue_gives_its_room_back(company: Company, owner: Person, ada: Agent) -> None:
    issue, other = build.issue(company, assignee=ada), build.issue(company)
    attach_file(actor=owner, issue=other, name="a.txt", content=b"123")
    attach_file(actor=owner, issue=issue, name="a.txt", content=b"12345")
    delete_issue(actor=owner, issue=issue)
    assert used(company) == 3


def test_a_companys_files_are_its_own(company: Company, owner: Person, issue: Issue) -> None:
    other, stranger = build.company_with_founder("OTHER", file_quota_mib=1)
    attach_file(actor=owner, issue=issue, name="a.bin", content=b"\x00" * MIB)
    attach_file(actor=stranger, issue=build.issue(other), name="a.bin", content=b"\x00" * MIB)
    assert (used(company), used(other)) == (MIB, MIB)


def test_a_recount_puts_the_counter_right(company: Company, owner: Person, worker: Worker, home: Issue) -> None:
    attach_file(actor=owner, issue=home, name="a.txt", content=b"12345")
    write_file(actor=worker, issue=home, path="a.txt", text="123")
    for wrong in (0, 999):
        FileUse.objects.update(bytes=wrong)
        recount(company.pk)
        assert used(company) == 8
    FileUse.objects.all().delete()
    recount(company.pk)
    assert used(company) == 8


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_files", [False, True], ids=["the first files", "more files"])
def test_files_added_at_once_do_not_pass_it_together(company: Company, owner: Person, has_files: bool) -> None:
    if has_files:
        attach_file(actor=owner, issue=build.issue(company), name="a.txt", content=b"1")
    third = MIB // 3 - 1
    issues = [build.issue(company) for _ in range(6)]
    results = at_once(
        [
            partial(attach_file, actor=owner, issue=issue, name="a.bin", content=bytes([number]) * third)
            for number, issue in enumerate(issues)
        ]
    )
    assert sum(isinstance(result, Attachment) for result in results) == 3
    assert sum(isinstance(result, OverQuota) for result in results) == 3, results
    assert used(company) == 3 * third + has_files
