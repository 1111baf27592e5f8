"""What people did while the model thought. Their word stands: nothing they changed is overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from agents.models import AgentStatus, Run
from engine.verbs.base import Request, Verb
from issues.models import Activity, ActorKind, Issue, Verdict
from issues.models.issue import CLOSED
from issues.prepared import Prepared
from issues.refusals import Conflict

SEEN = "lines_of_people"
"""Key of a run's prompt facts: the newest lines of activity by people when the prompt's context was read, as ids."""

LOOK_BACK = 50
"""Lines noted. A line may be committed after one with a higher id, but never so many later."""

_REWORDED = frozenset({"issue.edited", "comment.written"})


def lines_of_people(run: Run) -> list[int]:
    """The newest lines of activity by people on the run's issue, as ids, newest first. Ids and not times tell what came
    later: clocks differ and are set, and a transaction may end long after its lines were written."""
    assert run.issue_id is not None  # noqa: S101 - it was claimed for one
    return [line for (line,) in _newest_of_people.rows(run.issue_id)]


_newest_of_people = Prepared(
    lambda issue: (
        Activity.objects.filter(issue=issue, actor_kind=ActorKind.USER).order_by("-pk").values_list("pk")[:LOOK_BACK]
    )
)


@dataclass
class Meanwhile:
    """What people did to the run's issue since its prompt was built.

    `was_closing_denied` is set once an action was denied because a person had said something new.
    """

    run: Run
    issue: Issue
    was_closing_denied: bool = False

    @cached_property
    def kinds(self) -> frozenset[str]:
        """What people did, as kinds of activity."""
        seen: Sequence[int] = self.run.prompt_facts.get(SEEN, ())
        lines = Activity.objects.filter(issue=self.issue, actor_kind=ActorKind.USER).exclude(pk__in=seen)
        if len(seen) == LOOK_BACK:
            lines = lines.filter(pk__gt=seen[-1])
        return frozenset(lines.values_list("kind", flat=True))

    def why_nothing_applies(self) -> str:
        """Why no verb of the whole reply applies; empty if they may."""
        if self.run.agent.status != AgentStatus.ACTIVE:
            return "The agent was paused meanwhile."
        if "issue.assigned" in self.kinds and self.issue.assignee_agent_id != self.run.agent_id:
            return "A person reassigned the issue meanwhile."
        if "issue.status" in self.kinds and self.issue.is_closed:
            return "A person closed the issue meanwhile."
        return ""

    def check(self, verb: Verb, request: Request) -> None:
        """Conflict if the request would overwrite what a person set meanwhile, or close the issue though a person has
        said something new on it. Other issues than the one at hand were not shown whole and are not judged."""
        if request.values.get("issue", self.issue.pk) != self.issue.pk:
            return
        if verb.overwrites and verb.overwrites in self.kinds:
            raise Conflict("A person changed this meanwhile.", "Look at it anew.")
        if _closes(request) and not self.kinds.isdisjoint(_REWORDED):
            self.was_closing_denied = True
            raise Conflict("A person wrote here meanwhile, so it is not closed yet.")


def _closes(request: Request) -> bool:
    return request.values.get("status") in CLOSED or request.values.get("verdict") == Verdict.ACCEPT
