"""An agent for a first look: scripted, so that it works without any key."""

from __future__ import annotations

from importlib import resources

from agents.models import Agent
from agents.services.agents import hire_agent
from issues.actors import Actor
from issues.models import Company

NAME = "Robin"


def hire_first_agent(*, actor: Actor, company: Company) -> Agent:
    """Hire it. It answers every issue with the same words, which say what a run is, and closes it."""
    return hire_agent(
        actor=actor,
        company=company,
        name=NAME,
        title="Guide",
        description="Shows what a run is.",
        provider="scripted",
        script=resources.files("engine.demo").joinpath("scripts", f"{NAME.lower()}.yaml").read_text("utf-8"),
    )
