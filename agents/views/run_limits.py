"""The limits that a run was under, and how near it came to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from agents.models import PROGRAMS, ActionOutcome, Budget, Run, RunAction, Spending, Wakeup, WakeupSource
from agents.services.runs import RATE_WINDOW
from agents.services.spending import DIMENSIONS, WARN_PERCENT, this_month
from agents.services.wakeups import RUNS_IN_CHAIN
from engine.claim import PROGRAM_DEADLINE, RUN_DEADLINE
from engine.stalling import RUNS_BEFORE_STALL
from engine.verbs.registry import BY_NAME, VERBS
from issues.templatetags.board import count, money, seconds


@dataclass(frozen=True, slots=True)
class Limit:
    """Of `most`, so much is `used`; `told` says both in words, with their unit."""

    name: str
    used: float
    most: float
    told: str

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.used / self.most)) if self.most else 100

    @property
    def level(self) -> str:
        """As the drawing is coloured: empty, near or over."""
        if self.used >= self.most:
            return "over"
        return "near" if self.percent >= WARN_PERCENT else ""


def with_counts(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with what the guards count, up to each run, in the same query."""
    chain = Run.objects.filter(chain=OuterRef("chain"), pk__lte=OuterRef("pk"))
    here = Run.objects.filter(agent=OuterRef("agent"), issue=OuterRef("issue"), pk__lte=OuterRef("pk"))
    lately = here.filter(created_at__gt=OuterRef("created_at") - RATE_WINDOW)
    return runs.annotate(
        chain_runs=_number(chain, "chain"),
        hour_runs=_number(lately, "agent"),
        continues=_number(_continues(), "agent"),
        idle_runs=_number(_idle(here), "agent"),
    )


def limits_of(run: Run, actions: Sequence[RunAction], took: timedelta | None) -> list[Limit]:
    """Those of the run itself first, then those that hold runaways, then the budgets of this month. The run comes from
    `with_counts`."""
    counted: Any = run
    company = run.company
    limits = [*_of_texts(run), *_of_time(run, took), *_of_verbs(run, actions)]
    if run.chain is not None:
        limits.append(_plain("Agents in a row since a person", run.depth, company.hop_limit))
        limits.append(_plain("Runs since then", counted.chain_runs, RUNS_IN_CHAIN))
    if run.issue_id is not None:
        limits += [
            _plain("Runs of the agent here within an hour", counted.hour_runs, company.runs_per_hour),
            _plain("Times it went on by itself", counted.continues, company.continue_limit),
            _plain("Runs in a row that changed nothing", counted.idle_runs, RUNS_BEFORE_STALL),
        ]
    return limits


def budgets_left(run: Run) -> list[Limit]:
    """What the company and the agent may still spend this month, where that is bounded."""
    both = Q(agent=None) | Q(agent=run.agent_id)
    spent = {row.agent_id: row for row in Spending.objects.filter(both, company=run.company, month=this_month())}
    return [
        _left(budget, spent.get(budget.agent_id), name, limit)
        for budget in Budget.objects.filter(both, company=run.company).order_by("agent")
        for name in DIMENSIONS
        if (limit := getattr(budget, name)) is not None
    ]


def _left(budget: Budget, spent: Spending | None, name: str, most: int) -> Limit:
    used = getattr(spent, name) if spent is not None else 0
    show, unit = (money, "") if name == "microdollars" else (count, f" {name}")
    whose = "The company’s" if budget.agent_id is None else "The agent’s"
    return Limit(f"{whose} budget", used, most, f"{show(max(0, most - used))} of {show(most)}{unit} left")


def _of_texts(run: Run) -> list[Limit]:
    given = run.prompt_facts.get("parameters")
    if not given:
        return []
    second = sum(section.get("tokens", 0) for section in run.prompt_sections if section["message"] == "user")
    limits = [_plain("Tokens of the second message", second, given["prompt_budget"])] if second else []
    if "tokens" in run.prompt_facts:
        limits.append(_plain("Tokens of the model's window", run.prompt_facts["tokens"], given["window"]))
    if run.replied_at and run.adapter not in PROGRAMS:  # a program asks its model many times
        limits.append(_plain("Tokens of the answer", run.output_tokens, given["max_output_tokens"]))
    return limits


def _of_time(run: Run, took: timedelta | None) -> list[Limit]:
    if took is None:
        return []
    deadline = PROGRAM_DEADLINE if run.adapter in PROGRAMS else RUN_DEADLINE
    used, most = took.total_seconds(), deadline.total_seconds()
    return [Limit("Time", used, most, f"{seconds(used)} of {seconds(most)}")]


def _of_verbs(run: Run, actions: Sequence[RunAction]) -> list[Limit]:
    """Of the verbs that were used, those that have a cap."""
    used = Counter(action.verb for action in actions)
    caps = {verb.name: run.company.action_caps.get(verb.name, verb.cap) for verb in VERBS if verb.name in used}
    return [_plain(f"/{verb} in one run", used[verb], cap) for verb, cap in caps.items() if cap is not None]


def _plain(name: str, used: int, most: int) -> Limit:
    return Limit(name, used, most, f"{count(used)} of {count(most)}")


def _number(rows: QuerySet[Any], by: str) -> Coalesce:
    """How many there are, as a subquery. All of them have the same value in the column `by`."""
    counted = rows.order_by().values(by).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _continues() -> QuerySet[Wakeup]:
    """How the agent went on there by itself, since a person last woke it."""
    here = Wakeup.objects.filter(agent=OuterRef("agent"), issue=OuterRef("issue"), run__lte=OuterRef("pk"))
    persons = Wakeup.objects.filter(
        agent=OuterRef("agent"), issue=OuterRef("issue"), run__lte=OuterRef(OuterRef("pk")), member__isnull=False
    )
    last = Coalesce(Subquery(persons.order_by("-pk").values("pk")[:1]), 0)
    return here.filter(source=WakeupSource.CONTINUE).annotate(last=last).filter(pk__gt=F("last"))


def _idle(here: QuerySet[Run]) -> QuerySet[Run]:
    """The applied runs there since one that changed something or that a person woke. Those that only passed count
    neither way."""
    actions = RunAction.objects.filter(run=OuterRef("pk"))
    changing = [name for name, verb in BY_NAME.items() if verb.is_change]
    changed = Exists(actions.filter(outcome=ActionOutcome.APPLIED, verb__in=changing))
    asked = Exists(Wakeup.objects.filter(run=OuterRef("pk"), member__isnull=False))
    earlier = Run.objects.filter(
        Q(changed) | Q(asked), agent=OuterRef("agent"), issue=OuterRef("issue"), pk__lte=OuterRef(OuterRef("pk"))
    )
    last = Coalesce(Subquery(earlier.order_by("-pk").values("pk")[:1]), 0)
    only_passed = Exists(actions.filter(verb="pass")) & ~Exists(actions.exclude(verb="pass"))
    return here.filter(~only_passed, applied_at__isnull=False).annotate(last=last).filter(pk__gt=F("last"))
