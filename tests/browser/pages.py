"""Every page of the board, by a name and an address in the demo company."""

from __future__ import annotations

PAGES = {
    "home": "/demo/",
    "board": "/demo/board/",
    "list": "/demo/issues/",
    "my-issues": "/demo/mine/",
    "issue": "/demo/issues/DEMO-1/",
    "issue-blocked": "/demo/issues/DEMO-5/",
    "new-issue": "/demo/issues/new/",
    "edit-issue": "/demo/issues/DEMO-1/edit/",
    "why-agents-woke": "/demo/issues/DEMO-1/wakeups/",
    "reviewers": "/demo/issues/DEMO-1/reviewers/",
    "inbox": "/demo/inbox/",
    "approvals": "/demo/approvals/",
    "approval": "/demo/approvals/1/",
    "agents": "/demo/agents/",
    "agent": "/demo/agents/mara/",
    "hire": "/demo/agents/hire/",
    "terminate": "/demo/agents/noor/terminate/",
    "runs": "/demo/runs/",
    "run": "/demo/runs/1/",
    "activity": "/demo/activity/",
    "nothing-fits": "/demo/issues/?text=zebra",
    "not-found": "/demo/issues/DEMO-999/",
    "design": "/design/",
}
