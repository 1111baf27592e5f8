"""Asking for a run's answer: one model, and when it fails for good the next of the chain."""

from __future__ import annotations

from django.utils import timezone

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Run
from agents.services.breakers import note_failure
from agents.services.spending import OverBudget
from engine import fence
from engine.completion import Answer, Unanswered, complete
from engine.gate import Closed, enter, first_open
from engine.leases import Lease
from engine.preparing import prepare, prepare_leaner
from engine.programs import ask_program
from engine.record import keep_unanswered
from engine.routing import Route, routes_of
from engine.troubles import called
from engine.turns import database_turn

OF_THE_PROVIDER = frozenset({ErrorKind.NETWORK, ErrorKind.OVERLOADED, ErrorKind.AUTH, ErrorKind.BAD_REQUEST})
"""Failures that another provider may not have. What one model declines is not taken to the next, and a prompt that is
too long is made leaner instead."""


def ask(run: Run, lease: Lease) -> Answer:
    """The answer to the run's prompt, which is gathered and rendered for each model that is asked.

    Raises Unanswered, with what went wrong before, when nobody answers; PromptTooLarge, Fenced, HandedBack.
    """
    routes = routes_of(run.agent)
    route = next((route for route in routes if route.key == run.endpoint), routes[0])
    failures: list[AdapterError | OverBudget] = []
    while True:
        try:
            return _ask_one(run, route, lease)
        except Unanswered as failure:
            failure.before = tuple(failures)
            following = _next(run, failure, routes)
            if following is None:
                raise
            failures.append(failure.error)
            route = following


def _ask_one(run: Run, route: Route, lease: Lease) -> Answer:
    prompt = prepare(run, route)
    if route.is_program:
        return ask_program(run, prompt, route, lease)
    try:
        return complete(run, prompt, route, lease)
    except Unanswered as failure:
        return complete(run, prepare_leaner(run, failure), route, lease)


def _next(run: Run, failure: Unanswered, routes: tuple[Route, ...]) -> Route | None:
    """Who is asked after this failure, which is noted; None if nobody is left."""
    error, failed = failure.error, failure.route
    if not isinstance(error, AdapterError) or error.kind not in OF_THE_PROVIDER:
        return None
    with database_turn(begins=True):
        note_failure(run.company, called(failed), error)
        now = timezone.now()
        try:
            opening = first_open(run.company, routes[routes.index(failed) + 1 :], now)
            enter(opening, run, now)
        except Closed:
            return None
        keep_unanswered(run, failure)
        fence.write(run, endpoint=opening.route.key)
    return opening.route
