"""Trying a provider: one tiny call, because a person wants to see that it answers."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.utils import timezone

from agents.adapters.base import AdapterError, Completion, ErrorKind, Message, ModelRequest, Role
from agents.adapters.loop import model_loop
from agents.adapters.reasoning import visible_text
from agents.adapters.retry import RetryPolicy
from agents.catalogue import ModelEntry
from agents.model_choices import ModelChoice
from agents.own_models import entry_for
from agents.services.breakers import note_answer, troubled
from agents.services.spending import charge, require_room
from agents.services.wakeups import look_again
from engine.calls import write_call
from engine.ceiling import request_ceiling
from engine.meters import meter_for
from engine.routing import NoProvider, Route, masked, route_to
from engine.turns import database_turn
from issues.actors import Actor
from issues.effects import service
from issues.models import Company
from issues.policies import Right, require
from issues.refusals import Conflict

SECONDS = 30.0
TOKENS = 64
"""Of the answer: enough for a word after a little thinking, and next to nothing in money."""

QUESTION = "Answer with the one word: ready"

_HINTS = {
    ErrorKind.NETWORK: "Is the address right, and is the server running?",
    ErrorKind.OVERLOADED: "Try again in a minute.",
    ErrorKind.AUTH: "Is the key whole, of this provider, and is its bill paid?",
    ErrorKind.REFUSED: "It answers, but declined even this; look at the account's settings there.",
    ErrorKind.CONTEXT_TOO_LONG: "The model has hardly any window: it is too small for agents.",
    ErrorKind.BAD_REQUEST: "Is there a model of that name, and does the address speak this protocol?",
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it, in words. `hint` says what to look at when it did not answer."""

    answers: bool
    words: str
    hint: str = ""


def try_provider(*, actor: Actor, company: Company, name: str, model: str = "") -> Tried:
    """Ask the provider for one word, once, and say what happened. It is an owner's act, counts in the budget, and an
    answer closes its breaker. No transaction is open meanwhile. Conflict if it is not set up or the budget is spent."""
    require(actor, Right.MANAGE_COMPANY, company)
    try:
        route = route_to(company, ModelChoice(name, model.strip()[:120]))
    except NoProvider as missing:
        raise Conflict(str(missing)) from missing
    entry = entry_for(route.endpoint, route.model)
    request = ModelRequest(
        system="",
        messages=(Message(Role.USER, QUESTION),),
        model=route.model,
        max_output_tokens=min(TOKENS, entry.max_output_tokens),
        deadline_seconds=SECONDS,
    )
    with database_turn():
        require_room(company, request_ceiling(request, entry, meter_for(route.model)))
        troubled([route.key])
    started = timezone.now()
    try:
        answer = model_loop().start(route.endpoint, request, policy=RetryPolicy(attempts=1)).result()
    except AdapterError as failure:
        with database_turn():
            _write_down(company, route, entry, started, failure)
        return Tried(False, f"{masked(failure.message, company).rstrip('.')}.", _HINTS[failure.kind])
    with database_turn():
        _write_down(company, route, entry, started, answer)
    return Tried(True, masked(_told(answer, route), company))


def _told(answer: Completion, route: Route) -> str:
    said = " ".join(visible_text(answer.text).split())[:80]
    words = f"“{said}”" if said else "without a word"
    of_model = f" as {answer.model}" if answer.model and answer.model != route.model else ""
    return f"{route.name} answered{of_model} in {answer.seconds:.1f} s: {words}."


@service
def _write_down(
    company: Company, route: Route, entry: ModelEntry, started: datetime.datetime, call: Completion | AdapterError
) -> None:
    seconds = (timezone.now() - started).total_seconds()
    cost = write_call(company, "trial", route, entry, call, started_at=started, seconds=seconds)
    answers = isinstance(call, Completion)
    if answers:
        look_again(company)
    charge(company, cost)
    if answers:
        note_answer(route.key)
