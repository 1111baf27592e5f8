"""Available Skills: whole while they fit, else the relevant ones whole and the others by name."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engine.text.cheatsheet import permitted
from engine.text.context import Skill
from engine.text.fitting import JOINT, Fitting, Measure, fit_lines
from engine.text.quoting import demote_headings, flat, quote
from engine.text.relevance import by_relevance

DEMOTED = 3
"""A skill stands under `### name`: its own `# ` becomes `#### `."""
INTRODUCTION = ("Apply one that fits.", "Record it with /use-skill <name>.")
BY_NAME = ("These are not shown whole.", "/use-skill <name> brings one into your next prompt.")


def fit_skills(
    skills: Sequence[Skill],
    asked: Collection[str],
    subject: str,
    verbs: Collection[str],
    *,
    allowance: int,
    measure: Measure,
) -> Fitting | None:
    """All skills whole if they fit the allowance of tokens, in their given order.

    Else those that were asked for and then the most relevant to `subject`; the order shown stays the given
    one, and the others follow by name, as many as fit. The fitting names the skills that came whole.
    """
    introduction = permitted(INTRODUCTION, verbs)
    bodies = {skill.name: _whole(skill) for skill in skills}
    sizes = {name: measure(body) + JOINT for name, body in bodies.items()}
    total = measure(introduction) + JOINT + sum(sizes.values())
    if total <= allowance:
        return Fitting("\n\n".join([introduction, *bodies.values()]), total, is_whole=True, names=tuple(bodies))
    by_name = permitted(BY_NAME, verbs)
    room = allowance - _frame_size(skills, introduction, by_name, measure)
    chosen = _chosen(skills, asked, subject, sizes, room)
    parts = [introduction, *(bodies[name] for name in bodies if name in chosen), by_name]
    used = sum(measure(part) + JOINT for part in parts)
    rest = [_pointer(skill) for skill in skills if skill.name not in chosen]
    pointers = fit_lines(rest, _more, allowance=allowance - used, measure=measure)
    if pointers is None:
        return None
    text = "\n\n".join(parts) + f"\n{pointers.text}"
    return Fitting(text, used + pointers.size, False, tuple(name for name in bodies if name in chosen))


def _chosen(
    skills: Sequence[Skill], asked: Collection[str], subject: str, sizes: dict[str, int], room: int
) -> set[str]:
    wanted = {name.casefold() for name in asked}
    ranked = sorted(by_relevance(skills, subject), key=lambda skill: skill.name.casefold() not in wanted)
    chosen: set[str] = set()
    for skill in ranked:
        if sizes[skill.name] <= room:
            chosen.add(skill.name)
            room -= sizes[skill.name]
    return chosen


def _frame_size(skills: Sequence[Skill], introduction: str, by_name: str, measure: Measure) -> int:
    """What all but the bodies would need if every skill had its line: a bound, so that choosing needs no
    second look.
    """
    return (
        measure(introduction) + measure(by_name) + 2 * JOINT + sum(measure(_pointer(skill)) + JOINT for skill in skills)
    )


def _whole(skill: Skill) -> str:
    about = flat(skill.description)
    parts = (f"### {flat(skill.name)}", quote(about) if about else "", demote_headings(skill.body, DEMOTED))
    return "\n".join(part for part in parts if part)


def _pointer(skill: Skill) -> str:
    return f"- {flat(skill.name)}: {flat(skill.description)}"


def _more(count: int) -> str:
    return f"[{count} more skills]"
