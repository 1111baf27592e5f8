"""What outside agents are told, with the verbs that there are."""

from __future__ import annotations

from engine.allowed import card_of
from engine.text.guide import render_skill, render_tools_guide
from engine.verbs.registry import VERBS


def skill(address: str) -> str:
    """`SKILL.md`; `address` is where this installation is called, without a slash at its end."""
    return render_skill(address, map(card_of, VERBS))


def instructions() -> str:
    """The same for a client of the tools."""
    return render_tools_guide()
