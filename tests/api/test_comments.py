"""Comments and attachments over the API."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.models import Agent, Wakeup
from issues.actors import Person
from issues.blobs import path_of
from issues.models import Attachment, Company, Role
from issues.services.companies import change_company
from issues.services.files import attach_file, read_attachment, write_file
from tests import build
from tests.api.client import Api, as_person


def test_a_comment_is_written_and_wakes_whom_it_mentions(api: Api, company: Company, ada: Agent) -> None:
    build.issue(company)
    written = api.post("issues/ACME-1/comments", {"body": "Please look, @ada."})
    assert written.status == 201
    assert written["author"] == {"kind": "member", "handle": "acme-founder", "name": "Acme-founder"}
    assert [wakeup.source for wakeup in build.pending(ada)] == ["mention"]


def test_a_comment_calls_nobody_it_says_not_to(api: Api, company: Company, ada: Agent) -> None:
    build.issue(company)
    api.post("issues/ACME-1/comments", {"body": "As @ada said.", "without": ["ada"]})
    assert build.pending(ada) == []


def test_a_first_line_that_is_indented_stays_code_and_calls_nobody(api: Api, company: Company, ada: Agent) -> None:
    code = "    @ada is called so in the code"
    opened = api.post("issues", {"title": "One", "description": code})
    written = api.post("issues/ACME-1/comments", {"body": code})
    assert (opened["description"], written["body"]) == (code, code)
    assert api.post("mentions", {"text": code, "issue": "ACME-1"})["wakes"] == []
    assert build.pending(ada) == []


def test_whom_a_comment_means_in_vain_is_answered(api: Api, company: Company) -> None:
    build.issue(company)
    for handle in ("al1", "al2"):
        build.agent(company, "Al", handle=handle)
    written = api.post("issues/ACME-1/comments", {"body": "@Al and @nobody, look."})
    assert (written["unknown"], written["ambiguous"]) == (["nobody"], ["Al"])


class TestSeenBefore:
    @pytest.fixture(autouse=True)
    def issue(self, company: Company, ada: Agent) -> None:
        build.issue(company, assignee=ada)
        build.agent(company, "Bob")
        build.member(company, "boss")

    def test_a_comment_would_wake_the_agents_it_names_else_the_assignee(self, api: Api) -> None:
        plain = api.post("mentions", {"text": "Please look.", "issue": "ACME-1"})
        assert plain["wakes"] == [{"kind": "agent", "handle": "ada", "name": "Ada"}]
        named = api.post("mentions", {"text": "@bob, @boss and @nobody", "issue": "ACME-1"})
        assert [one["handle"] for one in named["wakes"]] == ["bob"]
        assert [one["handle"] for one in named["tells"]] == ["boss"]
        assert (named["unknown"], named["ambiguous"]) == (["nobody"], [])

    def test_a_description_would_call_those_it_names(self, api: Api) -> None:
        assert api.post("mentions", {"text": "Please look."})["wakes"] == []
        assert [one["handle"] for one in api.post("mentions", {"text": "@bob"})["wakes"]] == ["bob"]

    def test_asking_wakes_nobody(self, api: Api) -> None:
        before = Wakeup.objects.count()
        api.post("mentions", {"text": "@bob", "issue": "ACME-1"})
        assert Wakeup.objects.count() == before


@pytest.mark.parametrize("handle", ["ada", "@Ada", " ADA "])
def test_a_description_calls_nobody_it_says_not_to(api: Api, company: Company, ada: Agent, handle: str) -> None:
    opened = api.post("issues", {"title": "One", "description": "As @ada said.", "without": [handle]})
    api.post("issues", {"title": "Two"})
    api.patch("issues/ACME-2", {"description": "As @ada said.", "without": [handle]})
    assert opened["description"] == "As @ada said."
    assert build.pending(ada) == []
    api.patch("issues/ACME-2", {"description": "Or not."})
    api.patch("issues/ACME-2", {"description": "As @ada said."})
    assert [wakeup.source for wakeup in build.pending(ada)] == ["mention"]


def test_an_edit_that_calls_leaves_out_whom_it_says(api: Api, company: Company, ada: Agent) -> None:
    bob = build.agent(company, "Bob")
    comment = build.comment(build.issue(company), "Hm.")
    api.patch(f"comments/{comment.pk}", {"body": "@ada and @bob", "call": True, "without": ["ada"]})
    assert (build.pending(ada), len(build.pending(bob))) == ([], 1)


def test_an_agent_writes_under_its_own_name(ada_api: Api, ada: Agent, company: Company) -> None:
    build.issue(company, assignee=ada)
    assert ada_api.post("issues/ACME-1/comments", {"body": "Done."})["author"]["kind"] == "agent"


@pytest.mark.parametrize(("order", "found"), [("oldest", ["one", "two"]), ("newest", ["two", "one"])])
def test_comments_are_listed_from_either_end(api: Api, company: Company, order: str, found: list[str]) -> None:
    issue = build.issue(company)
    build.comment(issue, "one")
    build.comment(issue, "two")
    assert [row["body"] for row in api.get("issues/ACME-1/comments", order=order).rows] == found


def test_the_own_comment_is_edited_and_deleted(api: Api, company: Company) -> None:
    comment = build.comment(build.issue(company), "Frist")
    edited = api.patch(f"comments/{comment.pk}", {"body": "First"})
    assert edited["body"] == "First"
    assert edited["edited_at"] is not None
    assert api.delete(f"comments/{comment.pk}").status == 204
    left = api.get(f"comments/{comment.pk}")
    assert left["deleted_at"] is not None
    assert "First" not in left["body"]


def test_an_edit_wakes_nobody_unless_it_says_so(api: Api, company: Company, ada: Agent) -> None:
    comment = build.comment(build.issue(company), "Hm.")
    api.patch(f"comments/{comment.pk}", {"body": "@ada, look."})
    assert build.pending(ada) == []
    api.patch(f"comments/{comment.pk}", {"body": "@ada, look here.", "call": True})
    assert [wakeup.source for wakeup in build.pending(ada)] == ["mention"]


def test_a_reaction_is_given_listed_and_taken_back(api: Api, ada_api: Api, company: Company) -> None:
    comment = build.comment(build.issue(company))
    path = f"comments/{comment.pk}/reactions"
    for _ in range(2):
        assert api.post(path, {"reaction": "thanks"}).status == 200
    assert [(row["reaction"], row["by"]["handle"]) for row in api.get(path).rows] == [("thanks", "acme-founder")]
    assert ada_api.post(path, {"reaction": "thanks"}).status == 403
    assert api.post(path, {"reaction": "applause"}).status == 422
    assert api.delete(f"{path}/thanks").status == 204
    assert api.delete(f"{path}/applause").status == 404
    assert api.get(path).rows == []


def test_the_comment_of_another_is_not_edited(company: Company) -> None:
    comment = build.comment(build.issue(company))
    other = as_person(build.member(company))
    assert other.patch(f"comments/{comment.pk}", {"body": "Mine"}).status == 403


def test_a_person_pins_and_an_agent_never(api: Api, ada_api: Api, company: Company) -> None:
    comment = build.comment(build.issue(company))
    assert ada_api.post(f"comments/{comment.pk}/pin").status == 403
    assert api.post(f"comments/{comment.pk}/pin")["pinned_at"] is not None
    assert api.delete(f"comments/{comment.pk}/pin").status == 204
    assert api.get(f"comments/{comment.pk}")["pinned_at"] is None


def test_a_viewer_reads_and_writes_nothing(company: Company) -> None:
    comment = build.comment(build.issue(company), "Seen")
    viewer = as_person(build.member(company, role=Role.VIEWER))
    assert viewer.get(f"comments/{comment.pk}")["body"] == "Seen"
    assert viewer.post("issues/ACME-1/comments", {"body": "Hello"}).status == 403
    assert viewer.patch("issues/ACME-1", {"title": "New"}).status == 403


def test_a_file_is_attached_described_and_downloaded(api: Api, company: Company) -> None:
    build.issue(company)
    content = b"<script>alert(1)</script>"
    upload = SimpleUploadedFile("page.html", content)

    attached = api.client.post("/api/issues/ACME-1/attachments", {"file": upload})

    assert attached.status_code == 201
    row = api.get(f"attachments/{attached.json()['id']}")
    assert (row["name"], row["size"]) == ("page.html", len(content))
    answer = api.client.get(f"/api/attachments/{row['id']}/content")
    assert b"".join(answer.streaming_content) == content
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_file_whose_bytes_the_disk_has_lost_is_told_as_such_at_each_door(
    api: Api, company: Company, founder: Person, ada: Agent
) -> None:
    issue = build.issue(company, assignee=ada)
    version = write_file(actor=build.at_work(ada, issue), issue=issue, path="a.md", text="lost")
    attached = attach_file(actor=founder, issue=issue, name="a.pdf", content=b"%PDF-1.4 lost")
    for blob in (version.blob_id, attached.blob_id):
        path_of(blob).unlink()
    assert api.get(f"attachments/{attached.pk}/content").status == 404
    page = Client()
    page.force_login(founder.user)
    for address in (f"attachments/{attached.pk}/a.pdf", f"issues/ACME-1/files/{version.file_id}/"):
        assert page.get(f"/acme/{address}").status_code == 404
    read_attachment(attached)
    assert Attachment.objects.get().why_unread.startswith("its bytes cannot be read")


def test_an_upload_without_a_file_is_named(api: Api, company: Company) -> None:
    build.issue(company)
    answer = api.client.post("/api/issues/ACME-1/attachments", {"name": "x"})
    assert answer.status_code == 422
    assert "name" in answer.json()["errors"]


def test_a_file_over_the_quota_is_refused_with_the_figures(api: Api, company: Company, founder: Person) -> None:
    change_company(actor=founder, company=company, file_quota_mib=1)
    build.issue(company)
    sent = {"file": SimpleUploadedFile("a.bin", b"\x00" * (1024 * 1024 + 1))}
    answer = api.client.post("/api/issues/ACME-1/attachments", sent)
    assert answer.status_code == 413
    problem = answer.json()
    assert (problem["needed"], problem["used"], problem["allowed"]) == (1_048_577, 0, 1_048_576)
    assert not Attachment.objects.exists()
    api.client.post("/api/issues/ACME-1/attachments", {"file": SimpleUploadedFile("a.bin", b"\x00" * 1024 * 1024)})
    shown = api.get("companies/ACME")
    assert (shown["file_bytes"], shown["file_quota_mib"]) == (1_048_576, 1)
    assert api.patch("companies/ACME", {"file_quota_mib": 2})["file_quota_mib"] == 2


def test_a_secret_is_named_beside_the_text_that_holds_it(api: Api, company: Company) -> None:
    secret = f"ghp_{'a1' * 20}"
    assert api.post("issues", {"company": "ACME", "title": f"Use {secret}"})["secrets"] == ["GitHub token"]
    assert api.get("issues/ACME-1")["secrets"] == ["GitHub token"]
    assert api.patch("issues/ACME-1", {"title": "Without"})["secrets"] == []
    written = api.post("issues/ACME-1/comments", {"body": f"It is {secret}"})
    assert written["secrets"] == ["GitHub token"]
    assert api.patch(f"comments/{written['id']}", {"body": "It is gone"})["secrets"] == []
    sent = {"file": SimpleUploadedFile("a.txt", secret.encode())}
    assert api.client.post("/api/issues/ACME-1/attachments", sent).json()["secrets"] == ["GitHub token"]
