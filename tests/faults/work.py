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
    /status done
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


def found(agents: int, seconds: float = 0.0, runs: int = 1, witness: bool = False) -> None:
    """A company of agents that think for so long, then say one thing, keep one result and finish.

    With a witness, each calls it, and it looks once at what was done.
    """
    from tests import build

    company, _ = build.company_with_founder(max_concurrent_runs=100, runs_per_hour=1000)
    if witness:
        build.agent(company, "Witness", provider="scripted", script="- reply: /pass Seen.", max_concurrent_runs=20)
    script = SCRIPT.format(seconds=seconds, call=" Look at it once, @witness." if witness else "")
    for number in range(agents):
        build.agent(
            company, f"Ada{number}", provider="scripted", script=textwrap.dedent(script), max_concurrent_runs=runs
        )


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


def found_ring(names: list[str]) -> None:
    """A company of agents each of which calls the next whenever it is woken, and an issue that nobody works on."""
    from issues.models import Status
    from tests import build

    company, _ = build.company_with_founder(max_concurrent_runs=100, runs_per_hour=1000)
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        build.agent(company, name, provider="scripted", script=f"- reply: Please see to it, @{following.lower()}.")
    build.issue(company, status=Status.BACKLOG)


def say(body: str) -> None:
    """A person's comment on the one issue."""
    from issues.models import Issue
    from tests import build

    build.comment(Issue.objects.get(), body)
