"""Actions that come by another door than a reply: a program's, in the name of a person or an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agents.models import ActionOutcome, Run, RunAction
from agents.services.agents import worker_for
from agents.services.runs import check_out, release
from engine.applier import Applier, check_cap
from engine.ledger import Tally, past_outcomes, to_row, write_down
from engine.meanwhile import SEEN, Meanwhile
from engine.outcomes import Outcome
from engine.text.types import Action, AgentReply
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.actors import Actor, Person, Worker
from issues.effects import savepoint, service
from issues.models import Comment, Issue
from issues.policies import require_belonging
from issues.refusals import Conflict, Forbidden, Refusal
from issues.services.comments import write_comment
from issues.services.locks import lock_company, lock_issue


@dataclass(frozen=True, slots=True)
class Acted:
    """What became of each action, in their order; the comment, or why it was refused; and the run that they belong to,
    for an agent's."""

    actions: Sequence[RunAction]
    comment: Comment | None = None
    unsaid: str = ""
    run: Run | None = None


@service
def act(*, actor: Person | Worker, issue: Issue, reply: AgentReply) -> Acted:
    """Carry out the actions on the issue as if they stood in a reply: the comment first, each action in a savepoint of
    its own, under the same policy.

    A person acts with the rights of their role, without caps, at depth 0. An agent acts in a run, whose caps, ledger
    and depth hold: that of its key or its checkout. With neither, the call is a run of its own: it holds the issue as
    long as the call takes, goes on with the chain of what the agent was last asked there, and leaves the agent's
    wakeups pending. CheckedOut if somebody else holds the issue then, Conflict if the run has ended or none may begin.
    """
    require_belonging(actor, issue.company)
    if any(BY_NAME[action.verb].makes_issues for action in reply.actions):
        lock_company(issue.company)
    if isinstance(actor, Person):
        return _perform(Scene(actor, lock_issue(issue), prose=reply.prose), reply, None, Tally())
    if actor.run is not None:
        return _perform_in(_held(actor.run), actor, issue, reply)
    run = check_out(actor=actor, issue=issue, delivering=False)
    acted = _perform_in(run, worker_for(actor.agent, run), issue, reply)
    release(actor=actor, issue=issue)
    return acted


Done = TypeVar("Done")


def do_as_verbs(
    actor: Actor, issue: Issue | None, verbs: Sequence[tuple[str, str]], do: Callable[[Actor], Done]
) -> Done:
    """Do by a call of its own what these verbs do on the issue (None: the run's), each with its argument. A person has
    no caps and just does it. For an agent they count as verbs: under the caps of its run, all or none, and in that
    run's ledger, denied ones too. Without a run the call is one of its own, as in `act`.

    `do` is given who does it: the agent in that run. Raises what it raises, Forbidden over a cap, and what `act` does
    where no run may begin.
    """
    if not isinstance(actor, Worker) or not verbs:
        return do(actor)
    if actor.run is not None:
        done = _do_as_verbs(actor, actor.run, issue or actor.home, verbs, do)
    else:
        done = _do_in_own_run(actor, issue, verbs, do)
    if isinstance(done, Forbidden):
        raise done
    return done


@service
def _do_in_own_run(
    actor: Worker, issue: Issue | None, verbs: Sequence[tuple[str, str]], do: Callable[[Actor], Done]
) -> Done | Forbidden:
    if issue is None:
        raise Conflict("An agent does this in a run alone.", "Claim the issue first that calls for it.")
    run = check_out(actor=actor, issue=issue, delivering=False)
    done = _do_as_verbs(worker_for(actor.agent, run), run, issue, verbs, do)
    release(actor=actor, issue=issue)
    return done


@service
def _do_as_verbs(
    actor: Worker, run: Run, issue: Issue | None, verbs: Sequence[tuple[str, str]], do: Callable[[Actor], Done]
) -> Done | Forbidden:
    if issue is None:
        raise Conflict("The run's issue was deleted.")
    if any(BY_NAME[verb].makes_issues for verb, _ in verbs):
        lock_company(issue.company)
    run = _held(run)
    before = Tally.of(past_outcomes(run))
    actions = [Action(verb, args, None, line) for line, (verb, args) in enumerate(verbs, 1)]
    done: Done | Forbidden
    try:
        for verb, _ in verbs:
            check_cap(issue.company, BY_NAME[verb], before.used[verb])
        with savepoint():
            done = do(actor)
        outcome, reason = ActionOutcome.APPLIED, ""
    except Forbidden as refusal:
        done, outcome, reason = refusal, ActionOutcome.DENIED, str(refusal)
    outcomes = [Outcome(ordinal, action, outcome, reason) for ordinal, action in enumerate(actions, before.actions)]
    write_down(Scene(actor, issue, run), outcomes)
    return done


def _held(run: Run) -> Run:
    """The run's row, held: of two calls at once the second goes on from where the first ended."""
    runs = Run.objects.live().select_for_update(of=("self",)).select_related("agent__company", "chain_member__user")
    held = runs.defer("system_message", "user_message", "prompt_sections", "reply").filter(pk=run.pk).first()
    if held is None:
        raise Conflict("The run has ended.")
    return held


def _perform_in(run: Run, actor: Worker, issue: Issue, reply: AgentReply) -> Acted:
    scene = Scene(actor, lock_issue(issue), run, prose=reply.prose)
    # Who was shown a prompt may not have seen what people did since; who reads by the API has looked for itself.
    was_shown = run.issue_id == issue.pk and SEEN in run.prompt_facts
    return _perform(scene, reply, Meanwhile(run, scene.issue) if was_shown else None, Tally.of(past_outcomes(run)))


def _perform(scene: Scene, reply: AgentReply, meanwhile: Meanwhile | None, before: Tally) -> Acted:
    comment, unsaid = _say(scene, reply.speech)
    outcomes = Applier(scene, meanwhile, before).apply(reply.actions)
    rows = write_down(scene, outcomes) if scene.run is not None else [to_row(outcome) for outcome in outcomes]
    return Acted(rows, comment, unsaid, scene.run)


def _say(scene: Scene, speech: str) -> tuple[Comment | None, str]:
    """The comment, or why it was refused: that does not keep the actions from being tried."""
    if not scene.prose.strip():
        return None, ""
    try:
        with savepoint():
            return write_comment(actor=scene.actor, issue=scene.issue, body=scene.prose, speech=speech), ""
    except Refusal as refusal:
        return None, str(refusal)
