"""Files: which paths are taken, how large they may be, their versions, and what a rollback leaves."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues import blobs
from issues.actors import Person, Worker
from issues.effects import unit
from issues.models import Activity, Attachment, Blob, Company, Extraction, FileVersion, Issue, WorkspaceFile
from issues.paths import check_path, path_key
from issues.refusals import Conflict, Invalid, NoRoom, TooLarge
from issues.services.files import ATTACHMENT_BYTES, WRITE_BYTES, attach_file, write_file
from tests import build

pytestmark = pytest.mark.django_db

GOOD_PATHS = {
    "a.txt": "a.txt",
    "./a.txt": "a.txt",
    "././docs/a.txt": "docs/a.txt",
    " docs/plan.md ": "docs/plan.md",
    "docs/Plan 2 (final).md": "docs/Plan 2 (final).md",
    ".gitignore": ".gitignore",
    ".github/workflows/ci.yaml": ".github/workflows/ci.yaml",
    "environment/.hidden": "environment/.hidden",
    "cafe\u0301.md": "caf\u00e9.md",
    "語/文.txt": "語/文.txt",
    "a..b/c...d": "a..b/c...d",
    "conduct.md": "conduct.md",
    "x" * 255: "x" * 255,
    "-rf": "-rf",
}
BAD_PATHS = {
    "nothing": ["", " ", ".", "./", "/"],
    "absolute": ["/etc/passwd", "C:/a", "c:a", "//host/share/a"],
    "out of the workspace": ["..", "../a", "a/../../b", "a/..", "./../a", "a/../b"],
    "empty or dotted components": ["a//b", "a/", "a/./b"],
    "backslashes": ["a\\b", "..\\a", "\\\\host\\a"],
    "control characters": ["a\x00b", "a\nb", "a\tb", "a\x1bb", "a\x7fb", "a\x85b"],
    "invisible characters": [
        "a\u200bb",
        "a\u202eb",
        "\ufeffa",
        "a\u2028b",
        "a\u2066b",
        ".g\u200cit/config",
        "a\U000e0041",
    ],
    "half of a surrogate pair": ["a\ud800"],
    "trailing dots and spaces": ["a.", "a./b", "a /b", " a/ b", "dir/ a", "...", "a..."],
    "streams and home": ["a:b", "a.txt:stream", "a.txt::$DATA", "~", "~/a", "~root/a", "a/~"],
    "devices": ["con", "CON", "con.txt", "a/nul", "COM1.log", "lpt9", "com¹", "aux .txt", "conin$", "PRN.tar.gz"],
    "places of secrets": [
        ".git/config",
        ".GIT/config",
        ".git",
        "a/.git/hooks/pre-commit",
        ".env",
        ".ENV",
        ".env.local",
        ".ssh/id_rsa",
        "a/.ssh/config",
        ".aws/credentials",
        ".netrc",
        ".npmrc",
        "GIT~1/config",
        ".hg/hgrc",
        ".envrc",
        ".kube/config",
        ".docker/config.json",
        "a/.git-credentials",
    ],
    "too long": ["x" * 256, "ä" * 128, "a/" * 501 + "b"],
}


@pytest.mark.parametrize(("wanted", "path"), GOOD_PATHS.items())
def test_a_plain_path_is_taken_in_one_form(wanted: str, path: str) -> None:
    assert check_path(wanted) == path
    assert check_path(path) == path


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in BAD_PATHS.items() for path in paths])
def test_a_doubtful_path_is_refused(kind: str, path: str) -> None:
    with pytest.raises(Invalid, match="refused"):
        check_path(path)


@pytest.mark.parametrize(
    ("one", "other"), [("A.txt", "a.TXT"), ("cafe\u0301", "CAFÉ"), ("straße", "STRASSE"), ("ﬁ", "FI"), ("ς", "Σ")]
)
def test_paths_that_could_be_one_file_have_one_key(one: str, other: str) -> None:
    assert path_key(one) == path_key(other)


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    return build.at_work(ada, build.issue(company, assignee=ada))


@pytest.fixture
def home(worker: Worker) -> Issue:
    assert worker.home is not None
    return worker.home


def content(version: FileVersion) -> str:
    return blobs.read(version.blob).decode()


class TestWriting:
    def test_each_content_is_the_next_version(self, worker: Worker, home: Issue) -> None:
        versions = [write_file(actor=worker, issue=home, path="a.txt", text=text) for text in ("one", "two", "one")]
        assert [version.number for version in versions] == [1, 2, 3]
        assert [content(version) for version in versions] == ["one", "two", "one"]
        assert versions[0].blob == versions[2].blob
        assert (versions[0].agent, versions[0].run) == (worker.agent, worker.run)

    def test_the_same_content_again_makes_none(self, worker: Worker, home: Issue) -> None:
        first = write_file(actor=worker, issue=home, path="a.txt", text="one")
        assert write_file(actor=worker, issue=home, path="./a.txt", text="one") == first
        assert Activity.objects.filter(kind="file.written").count() == 1

    @pytest.mark.parametrize("character", ["x", "ä"])
    def test_a_file_may_have_4_mib_to_the_byte(self, character: str, worker: Worker, home: Issue) -> None:
        fits = character * (WRITE_BYTES // len(character.encode()))
        assert WRITE_BYTES == 4 * 1024 * 1024
        assert write_file(actor=worker, issue=home, path="a.txt", text=fits).blob.size == WRITE_BYTES
        with pytest.raises(TooLarge):
            write_file(actor=worker, issue=home, path="b.txt", text=fits + "x")
        assert not WorkspaceFile.objects.filter(path="b.txt").exists()

    def test_an_empty_file_is_a_file(self, worker: Worker, home: Issue) -> None:
        assert write_file(actor=worker, issue=home, path="a.txt", text="").blob.size == 0

    def test_half_of_a_surrogate_pair_is_refused(self, worker: Worker, home: Issue) -> None:
        with pytest.raises(Invalid, match="surrogate"):
            write_file(actor=worker, issue=home, path="a.txt", text="\ud800")

    @pytest.mark.parametrize("other", ["A.txt", "a.TXT"])
    def test_two_names_do_not_collide_by_case(self, other: str, worker: Worker, home: Issue) -> None:
        write_file(actor=worker, issue=home, path="a.txt", text="one")
        with pytest.raises(Conflict, match="one file on some systems"):
            write_file(actor=worker, issue=home, path=other, text="two")

    def test_a_name_is_one_however_its_accents_are_typed(self, worker: Worker, home: Issue) -> None:
        write_file(actor=worker, issue=home, path="caf\u00e9", text="one")
        assert write_file(actor=worker, issue=home, path="cafe\u0301", text="two").number == 2

    def test_a_file_is_no_folder_and_a_folder_no_file(self, worker: Worker, home: Issue) -> None:
        write_file(actor=worker, issue=home, path="docs/plan.md", text="x")
        write_file(actor=worker, issue=home, path="docs.md", text="x")
        with pytest.raises(Conflict, match="folder already"):
            write_file(actor=worker, issue=home, path="DOCS", text="x")
        for below in ("docs/plan.md/more", "Docs/PLAN.md/a/b"):
            with pytest.raises(Conflict, match="is a file already"):
                write_file(actor=worker, issue=home, path=below, text="x")
        assert set(WorkspaceFile.objects.values_list("path", flat=True)) == {"docs/plan.md", "docs.md"}

    def test_signs_of_patterns_in_names_are_only_signs(self, worker: Worker, home: Issue) -> None:
        for path in ("a%/x", "ab/x", "a_/x", "a%", "a_"):
            if path in ("a%", "a_"):
                with pytest.raises(Conflict, match="folder already"):
                    write_file(actor=worker, issue=home, path=path, text="x")
            else:
                write_file(actor=worker, issue=home, path=path, text="x")
        write_file(actor=worker, issue=home, path="a", text="x")

    def test_another_issue_has_its_own_files(self, company: Company, ada: Agent, worker: Worker, home: Issue) -> None:
        other = build.issue(company, assignee=ada)
        write_file(actor=worker, issue=home, path="a.txt", text="one")
        assert write_file(actor=worker, issue=other, path="A.txt", text="two").number == 1

    def test_a_rollback_leaves_no_file(self, worker: Worker, home: Issue) -> None:
        def write_and_fail() -> None:
            with unit():
                write_file(actor=worker, issue=home, path="a.txt", text="never to be seen")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write_and_fail()
        assert not WorkspaceFile.objects.exists()
        assert not Blob.objects.exists()


class TestBlobs:
    def test_equal_bytes_are_kept_once(self, owner: Person, worker: Worker, home: Issue) -> None:
        attach_file(actor=owner, issue=home, name="a.txt", content=b"same")
        write_file(actor=worker, issue=home, path="b.txt", text="same")
        assert Blob.objects.count() == 1

    def test_a_full_disk_is_told_and_leaves_neither_half_a_file_nor_a_row(
        self, monkeypatch: pytest.MonkeyPatch, owner: Person, issue: Issue
    ) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(NoRoom, match="the disk is full"):
            attach_file(actor=owner, issue=issue, name="a.txt", content=b"too much for this disk")
        folder = blobs.path_of(Blob(sha256="0").sha256).parent.parent
        assert not list(folder.rglob(".incoming-*"))
        assert not Blob.objects.exists()
        assert not Attachment.objects.exists()
        monkeypatch.undo()
        assert attach_file(actor=owner, issue=issue, name="a.txt", content=b"too much for this disk").pk


class TestAttaching:
    @pytest.mark.parametrize(
        ("name", "content", "media_type", "extraction", "text"),
        [
            ("notes.md", b"# Notes", "text/markdown", Extraction.DONE, "# Notes"),
            ("notes.txt", "\ufeffZoë".encode(), "text/plain", Extraction.DONE, "Zoë"),
            ("table.csv", b"a,b", "text/csv", Extraction.DONE, "a,b"),
            ("data.json", b"{}", "application/json", Extraction.DONE, "{}"),
            ("page.html", b"<script>", "text/plain", Extraction.DONE, "<script>"),
            ("drawing.svg", b"<svg onload=x>", "text/plain", Extraction.DONE, "<svg onload=x>"),
        ],
    )
    def test_plain_text_is_read_and_nothing_that_a_browser_would_run_is_taken_for_its_name(
        self, name: str, content: bytes, media_type: str, extraction: Extraction, text: str, owner: Person, issue: Issue
    ) -> None:
        attached = attach_file(actor=owner, issue=issue, name=name, content=content)
        assert (attached.media_type, attached.extraction, attached.text) == (media_type, extraction, text)
        assert blobs.read(attached.blob) == content

    @pytest.mark.parametrize(
        ("sent", "kept"), [("a.txt", "a.txt"), ("/home/me/a.txt", "a.txt"), ("C:\\Users\\me\\a.txt", "a.txt")]
    )
    def test_only_the_last_part_of_a_name_is_kept(self, sent: str, kept: str, owner: Person, issue: Issue) -> None:
        assert attach_file(actor=owner, issue=issue, name=sent, content=b"x").name == kept

    @pytest.mark.parametrize("name", ["", "..", "a/", "a\x00.txt", "con", "a\u202etxt.exe", ".env", "x" * 256])
    def test_a_doubtful_name_is_refused(self, name: str, owner: Person, issue: Issue) -> None:
        with pytest.raises(Invalid):
            attach_file(actor=owner, issue=issue, name=name, content=b"x")

    def test_it_has_a_content_and_a_limit(self, owner: Person, issue: Issue) -> None:
        with pytest.raises(Invalid, match="empty"):
            attach_file(actor=owner, issue=issue, name="a.txt", content=b"")
        with pytest.raises(TooLarge):
            attach_file(actor=owner, issue=issue, name="a.txt", content=b"\x00" * (ATTACHMENT_BYTES + 1))
