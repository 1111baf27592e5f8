"""The demo company: a small publisher whose agents are scripted, to be looked at and run without any key."""

from __future__ import annotations

from datetime import timedelta
from importlib import resources

from django.utils import timezone

from agents.models import Agent
from agents.services.agents import hire_agent
from agents.services.routines import create_routine
from agents.services.skills import create_skill
from issues.actors import Person
from issues.effects import quietly, unit
from issues.models import Company, Label, Priority, Project, Status
from issues.services.blockers import add_blockers
from issues.services.comments import pin_comment, write_comment
from issues.services.companies import found_company
from issues.services.issues import create_issue, set_status
from issues.services.projects import create_label, create_project

NAME = "Lighthouse Press"
KEY = "DEMO"

_LABELS = (("website", "#2f6fdb"), ("newsletter", "#8250df"), ("bug", "#cf222e"))


def make_demo_company(*, actor: Person) -> Company:
    """A company with a founder (the actor), a triage agent, a manager, two specialists, issues, skills and a routine.

    Nothing starts by itself: its agents run when somebody presses Run, assigns, or writes to them.
    """
    with quietly(), unit():  # in this order: what a unit wakes is judged at its end
        company = found_company(
            actor=actor,
            name=NAME,
            key=_free_key(),
            mission="Publish clear guides for people who keep small gardens.",
        )
        agents = _hire(actor, company)
        _add_skills(actor, company)
        labels = [create_label(actor=actor, company=company, name=name, colour=colour) for name, colour in _LABELS]
        _open_issues(actor, company, agents, labels)
        create_routine(
            actor=actor,
            company=company,
            name="Weekly digest",
            cron="0 9 * * 1",
            title="Weekly digest",
            body="Sum up what was published in the last seven days.",
            assignee=agents["mara"],
            enabled=False,
        )
    return company


def _free_key() -> str:
    taken = set(Company.objects.filter(key__startswith=KEY).values_list("key", flat=True))
    number = 1
    while (key := KEY if number == 1 else f"{KEY}{number}") in taken:
        number += 1
    return key


def _hire(actor: Person, company: Company) -> dict[str, Agent]:
    def hire(name: str, title: str, description: str, manager: Agent | None = None, role: str = "") -> Agent:
        script = resources.files("engine.demo").joinpath("scripts", f"{name.lower()}.yaml").read_text("utf-8")
        return hire_agent(
            actor=actor,
            company=company,
            name=name,
            title=title,
            role=role,
            description=description,
            manager=manager,
            provider="scripted",
            script=script,
            instructions=f"You are {name}. {description}",
        )

    mara = hire("Mara", "Managing editor", "Plans the work, hands out its parts, asks the board before publishing.")
    return {
        "mara": mara,
        "iris": hire("Iris", "Front desk", "Sorts new issues and hands them on.", mara, role="triage"),
        "theo": hire("Theo", "Writer", "Writes drafts of guides, letters and pages.", mara),
        "noor": hire("Noor", "Proofreader", "Reads closely and corrects.", mara),
    }


def _add_skills(actor: Person, company: Company) -> None:
    create_skill(
        actor=actor,
        company=company,
        name="House style",
        description="How our texts sound",
        body="Short sentences, one idea each.\nSay “you”, not “the reader”.\nNo promise that we cannot keep.",
    )
    create_skill(
        actor=actor,
        company=company,
        name="Release checklist",
        description="Before anything is published",
        body="1. Somebody else has read it.\n2. Every link was opened.\n3. The board has said yes.",
    )


def _open_issues(actor: Person, company: Company, agents: dict[str, Agent], labels: list[Label]) -> None:
    website, newsletter, bug = labels
    guides = create_project(
        actor=actor,
        company=company,
        name="Spring guides",
        description="Six guides for the spring season.",
        rules="Every guide fits on two pages.",
    )
    balcony = create_issue(
        actor=actor,
        company=company,
        title="Guide: herbs on a balcony",
        description="Two pages for people with one sunny metre. @mara plans it.",
        priority=Priority.HIGH,
        project=guides,
        assignee=agents["mara"],
        due_date=timezone.localdate() + timedelta(days=10),
    )
    comment = write_comment(
        actor=actor, issue=balcony, body="Please leave out anything that needs a garden: our readers have none."
    )
    pin_comment(actor=actor, comment=comment)
    _tomato_guide(actor, company, guides, agents)
    letter = create_issue(
        actor=actor,
        company=company,
        title="Newsletter for April",
        description="What is new this spring, in five short paragraphs.",
        priority=Priority.MEDIUM,
        labels=[newsletter],
        assignee=agents["theo"],
    )
    add_blockers(actor=actor, issue=letter, blockers=[balcony])
    create_issue(
        actor=actor,
        company=company,
        title="The contact page shows last year's address",
        labels=[website, bug],
        priority=Priority.URGENT,
    )
    create_issue(
        actor=actor,
        company=company,
        title="Ideas for a winter series",
        description="Collect what readers asked for.",
        status=Status.BACKLOG,
        priority=Priority.LOW,
    )
    _finished(actor, company, "Choose a typeface for the guides", website)


def _tomato_guide(actor: Person, company: Company, project: Project, agents: dict[str, Agent]) -> None:
    tomatoes = create_issue(
        actor=actor,
        company=company,
        title="Guide: tomatoes in pots",
        description="The season starts in May.",
        status=Status.IN_PROGRESS,
        project=project,
        assignee=agents["mara"],
    )
    create_issue(
        actor=actor,
        company=company,
        title="Draft: tomatoes in pots",
        description="Varieties that stay small, pots, watering.",
        parent=tomatoes,
        assignee=agents["theo"],
    )
    done = create_issue(
        actor=actor, company=company, title="Ask readers for photographs", parent=tomatoes, project=project
    )
    set_status(actor=actor, issue=done, status=Status.DONE)


def _finished(actor: Person, company: Company, title: str, label: Label) -> None:
    issue = create_issue(actor=actor, company=company, title=title, labels=[label])
    write_comment(actor=actor, issue=issue, body="We take the one we have. It reads well in small sizes.")
    set_status(actor=actor, issue=issue, status=Status.DONE)
