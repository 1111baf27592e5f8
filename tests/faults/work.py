"""The work that is under way when something is killed, and how it is told that it was done exactly once."""

from __future__ import annotations

import textwrap

SCRIPT = """
- delay: {seconds}
  reply: |
    Done as asked.{call}

    /record-finding What came out
    ```
    All is well.
    ```
{more}    /status done
"""

STORY = """
SELECT status,
    (SELECT count(*) FROM issues_comment WHERE issue_id = issues_issue.id),
    (SELECT count(*) FROM issues_finding WHERE issue_id = issues_issue.id),
    (SELECT count(*) FROM agents_run WHERE issue_id = issues_issue.id AND state = 'succeeded'
        AND agent_id = assignee_agent_id),
    (SELECT count(*) FROM agents_run WHERE issue_id = issues_issue.id AND state = 'succeeded'
        AND agent_id <> assignee_agent_id)
FROM issues_issue ORDER BY number
"""
"""For each issue: its status, its comments and findings, the finished runs of its agent and of others."""

DONE_ONCE = ("done", 1, 1, 1, 0)
DONE_AND_SEEN_ONCE = ("done", 1, 1, 1, 1)

LEFT_BEHIND = """
SELECT (SELECT count(*) FROM agents_run WHERE state IN ('queued', 'running')),
    (SELECT count(*) FROM agents_wakeup LEFT JOIN agents_run ON agents_run.id = run_id
        WHERE agents_wakeup.state <> 'consumed' OR coalesce(agents_run.state, '') <> 'succeeded'),
    (SELECT count(*) FROM agents_reservation),
    (SELECT coalesce(sum(reserved_tokens + reserved_microdollars), 0) FROM agents_spending)
"""
"""Checkouts, wakeups that no finished run has delivered, and what is set aside: rows and sums."""

NOTHING = [(0, 0, 0, 0)]


WRITING = """\
    /write-file notes/ada{number}.md
    ```
    {text}
    ```
"""


def found(agents: int, seconds: float = 0.0, runs: int = 1, witness: bool = False, writing: bool = False) -> None:
    """A company of agents that think for so long, then say one thing, keep one result and finish.

    With a witness, each calls it, and it looks once at what was done. `writing`: they write a file, too.
    """
    from tests import build

    company, _ = build.company_with_founder(max_concurrent_runs=1000, runs_per_hour=1000)
    if witness:
        build.agent(company, "Witness", provider="scripted", script="- reply: /pass Seen.", max_concurrent_runs=20)
    call = " Look at it once, @witness." if witness else ""
    for number in range(agents):
        more = WRITING.format(number=number, text=f"{number} is what I found. " * 500) if writing else ""
        script = textwrap.dedent(SCRIPT.format(seconds=seconds, call=call, more=more))
        build.agent(company, f"Ada{number}", provider="scripted", script=script, max_concurrent_runs=runs)


def look_at_files(count: int) -> None:
    """There are so many files, each written once and whole on disk: under its digest, and in its workspace when the
    sweep has come by."""
    from issues import blobs, folders, tidying, workspaces
    from issues.models import Blob, FileVersion, WorkspaceFile

    for blob in Blob.objects.all():
        content = blobs.read(blob)
        assert (len(content), blobs.digest_of(content)) == (blob.size, blob.pk)
    kept = [path for path in blobs.folder().rglob("*") if path.is_file()]
    whole = [path for path in kept if not path.name.startswith(folders.INCOMING)]
    assert all(blobs.digest_of(path.read_bytes()) == path.name for path in whole)
    WorkspaceFile.objects.update(updated_at="2020-01-01T00:00Z")
    for _ in range(1 + count // tidying.MAKES):
        tidying.make_left_behind()
    versions = FileVersion.objects.select_related("file__issue", "blob")
    assert [version.number for version in versions] == [1] * count
    for version in versions:
        place = workspaces.place_of(version.file.issue).path
        assert blobs.digest_of((place / version.file.path).read_bytes()) == version.blob_id


def assign(to: list[int]) -> None:
    """An issue for each of the agents named, by number."""
    from agents.models import Agent
    from issues.models import Company
    from tests import build

    company = Company.objects.get()
    for number in to:
        build.issue(company, assignee=Agent.objects.get(name=f"Ada{number}"))


DOLLAR = 1_000_000
"""Microdollars."""

DOLLARS_PER_MILLION = 200
"""Price of a scripted answer where it has one, in tokens; reading is free."""

OUTPUT_TOKENS = 1000
"""Of an answer at most: 20 cents."""

LONG_REPLY = "word " * 800
"""Costs 17.8 cents: 4,000 letters and spaces, at 4.5 a token."""


def found_costly(agents: int, seconds: float) -> None:
    """A company with 50 cents a month, of agents whose runs can cost 20 cents each."""
    from agents.services.spending import set_budget
    from tests import build

    company, owner = build.company_with_founder(max_concurrent_runs=100)
    set_budget(actor=owner, company=company, microdollars=DOLLAR // 2)
    script = f"- delay: {seconds}\n  reply: |\n    {LONG_REPLY}\n\n    /status done\n"
    for number in range(agents):
        build.agent(company, f"Ada{number}", provider="scripted", script=script, max_output_tokens=OUTPUT_TOKENS)


def allow(microdollars: int) -> None:
    """Raise the company's budget."""
    from agents.services.spending import set_budget
    from issues.models import Company
    from tests import build

    company = Company.objects.get()
    set_budget(actor=build.owner_of(company), company=company, microdollars=microdollars)


RUNAWAYS = {"Ada": "bob", "Bob": "ada", "Carl": "dora", "Dora": "emil", "Emil": "carl"}
"""Two agents that call each other, and three in a ring."""

MAKER = """
- reply: |
    There is more of it.

    /create-issue The next one
    ```
    assignee: @max
    ---
    Go on.
    ```
"""


def found_runaways() -> None:
    """A company of agents each of which makes work for another, or for itself, whenever it is woken; and an issue for
    each company of them, that nobody works on."""
    from issues.models import Status
    from tests import build

    company, _ = build.company_with_founder(max_concurrent_runs=100, runs_per_hour=1000)
    for name, following in RUNAWAYS.items():
        build.agent(company, name, provider="scripted", script=f"- reply: Please see to it, @{following}.")
    build.agent(company, "Max", provider="scripted", script=MAKER)
    for _number in range(3):
        build.issue(company, status=Status.BACKLOG)


def say(body: str, numbers: list[int]) -> None:
    """A person's comment on each of these issues; 0 is the newest."""
    from issues.models import Issue
    from tests import build

    for number in numbers:
        build.comment(Issue.objects.get(number=number) if number else Issue.objects.latest("number"), body)
