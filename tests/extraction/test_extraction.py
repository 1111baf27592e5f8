"""What is read of attached files, and what is said of those that cannot be read."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from typing import Any

import pytest
from django.db import connection

from engine.surroundings import read_materials
from issues.extraction import TEXT_CHARACTERS, Extracted, extract_at_once, extract_slowly, process
from issues.extraction.kinds import DOCX, PDF, XLSX
from issues.models import Attachment, Extraction
from issues.services import files as services
from issues.services.files import attach_file
from tests import build
from tests.extraction import files


def read(name: str, content: bytes) -> Extracted:
    """What is made of a file, at once or slowly."""
    found = extract_at_once(name, content)
    return extract_slowly(found.media_type, content) if found.extraction == Extraction.PENDING else found


@pytest.mark.parametrize(
    ("name", "content", "media_type", "text"),
    [
        ("plan.txt", "Grüße\n".encode(), "text/plain", "Grüße\n"),
        ("plan.md", b"# Plan\n", "text/markdown", "# Plan\n"),
        ("rows.csv", b"\xef\xbb\xbfid,name\n1,a\n", "text/csv", "id,name\n1,a\n"),
        ("rows.csv", "id;Größe\n".encode("cp1252"), "text/csv", "id;Größe\n"),
        ("data.json", b'{"a": 1}', "application/json", '{"a": 1}'),
        ("notes.txt", "Notes — 長い".encode("utf-16"), "text/plain", "Notes — 長い"),
        ("page.html", b"<p>Hello</p>", "text/plain", "<p>Hello</p>"),
    ],
)
def test_a_plain_text_is_read_as_it_is(name: str, content: bytes, media_type: str, text: str) -> None:
    assert read(name, content) == Extracted(media_type, Extraction.DONE, text)


def test_a_pdf_is_read_page_by_page() -> None:
    found = read("plan.pdf", files.pdf("First this.", "Then that."))
    assert (found.media_type, found.extraction, found.why) == (PDF, Extraction.DONE, "")
    assert found.text == "[page 1]\nFirst this.\n\n[page 2]\nThen that.\n"


def test_a_word_document_is_read_with_headings_lists_and_tables() -> None:
    found = read("plan.docx", files.word())
    assert (found.media_type, found.extraction) == (DOCX, Extraction.DONE)
    assert found.text == "# Plan\nFirst this.\n- then that\nrows | 42"


def test_a_workbook_is_read_row_by_row() -> None:
    found = read("rows.xlsx", files.sheet([["id", "name"], [17, "a | b"], [], [23, None, True]]))
    assert (found.media_type, found.extraction) == (XLSX, Extraction.DONE)
    assert found.text == "[sheet Lost rows]\nid | name\n17 | a | b\n23 |  | True"


def test_the_content_says_what_a_file_is_and_not_its_name() -> None:
    assert read("holiday.png", files.pdf("A plan.")).media_type == PDF
    assert read("plan.pdf", b"Only words.") == Extracted("text/plain", Extraction.DONE, "Only words.")
    webp = b"RIFF\x24\x00\x00\x00WEBPVP8 "
    assert read("screen.txt", webp) == Extracted("image/webp", Extraction.UNSUPPORTED)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (files.encrypted_pdf(password="secret"), "it is encrypted"),
        (files.pdf(""), "it holds no text, only pictures of pages perhaps"),
        (b"%PDF-1.7\n" + b"nonsense " * 99, "it is damaged (PdfStreamError)"),
        (files.word()[:-200] + b"\x00" * 200, None),
        (files.with_part(files.word(), "word/document.xml", b"<w:doc"), "it is damaged (XMLSyntaxError)"),
        (files.with_part(files.word(), "word/document.xml", b" " * (201 << 20)), "it unpacks to more than 200 MB"),
        (
            files.with_part(files.sheet([[1]]), "xl/workbook.xml", b"\x00" * (300 << 20)),
            "it unpacks to more than 200 MB",
        ),
    ],
    ids=["encrypted", "no text", "no pdf", "cut archive", "broken xml", "zip bomb", "zip bomb in a workbook"],
)
def test_what_cannot_be_read_says_why(content: bytes, why: str | None) -> None:
    found = read("plan", content)
    assert found.text == ""
    if why is None:
        assert found.extraction in (Extraction.FAILED, Extraction.UNSUPPORTED)
    else:
        assert (found.extraction, found.why) == (Extraction.FAILED, why)


def test_a_pdf_that_is_only_protected_from_changes_is_read() -> None:
    assert "For members only" in read("plan.pdf", files.encrypted_pdf(password="")).text


@pytest.mark.parametrize("kind", ["pdf", "entities"])
def test_a_small_file_that_unfolds_to_gigabytes_ends_within_its_limits(kind: str) -> None:
    content = files.pdf_bomb() if kind == "pdf" else files.with_part(files.word(), "word/document.xml", files.ENTITIES)
    started = time.monotonic()
    found = read("bomb", content)
    assert time.monotonic() - started < 60  # the limits end it after ten; it would take many minutes
    assert found.extraction == Extraction.FAILED
    assert found.why


def test_a_document_that_asks_for_a_file_of_this_machine_gets_nothing() -> None:
    content = files.with_part(files.word(), "word/document.xml", files.SECRETS)
    assert "root:" not in read("plan.docx", content).text


def test_a_long_document_is_cut_and_not_read_to_its_end() -> None:
    found = read("long.xlsx", files.sheet([["word " * 200]] * 400))
    assert len(found.text) == TEXT_CHARACTERS


def test_the_child_is_told_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    real = subprocess.run

    def spy(command: Any, **options: Any) -> Any:
        seen.update(options)
        return real(command, **options)

    monkeypatch.setattr(process.subprocess, "run", spy)
    read("plan.pdf", files.pdf("A plan."))
    assert seen["env"] == {}


def test_one_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(process, "CHILD", slow)
    monkeypatch.setattr(process, "SECONDS", 0.5)
    started = time.monotonic()
    assert read("plan.pdf", files.pdf("A plan.")).why.startswith("it takes longer")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "print('nonsense')", "print('[]')"])
def test_a_child_that_answers_nonsense_is_said_to_have_broken_off(
    code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "child.py").write_text(code)
    monkeypatch.setattr(process, "CHILD", tmp_path / "child.py")
    assert read("plan.pdf", files.pdf("A plan.")).why == "what reads such files broke off"


@pytest.mark.parametrize("greed", ["while True: print('x' * 4096)", "bytearray(1 << 30)"], ids=["output", "memory"])
def test_a_child_that_takes_without_end_meets_its_limit(greed: str) -> None:
    code = f"import runpy, sys; runpy.run_path(sys.argv[1])['bound']()\n{greed}"
    with tempfile.TemporaryFile() as answer:
        command = [sys.executable, "-c", code, str(process.CHILD)]
        ended = subprocess.run(command, stdout=answer, stderr=subprocess.PIPE, timeout=30)
    assert ended.returncode != 0
    assert ended.stderr.splitlines()[-1].startswith((b"MemoryError", b"OSError"))


@pytest.mark.django_db(transaction=True)
def test_an_attachment_is_read_after_its_transaction_and_shown_to_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[bool] = []
    real = services.extract_slowly

    def spy(*arguments: Any) -> Extracted:
        inside.append(connection.in_atomic_block)
        return real(*arguments)

    monkeypatch.setattr(services, "extract_slowly", spy)
    company, owner = build.company_with_founder()
    issue = build.issue(company)
    attached = attach_file(actor=owner, issue=issue, name="plan.pdf", content=files.pdf("First this."))
    attach_file(actor=owner, issue=issue, name="secret.pdf", content=files.encrypted_pdf(password="secret"))
    assert inside == [False, False]
    assert attached.extraction == Extraction.DONE
    plan, secret = read_materials(issue).attachments
    assert (plan.text, plan.unread) == ("[page 1]\nFirst this.\n", "")
    assert (secret.text, secret.unread) == ("", "could not be read: it is encrypted")


@pytest.mark.django_db
def test_one_that_nobody_came_to_read_is_read_by_the_sweep() -> None:
    from datetime import timedelta

    from engine.sweep import read_left_behind

    company, owner = build.company_with_founder()
    # What was to follow the transaction does not: a test's transaction is never committed.
    attached = attach_file(actor=owner, issue=build.issue(company), name="plan.pdf", content=files.pdf("First this."))
    read_left_behind()
    attached.refresh_from_db()
    assert attached.extraction == Extraction.PENDING  # it may be being read just now
    Attachment.objects.update(created_at=attached.created_at - timedelta(minutes=2))
    read_left_behind()
    attached.refresh_from_db()
    assert (attached.extraction, attached.text) == (Extraction.DONE, "[page 1]\nFirst this.\n")
