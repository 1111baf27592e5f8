"""Two runs beside each other: what the later prompt said otherwise, and what stood behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from agents.models import Run
from agents.views.lookup import find_run, previous_run
from engine.text.differences import Change, LineKind, SectionChange, diff_prompts, kept_sections
from issues.numbers import as_number
from issues.pages import Visit, company_page, show
from issues.refusals import Invalid, Refusal

HASH_SHOWN = 8
"""Characters of a hash: enough to tell two of one agent apart."""

_WORDS = {Change.SAME: "The same", Change.CHANGED: "Changed", Change.ADDED: "New", Change.REMOVED: "Gone"}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something known of both runs, in words. A figure differs nearly always and is not called changed."""

    name: str
    before: str
    after: str
    is_figure: bool

    @property
    def is_changed(self) -> bool:
        return not self.is_figure and self.before != self.after


@dataclass(frozen=True, slots=True)
class Compared:
    """A section of either prompt, with what became of it in a word or two."""

    change: SectionChange
    word: str

    @property
    def is_same(self) -> bool:
        return self.change.change is Change.SAME

    @property
    def added(self) -> int:
        return sum(line.kind is LineKind.ADDED for line in self.change.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind is LineKind.REMOVED for line in self.change.lines)


@require_safe
@company_page
def compare_runs(request: HttpRequest, visit: Visit, run: int) -> HttpResponse:
    """The run beside that of the number `with`; without one beside the agent's run before on the same issue."""
    after = find_run(visit, run)
    wanted = request.GET.get("with", "").strip()
    context = {"at": reverse("runs", args=[visit.company.slug]), "run": after, "wanted": wanted}
    try:
        before = _other(visit, after, wanted)
    except Refusal as refusal:
        response = show(request, visit, "agents/compare.html", context | {"refusal": refusal})
        response.status_code = refusal.http_status
        return response
    if before is not None:
        context |= _comparison(before, after) | {"wanted": before.pk}
    return show(request, visit, "agents/compare.html", context)


def _other(visit: Visit, run: Run, wanted: str) -> Run | None:
    """The run to compare with; none if none was named and this is the agent's first on the issue."""
    if not wanted:
        previous = previous_run(run)
        return None if previous is None else find_run(visit, previous.pk)
    number = as_number(wanted)
    if number is None:
        raise Invalid("A run is named by its number.", field="with")
    return find_run(visit, number)


def _comparison(before: Run, after: Run) -> dict[str, Any]:
    changes = diff_prompts(_sections(before), _sections(after))
    return {
        "before": before,
        "runs": (before, after),
        "mute": [run for run in (before, after) if not run.prompt_sections],
        "facts": [Fact(name, tell(before), tell(after), is_figure=tell in _FIGURES) for name, tell in _FACTS.items()],
        "sections": [Compared(change, _word(change, before, after)) for change in changes],
    }


def _sections(run: Run) -> Any:
    return kept_sections(run.system_message, run.user_message, run.prompt_sections)


def _word(change: SectionChange, before: Run, after: Run) -> str:
    """What became of a section. One that had no room in a prompt is not gone: it would have stood there."""
    if change.change is Change.ADDED and change.title in _deferred(before):
        return f"No room in run {before.pk}"
    if change.change is Change.REMOVED and change.title in _deferred(after):
        return f"No room in run {after.pk}"
    return _WORDS[change.change]


def _deferred(run: Run) -> list[str]:
    return [section["title"] for section in run.prompt_sections if section.get("is_deferred")]


def _model(run: Run) -> str:
    return ", ".join(part for part in (run.provider or run.adapter, run.model) if part)


def _tokens(run: Run) -> str:
    tokens = run.prompt_facts.get("tokens")
    if tokens is None:
        return "not counted"
    return f"{tokens:,}" if run.prompt_facts.get("is_exact") else f"about {tokens:,}"


def _cached(run: Run) -> str:
    if not run.input_tokens:
        return "nothing was read"
    share = round(100 * run.cached_tokens / run.input_tokens)
    return f"{run.cached_tokens:,} of {run.input_tokens:,} tokens, {share}%"


def _breakpoints(run: Run) -> str:
    """By the section that each stands behind."""
    ends = {(section["message"], section.get("end")): section["title"] for section in run.prompt_sections}
    told = [
        f"after {ends.get((point['message'], point['offset']), 'a section')} ({point['tokens']:,})"
        for point in run.prompt_facts.get("breakpoints", ())
    ]
    return ", ".join(told) or "none"


def _left_out(run: Run) -> str:
    return ", ".join(run.prompt_facts.get("deferred", ())) or "nothing"


def _shortened(run: Run) -> str:
    return ", ".join(part["title"] for part in run.prompt_sections if not part.get("is_whole", True)) or "nothing"


_FACTS: dict[str, Callable[[Run], str]] = {
    "Model": _model,
    "Scenario": lambda run: run.scenario or "none",
    "Contract": lambda run: run.contract_hash[:HASH_SHOWN] or "not kept",
    "Instructions": lambda run: run.instructions_hash[:HASH_SHOWN] or "not kept",
    "Skills": lambda run: run.skills_hash[:HASH_SHOWN] or "not kept",
    "Tokens of the prompt": _tokens,
    "Read from the cache": _cached,
    "Cache breakpoints": _breakpoints,
    "Left out for want of room": _left_out,
    "Shortened": _shortened,
}
_FIGURES = (_tokens, _cached, _breakpoints)
