"""A company to measure on, made by the services that make every other one."""

from __future__ import annotations

import random
from dataclasses import dataclass

WORDS = """
    cache deploy tenant invoice parser heartbeat queue index migration release search board column label review
    timeout budget prompt skill routine approval comment webhook export import schema session token draft report
""".split()  # noqa: SIM905 - thirty quotes are no easier to read
SEARCHED = "turbine"
"""A word that stands in every twentieth issue, so that a search finds a page of them and has to look for it."""
BATCH = 200


@dataclass(frozen=True, slots=True)
class Seeded:
    """What the client needs to know of it."""

    company: str
    key: str


def seed(key: str, count: int) -> Seeded:
    """A company with `count` issues, as varied as a year of work, and a key of its founder. Needs Django set up."""
    from agents.services.agents import hire_agent
    from issues.actors import Person
    from issues.effects import unit
    from issues.models import Priority, Status
    from issues.services.accounts import create_user
    from issues.services.companies import change_company, found_company
    from issues.services.issues import create_issue
    from issues.services.keys import create_user_key
    from issues.services.projects import create_label, create_project

    chance = random.Random(count)
    founder = Person(create_user(username=f"founder-{key.lower()}"))
    company = found_company(actor=founder, name=f"{key} Ltd", key=key)
    founder = Person(founder.user, company.members.get())
    # Comments are to be measured, not the runs they would start.
    company = change_company(actor=founder, company=company, comments_wake_assignee=False)
    agents = [hire_agent(actor=founder, company=company, name=f"Agent {number}") for number in range(8)]
    projects = [create_project(actor=founder, company=company, name=f"Project {number}") for number in range(6)]
    labels = [create_label(actor=founder, company=company, name=f"label-{number}") for number in range(12)]
    for start in range(0, count, BATCH):
        with unit():
            for number in range(start, min(start + BATCH, count)):
                create_issue(
                    actor=founder,
                    company=company,
                    title=sentence(chance, 6) + (f" {SEARCHED}" if number % 20 == 0 else ""),
                    description="\n\n".join(sentence(chance, 40) for _ in range(3)),
                    status=Status.DONE if number % 3 == 0 else Status.BACKLOG,
                    priority=chance.choice(list(Priority)),
                    assignee=chance.choice([*agents, None]),
                    project=chance.choice([*projects, None]),
                    labels=chance.sample(labels, chance.randrange(3)),
                )
    _, text = create_user_key(actor=founder, user=founder.user, name="benchmark")
    return Seeded(company.key, text)


def sentence(chance: random.Random, words: int) -> str:
    """So many words of a tracker's talk."""
    return " ".join(chance.choice(WORDS) for _ in range(words)).capitalize()
