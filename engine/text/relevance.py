"""Which skills matter to an assignment: by the words they have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.text.context import Skill

WORD = re.compile(r"[^\W_]{2,}")
COMMON = (
    "about after all also an and any are as at be been before but by can could did do does for from had has have "
    "he her here his how if in into is it its just may more most must my new no not now of on one only or other our "
    "out over please shall she should so some such than that the their them then there these they this to under up "
    "us use was we were what when where which while who why will with would you your"
)
STOP_WORDS = frozenset(COMMON.split())
NAME_WEIGHT, DESCRIPTION_WEIGHT, BODY_WEIGHT = 3.0, 1.0, 0.5


def by_relevance(skills: Sequence[Skill], subject: str) -> list[Skill]:
    """The skills, most relevant to the subject's words first; equal ones in their given order."""
    wanted = words_of(subject)
    return sorted(skills, key=lambda skill: -relevance(skill, wanted))


def relevance(skill: Skill, wanted: frozenset[str]) -> float:
    """Words in common with the skill's name count 3 each, with its description 1, with its body 0.5."""
    return (
        NAME_WEIGHT * len(words_of(skill.name) & wanted)
        + DESCRIPTION_WEIGHT * len(words_of(skill.description) & wanted)
        + BODY_WEIGHT * len(words_of(skill.body) & wanted)
    )


def words_of(text: str) -> frozenset[str]:
    """The words of a text, case-folded, without the ones that any text has."""
    return frozenset(WORD.findall(text.casefold())) - STOP_WORDS
