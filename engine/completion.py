"""Asking the model: one answer for the prompt, continued if it was cut off, asked for once more if it was empty."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agents.adapters.base import AdapterError, Completion, ErrorKind, Message, ModelRequest, Role, StopReason
from agents.adapters.continuation import complete_whole
from agents.adapters.loop import model_loop
from agents.adapters.reasoning import visible_text
from agents.catalogue import ModelEntry
from agents.models import Run
from agents.own_models import entry_for
from agents.services.spending import Cost, OverBudget, reserve_further
from engine.actions import parse_agent_actions
from engine.ceiling import request_ceiling
from engine.fence import Fenced
from engine.leases import Lease
from engine.meters import meter_for
from engine.routing import Route, masked
from engine.text.prompt import HeartbeatPrompt
from engine.text.sections import MessageName
from engine.turns import database_turn

ANSWER_PLEASE = (
    "Your answer was empty. Answer now: write your comment, or verbs, or `/pass` with the reason if there is nothing"
    " to do."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, and the calls it took, each with what it cost. `session` is that of a program, which can go
    on with it."""

    text: str
    calls: tuple[Completion, ...]
    route: Route
    entry: ModelEntry
    stop_reason: str
    session: str = ""


class Unanswered(Exception):
    """The model gave no answer, or could not be asked for the rest of it. `calls` were made, and paid for, all the
    same. `before` are the failures of those that were asked before, in this run."""

    def __init__(
        self,
        error: AdapterError | OverBudget,
        calls: tuple[Completion, ...],
        route: Route,
        entry: ModelEntry,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.calls = calls
        self.route = route
        self.entry = entry
        self.before: tuple[AdapterError | OverBudget, ...] = ()


def complete(run: Run, prompt: HeartbeatPrompt, route: Route, lease: Lease) -> Answer:
    """Ask the one that the prompt was rendered for. No database connection is held meanwhile.

    What the first call could cost was set aside with its prompt; each further one is set aside before it is made.
    Raises Unanswered, or Fenced when the run is cancelled or lost while it waits.
    """
    entry = entry_for(route.endpoint, route.model)
    meter = meter_for(route.model)
    calls: list[Completion] = []

    def ask(request: ModelRequest) -> Completion:
        # Each further call has what is left of the run's time, not the whole of it again.
        request = replace(request, deadline_seconds=_time_for_a_call(lease))
        if calls:
            set_aside(run, request_ceiling(request, entry, meter))
        completion = lease.wait_for(model_loop().start(route.endpoint, request))
        calls.append(completion)
        if completion.stop_reason is StopReason.REFUSED:
            raise AdapterError(ErrorKind.REFUSED, "The model declined to answer.")
        return completion

    try:
        request = _request(run, prompt, route, entry, lease)
        whole = complete_whole(ask, request)
        if _is_silent(whole.text):
            whole = complete_whole(ask, _once_more(request))
    except (AdapterError, OverBudget) as error:
        raise Unanswered(error, tuple(calls), route, entry) from error
    text = masked(storable(whole.text), run.company)
    return Answer(text, tuple(calls), route, entry, whole.stop_reason.value)


def _request(run: Run, prompt: HeartbeatPrompt, route: Route, entry: ModelEntry, lease: Lease) -> ModelRequest:
    return ModelRequest(
        system=prompt.system,
        messages=(Message(Role.USER, prompt.user, _worth_keeping(prompt, "user", entry)),),
        model=route.model,
        max_output_tokens=prompt.output_tokens,
        deadline_seconds=_time_for_a_call(lease),
        thinking=run.agent.thinking_level,
        thinking_style=entry.thinking,
        cache_key=f"trimus-agent-{run.agent_id}",
        system_breakpoints=_worth_keeping(prompt, "system", entry),
    )


def set_aside(run: Run, worst: Cost) -> None:
    """Make sure that a further call can be paid, on top of those before it."""
    with database_turn(begins=True):
        is_set_aside = reserve_further(run, worst)
    if not is_set_aside:
        raise Fenced(f"run {run.pk} was settled while it waited")


def _worth_keeping(prompt: HeartbeatPrompt, message: MessageName, entry: ModelEntry) -> tuple[int, ...]:
    """Where a message may be marked for the provider's cache: a beginning under its minimum is not kept."""
    points = [point for point in prompt.breakpoints if point.message == message]
    return tuple(point.offset for point in points if point.tokens >= entry.cache_minimum)


def _time_for_a_call(lease: Lease) -> float:
    """Seconds until the run's deadline; at least one, for a call takes no less."""
    return max(lease.seconds_left, 1.0)


def _once_more(request: ModelRequest) -> ModelRequest:
    user = request.messages[0]
    return replace(request, messages=(replace(user, text=f"{user.text}\n\n{ANSWER_PLEASE}"),))


def _is_silent(text: str) -> bool:
    """Whether there is neither prose nor an action in it."""
    reply = parse_agent_actions(visible_text(text))
    return not reply.prose.strip() and not reply.actions


def storable(text: str) -> str:
    """The text as any database can hold it: NUL and halves of surrogate pairs become U+FFFD."""
    return text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
