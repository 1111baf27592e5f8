"""Making a company from the file that another one was exported to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agents.imports.archive import Archive, Row
from agents.imports.house import House
from agents.imports.material import add_attachments, add_files, add_findings
from agents.imports.people import add_agents, add_material, add_members, first_owner_of
from agents.imports.work import add_comments, add_issues
from agents.model_choices import ModelChoice
from agents.services.providers import change_models
from issues.activity import record
from issues.actors import Person
from issues.effects import quietly, savepoint, service
from issues.models import Company, User
from issues.refusals import Refusal
from issues.services.companies import SETTINGS, change_company, found_company, pause_company
from issues.services.policy import set_cap
from issues.texts import check_line

_FLAGS = ("comments_wake_assignee", "agents_may_create_labels", "hires_on_probation", "checkpoints")
_TEXTS = ("default_thinking",)


@dataclass(frozen=True, slots=True)
class Imported:
    """The company, how many there are of each kind in it, and what was not taken over or is left to do."""

    company: Company
    made: Mapping[str, int]
    remarks: tuple[str, ...]


@service
def import_company(
    *,
    actor: Person,
    archive: Archive,
    key: str = "",
    accounts: Mapping[str, User] = MappingProxyType({}),
    progress: Callable[[str], object] = lambda _part: None,
) -> Imported:
    """A new company of all that the file holds, whole or not at all. Any user may; they become its first owner. `key`
    is for where its own is taken; `accounts` are whom the file's other members are, by their handles.

    It wakes nobody and tells nobody. The company is paused and its routines are off, until somebody says so. Invalid,
    with the place in the file, for a row that could not have come about here.
    """
    with quietly():
        house = _found(actor, archive, key)
        add_members(house, accounts)
        for part, add in _PARTS.items():
            progress(part)
            add(house)
        record(house.owner, "company.imported", house.company)
        company = pause_company(actor=house.owner, company=house.company)
    return Imported(company, dict(house.made), tuple(house.remarks))


_PARTS: Mapping[str, Callable[[House], None]] = {
    "agents": add_agents,
    "projects, labels, skills, routines": add_material,
    "issues": add_issues,
    "comments": add_comments,
    "findings": add_findings,
    "attachments": add_attachments,
    "files": add_files,
}
"""In the order in which the rows of one can name those of another."""


def _found(actor: Person, archive: Archive, key: str) -> House:
    about = archive.company
    company = found_company(
        actor=actor,
        name=about.text("name"),
        key=key or about.text("key"),
        mission=about.text("mission"),
        time_zone=about.text("time_zone") or "UTC",
        handle=first_owner_of(archive),
    )
    owner = Person(actor.user, company.members.get(user=actor.user))
    with about.told():
        company = change_company(actor=owner, company=company, **_settings(about))
        for verb, cap in _caps(about).items():
            company = set_cap(actor=owner, company=company, verb=verb, cap=cap)
    house = House(archive, company, owner)
    _choose_models(house, about)
    return house


def _settings(about: Row) -> dict[str, object]:
    read = dict.fromkeys(_FLAGS, about.flag) | dict.fromkeys((*_TEXTS, "norms"), about.text)
    return {
        name: read.get(name, about.whole)(name)
        for name in (*SETTINGS, "norms")
        if about.values.get(name) is not None
    }  # fmt: skip


def _caps(about: Row) -> dict[str, int | None]:
    caps = about.inner("action_caps")
    return {check_line(verb, "verb", limit=40): caps.whole(verb) for verb in caps.values}


def _choose_models(house: House, about: Row) -> None:
    """What its tiers and its chain mean, where all providers that they name are here."""
    tiers = about.inner("model_tiers")
    try:
        with savepoint():
            chosen = {tier: _choice(tiers.inner(tier)) for tier in tiers.values}
            chain = [_choice(row) for row in about.rows("model_chain")]
            house.company = change_models(actor=house.owner, company=house.company, tiers=chosen, chain=chain)
    except Refusal as refusal:
        house.remarks.append(f"What its tiers mean and who answers in turn was not taken over. {refusal}")


def _choice(row: Row) -> ModelChoice:
    return ModelChoice(row.text("provider"), row.text("model"))
