"""One of everything that the board's addresses can name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, reverse

import agents.urls
import issues.urls
from agents.services.agents import worker_for
from agents.services.notebook import remember, write_note
from agents.services.runs import cancel_run
from issues.actors import Person
from issues.models import Company, InboxItem
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.keys import create_agent_key
from issues.services.webhooks import add_webhook
from tests import build

CANARY = "canary-7f3a"


@dataclass(frozen=True)
class Everything:
    company: Company
    parts: dict[str, Any]

    def address(self, name: str, wanted: frozenset[str], *, slug: str | None = None) -> str:
        """The address of that name; `slug` puts another company in its place."""
        parts = {part: self.parts[part] for part in wanted} | {"company": slug or self.company.slug}
        return reverse(name, kwargs=parts)


def one_of_everything(company: Company, founder: Person, word: str = CANARY) -> Everything:
    """Each thing holds a word, by default one that nobody outside of the company may see, wherever words are free."""
    agent = build.agent(company, f"Agent {word}", handle="hers", adapter="external", instructions=word)
    issue = build.issue(company, word, description=word, assignee=agent)
    comment = build.comment(issue, word)
    worker = build.at_work(agent, issue)
    approval = build.approval(issue, word, actor=worker)
    file = write_file(actor=worker, issue=issue, path="notes.md", text=word).file
    finding = record_finding(actor=worker, issue=issue, title=word, body=word)
    note = write_note(actor=worker, issue=issue, key=word, text=word)
    observation = remember(actor=worker, issue=issue, text=word)
    assert worker.run is not None
    cancel_run(actor=founder, run=worker.run)
    attachment = attach_file(actor=founder, issue=issue, name=f"{CANARY}.txt", content=b"text")
    item = InboxItem.objects.filter(company=company).first()
    assert item is not None
    assert worker_for(agent).agent == agent
    parts = {
        "identifier": issue.identifier,
        "comment": comment.pk,
        "approval": approval.pk,
        "file": file.pk,
        "finding": finding.pk,
        "note": note.pk,
        "observation": observation.pk,
        "attachment": attachment.pk,
        "name": attachment.name,
        "item": item.pk,
        "run": worker.run.pk,
        "handle": agent.handle,
        "project": build.project(company, word, description=word).pk,
        "label": build.label(company, word).pk,
        "skill": build.skill(company, word, word).pk,
        "member": build.member_row(build.member(company, handle=CANARY)).pk,
        "key": create_agent_key(actor=founder, agent=agent, name=word)[0].pk,
        "provider": build.provider(company, CANARY, model=CANARY).name,
        "hook": build.hook(company, word)[0].pk,
        "webhook": add_webhook(actor=founder, company=company, url=f"http://hooks.test/{word}", kinds=["run"])[0].pk,
        "view": build.saved_view(company, word, shared=True).pk,
        "routine": build.routine(company, agent, title=word).pk,
    }
    return Everything(company, parts)


def addresses() -> Iterator[tuple[str, frozenset[str]]]:
    """Name and parts of every address below a company, from the addresses themselves."""
    for module in (issues.urls, agents.urls):
        yield from _walk(module.urlpatterns, frozenset())


def _walk(patterns: Any, parts: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for pattern in patterns:
        here = parts | frozenset(pattern.pattern.converters)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, here)
        elif isinstance(pattern, URLPattern) and "company" in here:
            assert pattern.name
            yield pattern.name, here - {"company"}
