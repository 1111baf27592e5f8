"""A process killed, or a disk full, in the middle of keeping a file: there is never half a file under a row."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.servers import ROOT, Installation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SET_UP = """
from tests import build
company, owner = build.company_with_founder()
ada = build.agent(company)
build.issue(company, assignee=ada)
"""
# The beginning of what each process below does. Its content is the same, so what one left meets the next.
SCENE = """
import json, os, resource, signal
import django
django.setup()
from agents.models import Agent
from agents.services.runs import check_out
from agents.services.agents import worker_for
from issues import blobs, folders, tidying
from issues.models import *
from issues.refusals import Refusal
from issues.services.files import attach_file, write_file
from tests import build
issue = Issue.objects.get()
ada = Agent.objects.get()
owner = build.owner_of(issue.company)
CONTENT = b"0123456789abcdef" * 250_000
def end(*_args, **_fields):
    os.kill(os.getpid(), signal.SIGKILL)
def write():
    run = ada.runs.live().first() or check_out(actor=worker_for(ada), issue=issue)
    return write_file(actor=worker_for(ada, run), issue=issue, path="docs/a.txt", text=CONTENT.decode())
def attach():
    return attach_file(actor=owner, issue=issue, name="a.txt", content=CONTENT)
"""
KILLS = {
    "half written": "os.fsync = end",
    "before it has its name": "Path = blobs.Path; Path.replace = end",
    "named and not recorded": "files = __import__('issues.services.files').services.files; files.record = end",
    "recorded and not on disk": "from issues import workspaces; workspaces._write = end",
    "half on disk": "os.rename = end",
}
# What is true whatever happened: each row's bytes are whole and right, each file under its name is whole.
STORY = """
for blob in Blob.objects.all():
    content = blobs.read(blob)
    assert (len(content), blobs.digest_of(content)) == (blob.size, blob.pk)
whole = [p for p in blobs.folder().rglob("*") if p.is_file() and not p.name.startswith(folders.INCOMING)]
assert all(blobs.digest_of(p.read_bytes()) == p.name for p in whole)
print(json.dumps([FileVersion.objects.count(), Attachment.objects.count(), FileUse.objects.exists()]))
"""


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    installation = Installation(tmp_path)
    installation.lay_database()
    installation.python(SET_UP)
    return installation


def run(installation: Installation, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCENE + textwrap.dedent(code)],
        env=installation.full_environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def told(installation: Installation, code: str) -> str:
    result = run(installation, code)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1]


@pytest.mark.parametrize("moment", KILLS)
def test_a_writer_killed_at_any_moment_leaves_no_half_file_and_can_write_again(
    installation: Installation, moment: str
) -> None:
    is_recorded = moment in ("recorded and not on disk", "half on disk")
    assert run(installation, f"{KILLS[moment]}\nwrite()").returncode == -9
    assert told(installation, STORY) == f"[{int(is_recorded)}, 0, {str(is_recorded).lower()}]"
    told(
        installation,
        """
        if not FileVersion.objects.exists():
            write()
        WorkspaceFile.objects.update(updated_at="2020-01-01T00:00Z")
        tidying.make_left_behind()
        print("again")
        """,
    )
    assert told(installation, STORY) == "[1, 0, true]"
    (made,) = [path for path in (installation.folder / "data" / "workspaces").rglob("*") if "docs/" in str(path)]
    assert made.name == "a.txt"
    assert made.stat().st_size == 4_000_000


def test_what_a_killed_writer_left_aside_is_swept(installation: Installation) -> None:
    run(installation, f"{KILLS['half written']}\nwrite()")
    left = told(
        installation,
        """
        def aside():
            return [p for p in blobs.folder().rglob("*") if p.name.startswith(folders.INCOMING)]
        before = len(aside())
        for path in aside():
            os.utime(path, (0, 0))
        for folder in blobs.folder().iterdir():
            tidying._remove_unrecorded(folder)
        print(json.dumps([before, len(aside())]))
        """,
    )
    assert left == "[1, 0]"


def test_a_full_disk_is_told_and_loses_nothing(installation: Installation) -> None:
    """A process that may write files of 2 MiB at most gets from the system what a full disk would say."""
    said = told(
        installation,
        """
        small = attach_file(actor=owner, issue=issue, name="small.txt", content=b"small")
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * 1024 * 1024, resource.RLIM_INFINITY))
        refused = []
        for act in (attach, write):
            try:
                act()
            except Refusal as refusal:
                refused.append(refusal.reason)
        print(json.dumps([refused, issue.company.file_bytes]))
        """,
    )
    assert said == '[["The file was not stored: the disk is full.", "The file was not stored: the disk is full."], 5]'
    assert told(installation, STORY) == "[0, 1, true]"
    told(installation, "attach()\nprint('again')")
    assert told(installation, STORY) == "[0, 2, true]"
