"""Asking an agent that is a program of this server: its command is run in the issue's workspace, with the run's prompt.

A program's run holds its slot's thread, and no database connection while it works. What it says is heard as it comes,
shown, and counted: when it has used what was set aside for it, more is set aside, or it is ended.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.adapters.base import AdapterError, Completion, ErrorKind, StopReason, Usage
from agents.adapters.counting import estimate_tokens
from agents.catalogue import ModelEntry
from agents.models import Run
from agents.own_models import entry_for
from agents.programs.base import Asked, Flooded, ProgramSpec, Unusable
from agents.programs.registry import BY_ADAPTER
from agents.programs.running import Command, Ended, Program
from agents.services.spending import Cost, OverBudget
from engine.calls import cost_of
from engine.ceiling import prompt_ceiling
from engine.completion import Answer, Unanswered, set_aside, storable
from engine.leases import Lease
from engine.meters import meter_for
from engine.output import LiveOutput
from engine.prompt import HeartbeatPrompt
from engine.record import has_acted_by_key
from engine.routing import Route, secrets_of
from engine.sessions import NO_SESSION, session_before, session_name
from engine.skill_files import skill_files
from engine.turns import database_turn
from issues.folders import Obstacle
from issues.models import Issue
from issues.secrets import mask_known, mask_secrets
from issues.services.keys import create_run_key
from issues.workspaces import fill_folder, make_for_work, occupy, place_of
from trimus.addresses import address

FOR_THE_REST = 30.0
"""Seconds of a run's time that are kept for ending the program and applying what it said."""

OCCUPIED_SECONDS = 60.0
"""So long a workspace may be held by what is being ended there."""

TOLD = 4_000
"""Characters of a failure."""

MODEL_CHARACTERS = 120

SHOWN_ERRORS = 2_000
"""Characters of the end of standard error that a failure tells."""


def ask_program(run: Run, prompt: HeartbeatPrompt, route: Route, lease: Lease) -> Answer:
    """Run the agent's program with the prompt. Raises Unanswered when it cannot be run, fails, or the budget has no
    room for more; Fenced and HandedBack when the run is let go of or given up, once nothing of it runs any more."""
    entry = entry_for(route.endpoint, route.model)
    try:
        return _Work(run, prompt, route).do(lease)
    except (AdapterError, Unusable, OSError, Obstacle) as error:
        failure = error if isinstance(error, AdapterError) else AdapterError(ErrorKind.PROGRAM, storable(str(error)))
        raise Unanswered(failure, (), route, entry) from error


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where a program works and what it finds there. `known_secrets` must not be read in what it says."""

    folder: Path
    environment: Mapping[str, str]
    known_secrets: Collection[str]


class _Work:
    """One run of a program."""

    def __init__(self, run: Run, prompt: HeartbeatPrompt, route: Route) -> None:
        self._run = run
        self._prompt = prompt
        self._route = route
        self._spec = BY_ADAPTER[run.adapter]
        self._listener = self._spec.listener()
        self._session = NO_SESSION

    def do(self, lease: Lease) -> Answer:
        self._command_line("")  # what is missing is said before anything is made for it
        with database_turn(begins=True):
            self._session = session_before(self._run)
            desk = _prepare(self._run, self._spec)
        ended = self._run_program(self._session.name, desk, lease)
        if self._session.name and self._has_forgotten(ended):
            self._session, self._listener = NO_SESSION, self._spec.listener()
            ended = self._run_program("", desk, lease)
        why = _why_failed(ended, self._listener.said.failure)
        if why:
            raise self._failure(mask_secrets(storable(why), desk.known_secrets)[:TOLD])
        call = self._completion(ended.seconds)
        text = mask_known(storable(call.text), desk.known_secrets)
        session = session_name(self._listener.said.session)
        return Answer(text, (call,), self._route, self._entry(), call.stop_reason.value, session)

    def _command_line(self, session: str) -> Sequence[str]:
        agent = self._run.agent
        return self._spec.command_line(agent.command, Asked(agent.model, session), settings.CLI_PATH)

    def _has_forgotten(self, ended: Ended) -> bool:
        """Whether it failed before it did anything: most likely over a session that it does not have any more, or not
        on this host."""
        said = self._listener.said
        has_asked = said.has_begun or (said.usage is not None and said.usage.output_tokens > 0)
        if has_asked or ended.was_slow or ended.signal is not None or not _why_failed(ended, said.failure):
            return False
        with database_turn():
            return not has_acted_by_key(self._run)

    def _run_program(self, session: str, desk: _Desk, lease: Lease) -> Ended:
        words = self._command_line(session)
        given = f"{self._prompt.system}\n\n{self._prompt.user}".encode("utf-8", "replace")
        output = LiveOutput(self._run, desk.known_secrets)
        allowance = _Allowance(self._run, self._prompt, self._entry())
        busy = _occupy(self._run, lease)
        try:
            program = Program(Command(tuple(words), desk.folder, desk.environment, given, keep=busy))
        finally:
            os.close(busy)  # the guard has it now
        ended = self._watch(program, output, allowance, lease)
        lease.check()
        return ended

    def _watch(self, program: Program, output: LiveOutput, allowance: _Allowance, lease: Lease) -> Ended:
        """See the program through, showing and counting what it says."""

        def tick() -> None:
            allowance.cover(self._usage() if self._listener.said.usage is not None else None, self._entry())
            output.keep()

        began = time.monotonic()
        try:
            with lease.ended_by(program.lifeline.let_go):
                ended = program.watch(
                    seconds=max(lease.seconds_left - FOR_THE_REST, 1.0),
                    heard=lambda piece: output.add(self._listener.hear(piece)),
                    ticked=tick,
                )
            output.add(self._listener.close())
            output.add(ended.errors)
        except OverBudget as refusal:
            calls = (self._completion(time.monotonic() - began),)
            raise Unanswered(refusal, calls, self._route, self._entry()) from None
        except Flooded as flood:
            raise self._failure(f"it {flood}, and was ended.") from None
        finally:
            output.keep()
        return ended

    def _completion(self, seconds: float) -> Completion:
        said = self._listener.said
        return Completion(said.text, self._model(), StopReason.END, self._usage(), seconds)

    def _model(self) -> str:
        """The model that answers, by the program's own word if it has said so."""
        return storable(self._listener.said.model)[:MODEL_CHARACTERS] or self._route.model

    def _entry(self) -> ModelEntry:
        """What is known of that model: its price bounds a program that was left to choose its model itself."""
        return entry_for(self._route.endpoint, self._model().partition("[")[0])  # as of `claude-opus-5[1m]`

    def _usage(self) -> Usage:
        """What the program told, else what its prompt and reply have at the least."""
        said = self._listener.said
        if said.usage is not None:
            return self._session.beyond(said.usage) if self._spec.counts_sessions else said.usage
        read = estimate_tokens(self._prompt.system) + estimate_tokens(self._prompt.user)
        return Usage(input_tokens=read, output_tokens=estimate_tokens(said.text), estimated=True)

    def _failure(self, why: str) -> AdapterError:
        return AdapterError(ErrorKind.PROGRAM, f"{self._spec.label}: {why}", usage=self._usage())


class _Allowance:
    """What is set aside for the calls that a program makes of its model: at first as much as for one."""

    def __init__(self, run: Run, prompt: HeartbeatPrompt, entry: ModelEntry) -> None:
        self._run = run
        self._step = prompt_ceiling(run.agent, prompt, entry, meter_for(entry.model))
        self._tokens, self._microdollars = self._step.tokens, self._step.microdollars or 0

    def cover(self, used: Usage | None, entry: ModelEntry) -> None:
        """Set aside more if this is more than is set aside, at the price of the model that answers. Raises OverBudget
        when there is no room, Fenced when the run has ended."""
        if used is None:
            return
        cost = cost_of([used], entry)
        missing = cost.tokens - self._tokens
        missing_money = (cost.microdollars or 0) - self._microdollars
        if missing <= 0 and missing_money <= 0:
            return
        more = Cost(max(missing, self._step.tokens), max(missing_money, self._step.microdollars or 0))
        set_aside(self._run, more)
        self._tokens += more.tokens
        self._microdollars += more.microdollars or 0


def _prepare(run: Run, spec: ProgramSpec) -> _Desk:
    """The workspace as the rows say, with the agent's skills where the program looks for them, and a key that dies with
    the run."""
    issue = _issue_of(run)
    folder = make_for_work(place_of(issue))
    if spec.skills_folder:
        fill_folder(place_of(issue), spec.skills_folder, skill_files(run.agent))
    _, key = create_run_key(run=run, expires_at=run.deadline_at)
    environment = {
        "PATH": settings.CLI_PATH,
        "HOME": settings.CLI_HOME,
        "LANG": settings.CLI_LANG,
        "TRIMUS_API_URL": address(),
        "TRIMUS_API_KEY": key,
        "TRIMUS_RUN_ID": str(run.pk),
        "TRIMUS_ISSUE": issue.identifier,
    }
    return _Desk(folder, environment, (*secrets_of(run.company), key))


def _occupy(run: Run, lease: Lease) -> int:
    """The workspace's descriptor. What was cancelled a moment ago may still be ending there."""
    until = time.monotonic() + OCCUPIED_SECONDS
    while (busy := occupy(place_of(_issue_of(run)))) is None:
        lease.check()
        if time.monotonic() > until:
            raise AdapterError(ErrorKind.PROGRAM, "Another program is still at work in the issue's workspace.")
        time.sleep(0.1)
    return busy


def _issue_of(run: Run) -> Issue:
    assert run.issue is not None  # noqa: S101 - its prompt has been gathered
    return run.issue


def _named(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those for real time
        return f"signal {number}"


def _why_failed(ended: Ended, failure: str) -> str:
    """Why there is no reply, with what the program said of it; empty if there is one."""
    if ended.unstarted:
        return f"it could not be started: {ended.unstarted}."
    if ended.was_slow:
        why = f"it had not ended after {ended.seconds / 60:.0f} minutes, and was ended."
    elif ended.signal is not None:
        why = f"it was ended by {_named(ended.signal)}."
    elif ended.code is None:
        why = "it was ended from outside."
    elif ended.code:
        why = f"it ended with code {ended.code}."
    elif failure:
        why = "it reported a failure."
    else:
        return ""
    return " ".join(filter(None, (why, failure, ended.errors.strip()[-SHOWN_ERRORS:])))
