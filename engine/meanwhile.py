"""What people did while the model thought. Their word stands: nothing they changed is overwritten."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.models import AgentStatus, Run
from engine.verbs.base import Verb
from issues.models import Activity, ActorKind, Issue, Status
from issues.refusals import Conflict

_REWORDED = frozenset({"issue.edited", "comment.written"})


@dataclass
class Meanwhile:
    """The kinds of activity by people since the prompt was built, by issue."""

    run: Run
    _kinds: dict[int, frozenset[str]] = field(default_factory=dict)

    def kinds(self, issue: Issue) -> frozenset[str]:
        """What people did to the issue, as kinds of activity."""
        if issue.pk not in self._kinds:
            since = self.run.prompt_built_at
            found = Activity.objects.filter(issue=issue, actor_kind=ActorKind.USER, created_at__gte=since)
            self._kinds[issue.pk] = frozenset(found.values_list("kind", flat=True))
        return self._kinds[issue.pk]

    def why_nothing_applies(self, issue: Issue) -> str:
        """Why no verb of the whole reply applies; empty if they may."""
        if self.run.agent.status != AgentStatus.ACTIVE:
            return "The agent was paused meanwhile."
        kinds = self.kinds(issue)
        if "issue.assigned" in kinds and issue.assignee_agent_id != self.run.agent_id:
            return "A person reassigned the issue meanwhile."
        if "issue.status" in kinds and issue.is_closed:
            return "A person closed the issue meanwhile."
        return ""

    def check(self, verb: Verb, issue: Issue) -> None:
        """Conflict if a person set the field that the verb would set."""
        if verb.overwrites and verb.overwrites in self.kinds(issue):
            raise Conflict("A person changed this meanwhile.", "Look at it anew.")

    def check_closing(self, issue: Issue, status: object) -> None:
        """Conflict if the issue would be closed though a person has said something new on it."""
        if status in (Status.DONE, Status.CANCELLED) and self.was_reworded(issue):
            raise Conflict("A person wrote here meanwhile, so it is not closed yet.")

    def was_reworded(self, issue: Issue) -> bool:
        return not self.kinds(issue).isdisjoint(_REWORDED)
