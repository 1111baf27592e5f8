"""What a program writes in its workspace: files of the issue, as if it had said so, and nothing that it could not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.utils import timezone

from agents.models import Agent, Run, RunOutput, RunState
from agents.services.agents import terminate_agent
from engine import left_files
from engine.claim import claim_next
from engine.resume import resume_run
from issues import blobs
from issues.actors import Person
from issues.models import Company, FileVersion, Grant, Issue, WorkspaceFile
from issues.policies import Right
from issues.services.policy import change_policy, set_cap
from issues.workspace_changes import MOST_LOOKED_AT, written_since
from issues.workspaces import make_for_work, place_of
from tests import build
from tests.engine.running import run_next
from tests.programs.standins import StandIns

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stand_ins(company: Company, tmp_path: Path) -> StandIns:
    return StandIns(company, tmp_path)


def files(issue: Issue) -> dict[str, str]:
    """The newest text of each file."""
    versions = FileVersion.objects.filter(file__issue=issue).select_related("file", "blob").order_by("number")
    return {version.file.path: blobs.read(version.blob).decode() for version in versions}


def work(company: Company, stand_ins: StandIns, source: str) -> tuple[Issue, Run]:
    """An issue, and the run of a program on it that does this."""
    issue = build.issue(company, assignee=stand_ins.hire(f"{source}\nprint('Written.')"))
    return issue, run_next()


def test_texts_become_files_and_actions_of_the_run(company: Company, stand_ins: StandIns) -> None:
    source = "Path('docs').mkdir(); Path('docs/plan.md').write_text('# Plan\\n'); Path('notes.md').write_text('Grün')"
    issue, run = work(company, stand_ins, source)
    assert files(issue) == {"docs/plan.md": "# Plan\n", "notes.md": "Grün"}
    assert list(run.actions.values_list("verb", "args", "outcome")) == [
        ("write-file", "docs/plan.md", "applied"),
        ("write-file", "notes.md", "applied"),
    ]
    assert FileVersion.objects.filter(run=run).count() == 2
    assert set(WorkspaceFile.objects.values_list("is_made", flat=True)) == {True}


def test_what_changed_is_a_new_version_and_what_did_not_is_none(company: Company, stand_ins: StandIns) -> None:
    source = "for n in ('a', 'b'): Path(n).write_text('same')\nwith Path('b').open('a') as f: f.write('!')"
    issue, _ = work(company, stand_ins, source + "\nif Path('seen').exists(): Path('b').write_text('other')")
    (place_of(issue).path / "seen").touch()
    build.comment(issue, "@ada, once more.")
    second = run_next()
    assert list(second.actions.values_list("args", flat=True)) == ["b", "seen"]
    assert files(issue) == {"a": "same", "b": "other", "seen": ""}


def test_what_the_reply_writes_stands_above_it(company: Company, stand_ins: StandIns) -> None:
    source = "Path('a.md').write_text('by hand')\nprint('/write-file a.md\\n```\\nby reply\\n```')"
    issue, run = work(company, stand_ins, source)
    assert files(issue) == {"a.md": "by reply"}
    assert run.actions.count() == 2


def test_a_script_that_it_made_stays_one_that_it_can_run(company: Company, stand_ins: StandIns) -> None:
    issue, _ = work(company, stand_ins, "Path('go.sh').write_text('true\\n'); Path('go.sh').chmod(0o755)")
    assert os.access(place_of(issue).path / "go.sh", os.X_OK)
    assert files(issue) == {"go.sh": "true\n"}


def test_the_rest_stays_on_disk_and_is_counted(
    company: Company, owner: Person, stand_ins: StandIns, tmp_path: Path
) -> None:
    set_cap(actor=owner, company=company, verb="write-file", cap=2)
    (tmp_path / "secret").write_text("not yours")
    source = f"""
import os
for name in ("a", "b", "c"): Path(name).write_text(name)
Path("0.png").write_bytes(bytes(range(256)))
Path("1.txt").write_text("x" * (4 * 1024 * 1024 + 1))
os.symlink({str(tmp_path / "secret")!r}, "2.link")
os.link({str(tmp_path / "secret")!r}, "3.link")
os.mkfifo("4.pipe")
Path("5:stream").write_text("no name")
open(b"6-\\xff", "w").write("no name")
os.symlink({str(tmp_path)!r}, "folder")
Path("nul\\x00"[:3] + "l.txt").write_text("a\\0b")
for hidden in (".env", ".git/config", "node_modules/x.js", "venv/pyvenv.cfg", "__pycache__/x.pyc"):
    Path(hidden).parent.mkdir(exist_ok=True)
    Path(hidden).write_text("for itself")
"""
    issue, run = work(company, stand_ins, source)
    assert (run.state, files(issue)) == (RunState.SUCCEEDED, {"a": "a", "b": "b"})
    assert "[files] 10 more files stay in the workspace alone" in RunOutput.objects.get(run=run).text


def test_policy_holds_for_them(company: Company, owner: Person, stand_ins: StandIns) -> None:
    change_policy(actor=owner, company=company, permission=Right.WRITE_FILE, grant=Grant.DENY)
    issue, run = work(company, stand_ins, "Path('a.md').write_text('no')")
    assert (files(issue), run.actions.get().outcome) == ({}, "denied")


def test_a_program_that_failed_leaves_none(company: Company, stand_ins: StandIns) -> None:
    issue, run = work(company, stand_ins, "Path('a.md').write_text('half')\nimport sys; sys.exit(1)")
    assert (run.state, files(issue)) == (RunState.FAILED, {})


def test_but_the_next_that_ends_well_takes_them(
    company: Company, stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_files, "CLOCKS_DIFFER", 0.0)
    source = "import sys\nif not Path('a.md').exists(): Path('a.md').write_text('done'); sys.exit(1)"
    issue, _ = work(company, stand_ins, source)
    build.comment(issue, "@ada, once more.")
    assert run_next().state == RunState.SUCCEEDED
    assert files(issue) == {"a.md": "done"}


def test_a_file_that_did_not_change_is_not_counted_as_left(
    company: Company, owner: Person, stand_ins: StandIns
) -> None:
    first = "Path('0.md' if Path('a.md').exists() else 'a.md').write_text('old')"
    issue, _ = work(company, stand_ins, first)
    set_cap(actor=owner, company=company, verb="write-file", cap=1)
    build.comment(issue, "@ada, once more.")
    run = run_next()
    assert files(issue) == {"0.md": "old", "a.md": "old"}
    assert "[files]" not in RunOutput.objects.get(run=run).text


def test_nor_does_one_whose_agent_was_terminated_meanwhile(
    company: Company, owner: Person, stand_ins: StandIns
) -> None:
    ada = stand_ins.hire("print('Written.')")
    issue = build.issue(company, assignee=ada)
    run = claim_next()
    assert run is not None
    make_for_work(place_of(issue))
    (place_of(issue).path / "a.md").write_text("unheard")
    Run.objects.filter(pk=run.pk).update(reply="Written.", replied_at=timezone.now())
    terminate_agent(actor=owner, agent=ada)
    resume_run(run.pk, run.attempt)
    assert (files(issue), run.actions.count()) == ({}, 0)


def test_of_a_run_that_is_gone_on_with_they_are_taken_once(company: Company, stand_ins: StandIns) -> None:
    ada = stand_ins.hire("print('Written.')")
    issue = build.issue(company, assignee=ada)
    run = claim_next()
    assert run is not None
    make_for_work(place_of(issue))
    (place_of(issue).path / "a.md").write_text("kept")
    Run.objects.filter(pk=run.pk).update(reply="Written.", replied_at=timezone.now())
    resume_run(run.pk, run.attempt)
    run.refresh_from_db()
    assert (run.state, files(issue), run.actions.count()) == (RunState.SUCCEEDED, {"a.md": "kept"}, 1)


def test_of_agents_that_are_no_programs_nothing_is_looked_at(company: Company, ada: Agent, issue: Issue) -> None:
    make_for_work(place_of(issue))
    (place_of(issue).path / "a.md").write_text("not ours")
    run_next()
    assert files(issue) == {}


def test_a_workspace_without_end_is_looked_at_to_a_point(
    company: Company, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("issues.workspace_changes.MOST_LOOKED_AT", 5)
    assert MOST_LOOKED_AT > 5
    make_for_work(place_of(issue))
    for number in range(20):
        (place_of(issue).path / f"{number}").write_text("x")
    found = written_since(place_of(issue), 0.0, most=100)
    assert len(found.texts) == 5
