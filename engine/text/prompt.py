"""The whole prompt: two messages from one context, with all that a reader of the run will ask about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from engine.text.assignment import render_assignment, render_pinned
from engine.text.cheatsheet import render_actions
from engine.text.cleansing import cleanse
from engine.text.context import HeartbeatContext
from engine.text.contract import CONTRACT, CONTRACT_HASH
from engine.text.fitting import JOINT, Fitting, Measure
from engine.text.history import shorten
from engine.text.identity import render_company, render_knowledge, render_role, render_you
from engine.text.packing import PromptTooLarge, output_room, pack, user_room
from engine.text.parts import OUTCOMES, deferrable_parts
from engine.text.playbook import render_instructions, render_playbook
from engine.text.sections import (
    USER_SECTIONS,
    CacheBreakpoint,
    Meter,
    RenderedSection,
    end_of,
    locate,
    message_text,
    section_text,
)
from engine.text.trigger import DESCRIPTION, TEXT_CHARACTERS, TriggerText, render_trigger

DEFERRAL_TOKENS = 120
"""Reserved for the line that names deferred sections, by the most careful count of the longest one."""


@dataclass(frozen=True, slots=True)
class HeartbeatPrompt:
    """What is sent, and what is known of it.

    `deferred` names the parts left out for want of room. `delivered` are the ids of the wakeups shown: the
    others stay pending. `whole_skills` names the skills whose body was shown. `hidden_characters` counts what
    was stripped from the context. `tokens` is the meter's estimate of both messages, exact if `is_exact`.
    `output_tokens` is the room that was left for the answer.
    """

    system: str
    user: str
    sections: tuple[RenderedSection, ...]
    breakpoints: tuple[CacheBreakpoint, ...]
    contract_hash: str
    deferred: tuple[str, ...]
    delivered: tuple[int, ...]
    whole_skills: tuple[str, ...]
    hidden_characters: int
    tokens: int
    is_exact: bool
    output_tokens: int


@dataclass(frozen=True, slots=True)
class _Filled:
    """The bodies of the user message: those that must be there, those that fitted, and the names of the others."""

    trigger: TriggerText
    mandatory: dict[str, str]
    packed: dict[str, Fitting]
    deferred: tuple[str, ...]

    @property
    def leaves_its_cause_cut(self) -> bool:
        """Whether the trigger points to a description of which less is shown than the trigger itself would show."""
        shown = self.packed.get(DESCRIPTION)
        is_enough = shown is not None and (shown.is_whole or len(shown.text) >= TEXT_CHARACTERS)
        return self.trigger.points_to_description and not is_enough


def render_prompt(context: HeartbeatContext, meter: Meter, known_secrets: Collection[str] = ()) -> HeartbeatPrompt:
    """The prompt for the context. The same context and meter give the same bytes.

    `known_secrets` are values that are masked wherever they stand, beside what has the form of a secret.
    `PromptTooLarge` when what must be shown exceeds the model's room.
    """
    context, hidden = cleanse(replace(context, history=shorten(context.history)), known_secrets)
    verbs = frozenset(card.name for card in context.actions.cards)
    system = _system_bodies(context)
    system_text = message_text(system)
    # Pieces are measured again and again while the room is shared out; nearly all are measured as they were.
    measure = lru_cache(maxsize=None)(meter.guard)
    room = user_room(context.limits, measure(system_text)) - DEFERRAL_TOKENS
    fill = partial(_fill, context, verbs, room, measure)
    filled = fill(description=context.assignment.description)
    if filled.leaves_its_cause_cut:
        filled = fill(description="")
    mandatory, packed, deferred = filled.mandatory, filled.packed, filled.deferred
    user = _user_bodies(mandatory, packed)
    user_text = message_text(user) + _deferral_line(deferred)
    sections = _sections(system, user, packed, deferred, meter)
    skills = packed.get("Available Skills")
    return HeartbeatPrompt(
        system=system_text,
        user=user_text,
        sections=sections,
        breakpoints=_breakpoints(sections),
        contract_hash=CONTRACT_HASH,
        deferred=deferred,
        delivered=tuple(wakeup.id for wakeup in filled.trigger.delivered),
        whole_skills=skills.names if skills else (),
        hidden_characters=hidden,
        tokens=meter.estimate(system_text) + meter.estimate(user_text),
        is_exact=meter.is_exact,
        output_tokens=output_room(context.limits),
    )


def _system_bodies(context: HeartbeatContext) -> dict[str, str]:
    bodies = {
        "Contract": CONTRACT,
        "Company": render_company(context.company),
        "Role": render_role(context.agent),
        "Knowledge": render_knowledge(context.agent),
    }
    return {title: body for title, body in bodies.items() if body}


def _mandatory_bodies(context: HeartbeatContext, verbs: Collection[str], trigger: TriggerText) -> dict[str, str]:
    """The sections that are never cut or deferred, but for the clamp of the trigger."""
    bodies = {
        "You": render_you(context.agent, context.reporting_line, verbs),
        "Your Assignment": render_assignment(context.assignment, context.agent),
        "Pinned Context": render_pinned(context.pinned, context.now.tzinfo),
        "Trigger": trigger.text,
        "Available Actions": render_actions(context.actions, context.tier),
        "Escalation Playbook": render_playbook(verbs, context.tier),
        "Instructions": render_instructions(context, verbs),
    }
    return {title: body for title, body in bodies.items() if body}


def _fill(
    context: HeartbeatContext, verbs: Collection[str], room: int, measure: Measure, *, description: str
) -> _Filled:
    """What the user message holds.

    A cause that is `description` is pointed to by the trigger; without one it stands there and is pointed to.
    """
    trigger = render_trigger(
        context.trigger,
        pinned={comment.id for comment in context.pinned},
        description=description,
        allowance=room // 2,
        measure=measure,
    )
    mandatory = _mandatory_bodies(context, verbs, trigger)
    parts = tuple(deferrable_parts(context, verbs, trigger.delivered, measure))
    if not description and context.assignment.description.strip():
        mandatory[DESCRIPTION] = "See Trigger."
        parts = tuple(part for part in parts if part.name != DESCRIPTION)
    packed = pack(parts, min(context.limits.prompt_budget, room) - _demand(mandatory, room, measure))
    return _Filled(trigger, mandatory, packed, tuple(part.name for part in parts if part.name not in packed))


def _demand(mandatory: Mapping[str, str], room: int, measure: Measure) -> int:
    """Tokens of what must be shown."""
    sizes = {title: measure(section_text(title, body)) + JOINT for title, body in mandatory.items()}
    if (demand := sum(sizes.values())) > room:
        raise PromptTooLarge(sizes, room)
    return demand


def _user_bodies(mandatory: Mapping[str, str], packed: Mapping[str, Fitting]) -> dict[str, str]:
    """All sections of the user message that have something to show, in their order."""
    texts = {**mandatory, **{name: fitting.text for name, fitting in packed.items()}}
    history = [texts[name] for name in ("Conversation History", OUTCOMES) if name in texts]
    if history:
        texts["Conversation History"] = "\n\n".join(history)
    return {title: texts[title] for title in USER_SECTIONS if title in texts}


def _deferral_line(deferred: Sequence[str]) -> str:
    if not deferred:
        return ""
    plural = "s" if len(deferred) > 1 else ""
    return f"\n[+{len(deferred)} section{plural} deferred] {', '.join(deferred)}"


def _sections(
    system: Mapping[str, str],
    user: Mapping[str, str],
    packed: Mapping[str, Fitting],
    deferred: Sequence[str],
    meter: Meter,
) -> tuple[RenderedSection, ...]:
    cut = {name for name, fitting in packed.items() if not fitting.is_whole}
    return (
        *locate("system", system, (), meter),
        *locate("user", user, cut, meter),
        *(RenderedSection(name, "user", is_whole=False, is_deferred=True) for name in deferred),
    )


def _breakpoints(sections: Sequence[RenderedSection]) -> tuple[CacheBreakpoint, ...]:
    """After the contract, after the role, after the skills and after the history: in each, all that comes
    before changes more seldom than what follows.
    """
    system = [section for section in sections if section.message == "system"]
    user = [section for section in sections if section.message == "user"]
    skills = USER_SECTIONS[: USER_SECTIONS.index("Available Skills") + 1]
    history = USER_SECTIONS[: USER_SECTIONS.index("Conversation History") + 1]
    read = sum(section.tokens for section in system)
    points = (
        _breakpoint(system, ("Contract",), 0),
        _breakpoint(system, [section.title for section in system], 0),
        _breakpoint(user, skills, read),
        _breakpoint(user, history, read),
    )
    return tuple(dict.fromkeys(points))


def _breakpoint(sections: Sequence[RenderedSection], last: Collection[str], read: int) -> CacheBreakpoint:
    """After the last section whose title is among `last`; `read` tokens stand before the message."""
    end = end_of(sections, last)
    tokens = read + sum(section.tokens for section in sections if section.end <= end and not section.is_deferred)
    return CacheBreakpoint(sections[0].message, end, tokens)
