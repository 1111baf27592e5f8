"""Projects, labels, findings, skills and routines: the pages that a company's work is arranged on."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from agents.models import Agent, Routine, Skill
from agents.services.skills import use_skill
from agents.services.wakeups import wake_on_schedule
from issues.actors import Person
from issues.models import Company, Issue, Label, Priority, Project, Role, Status
from issues.services.findings import record_finding
from issues.services.projects import add_labels, archive_project
from tests import build
from tests.web.test_pages import text_of

Browse = Callable[[Person], Client]
PAGES = ("projects/", "labels/", "findings/", "skills/", "routines/")


def test_empty_pages_say_what_they_are_for_and_offer_the_first(page: Client, company: Company) -> None:
    for address, words in zip(PAGES, ("project", "label", "finding", "skill", "routine"), strict=True):
        said = text_of(page.get(f"/acme/{address}").content)
        assert f"No {words}s yet" in said
        assert f"A {words}" in said or "something worth keeping" in said


def test_a_viewer_reads_them_without_a_button_that_changes_something(
    company: Company, founder: Person, browse: Browse, ada: Agent
) -> None:
    project, skill = build.project(company), build.skill(company)
    routine = build.routine(company, ada)
    build.label(company)
    client = browse(build.member(company, role=Role.VIEWER))
    for address in (*PAGES, f"projects/{project.pk}/", f"skills/{skill.pk}/", f"routines/{routine.pk}/"):
        body = client.get(f"/acme/{address}").content.decode()
        main = body.split('class="page')[1].split('<div class="connection"')[0]
        assert "csrfmiddlewaretoken" not in main, address
        assert "/edit/" not in main, address


def test_a_project_is_made_changed_archived_and_brought_back(page: Client, company: Company) -> None:
    page.post("/acme/projects/new/", {"name": "Spring guides", "description": "Six *guides*.", "rules": "Two pages."})
    project = Project.objects.get()
    shown = page.get(f"/acme/projects/{project.pk}/").content.decode()
    assert "Six <em>guides</em>." in shown
    assert "Two pages." in shown
    page.post(f"/acme/projects/{project.pk}/edit/", {"name": "Summer guides", "description": "", "rules": ""})
    page.post(f"/acme/projects/{project.pk}/archive/")
    project.refresh_from_db()
    assert project.name == "Summer guides"
    assert project.archived_at is not None
    page.post(f"/acme/projects/{project.pk}/restore/")
    project.refresh_from_db()
    assert project.archived_at is None


def test_a_project_shows_its_issues_and_how_far_they_are(page: Client, company: Company) -> None:
    project = build.project(company)
    build.issue(company, "Open one", project=project)
    build.issue(company, "Closed one", project=project, status=Status.DONE)
    build.issue(company, "Elsewhere")
    for address in ("projects/", f"projects/{project.pk}/"):
        assert "1 of 2 closed" in text_of(page.get(f"/acme/{address}").content)
    said = text_of(page.get(f"/acme/projects/{project.pk}/").content)
    assert "Open one" in said
    assert "Elsewhere" not in said
    rows = page.get(f"/acme/projects/{project.pk}/", headers={"HX-Request": "true"}).content
    assert b"<html" not in rows
    assert b"Open one" in rows


def test_a_form_with_a_taken_name_comes_back_as_it_was_sent(page: Client, company: Company) -> None:
    build.project(company, "Launch")
    build.skill(company, "House style")
    for address, sent in (
        ("projects/new/", {"name": "launch", "description": "Long words"}),
        ("skills/new/", {"name": "house style", "body": "Long words"}),
    ):
        answer = page.post(f"/acme/{address}", sent)
        assert answer.status_code == 409
        assert b"already" in answer.content
        assert b"Long words" in answer.content


def test_a_label_is_made_renamed_recoloured_and_deleted(page: Client, company: Company, founder: Person) -> None:
    page.post("/acme/labels/", {"name": "bug", "colour": "#CF222E"})
    label = Label.objects.get()
    assert label.colour == "#cf222e"
    add_labels(actor=founder, issue=build.issue(company), labels=[label])
    page.post(f"/acme/labels/{label.pk}/edit/", {"name": "flaw", "colour": "#2f6fdb"})
    label.refresh_from_db()
    assert (label.name, label.colour) == ("flaw", "#2f6fdb")
    assert "1 issue" in text_of(page.get("/acme/labels/").content)
    assert "1 issue loses it" in text_of(page.get(f"/acme/labels/{label.pk}/delete/").content)
    page.post(f"/acme/labels/{label.pk}/delete/")
    assert not Label.objects.exists()


def test_a_label_in_a_colour_that_is_none_is_refused_in_place(page: Client, company: Company) -> None:
    answer = page.post("/acme/labels/", {"name": "bug", "colour": "red"})
    assert answer.status_code == 422
    assert 'value="bug"' in answer.content.decode()


def test_findings_are_found_by_all_the_words(page: Client, company: Company) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, "Leak", assignee=agent)
    worker = build.at_work(agent, issue)
    record_finding(actor=worker, issue=issue, title="The cache", body="It grows by night.")
    record_finding(actor=worker, issue=issue, title="The pool", body="It is too small.")
    said = text_of(page.get("/acme/findings/", {"text": "night cache"}).content)
    assert "The cache" in said
    assert "The pool" not in said
    assert "Nothing fits" in text_of(page.get("/acme/findings/", {"text": "zebra"}).content)
    assert "The pool" in text_of(page.get("/acme/findings/", {"agent": str(agent.pk)}).content)


def test_a_skill_is_written_for_some_agents_changed_and_switched_off(
    page: Client, company: Company, ada: Agent
) -> None:
    page.post("/acme/skills/new/", {"name": "House style", "body": "Short *sentences*.", "agents": [ada.pk]})
    skill = Skill.objects.get()
    assert list(skill.agents.all()) == [ada]
    shown = page.get(f"/acme/skills/{skill.pk}/").content.decode()
    assert "Short <em>sentences</em>." in shown
    assert "Ada" in shown
    page.post(f"/acme/skills/{skill.pk}/edit/", {"name": "Style", "description": "How we write", "body": "Short."})
    page.post(f"/acme/skills/{skill.pk}/switch/", {})
    skill.refresh_from_db()
    assert (skill.name, skill.description, skill.body, skill.enabled) == ("Style", "How we write", "Short.", False)
    assert not skill.agents.exists()
    page.post(f"/acme/skills/{skill.pk}/switch/", {"enabled": "1"})
    skill.refresh_from_db()
    assert skill.enabled


def test_a_skill_says_where_it_was_used_lately(page: Client, company: Company) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, assignee=agent)
    skill, other = build.skill(company, "House style"), build.skill(company, "Other")
    worker = build.at_work(agent, issue)
    use_skill(actor=worker, issue=issue, skill=skill)
    assert worker.run is not None
    said = text_of(page.get(f"/acme/skills/{skill.pk}/").content)
    assert f"Cleo on {issue.identifier} , run {worker.run.pk}" in said
    assert "No agent has applied it yet" in text_of(page.get(f"/acme/skills/{other.pk}/").content)
    assert "used 1 time" in text_of(page.get("/acme/skills/").content)


ROUTINE = {
    "name": "Digest",
    "cron": "0 9 * * 1",
    "time_zone": "Europe/Berlin",
    "title": "Weekly digest",
    "body": "Sum up.",
    "priority": "high",
}


def test_a_routine_is_made_changed_and_switched(page: Client, company: Company, ada: Agent) -> None:
    page.post("/acme/routines/new/", {**ROUTINE, "assignee": ada.pk})
    routine = Routine.objects.get()
    assert (routine.time_zone, routine.priority, routine.assignee) == ("Europe/Berlin", Priority.HIGH, ada)
    page.post(f"/acme/routines/{routine.pk}/edit/", {**ROUTINE, "assignee": ada.pk, "cron": "30 8 * * *"})
    before = routine.next_fire_at
    routine.refresh_from_db()
    assert routine.cron == "30 8 * * *"
    assert routine.next_fire_at != before
    page.post(f"/acme/routines/{routine.pk}/switch/", {})
    routine.refresh_from_db()
    assert not routine.enabled
    assert "It is off" in text_of(page.get(f"/acme/routines/{routine.pk}/").content)


def test_a_routine_with_a_schedule_that_is_none_comes_back_as_it_was_sent(
    page: Client, company: Company, ada: Agent
) -> None:
    answer = page.post("/acme/routines/new/", {**ROUTINE, "assignee": ada.pk, "cron": "every day"})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert "is no schedule" in body
    assert 'value="every day"' in body
    assert "<option selected>Europe/Berlin</option>" in body


def test_next_times_are_those_of_the_companys_zone(page: Client, ada: Agent, company: Company, founder: Person) -> None:
    from issues.services.companies import change_company

    change_company(actor=founder, company=company, time_zone="Asia/Tokyo")
    routine = build.routine(company, ada, cron="0 0 * * *", time_zone="UTC")
    said = text_of(page.get(f"/acme/routines/{routine.pk}/").content)
    assert len(re.findall(r"\d{4}, 09:00", said)) == 3


def test_fire_now_opens_the_issue_at_once_and_stands_in_the_history(page: Client, company: Company, ada: Agent) -> None:
    routine = build.routine(company, ada, title="Look at the mail")
    due = routine.next_fire_at
    for _ in range(2):  # also while the first is open: a person asked
        page.post(f"/acme/routines/{routine.pk}/fire/")
    routine.refresh_from_db()
    assert routine.next_fire_at == due
    assert Issue.objects.filter(title="Look at the mail", assignee_agent=ada).count() == 2
    assert text_of(page.get(f"/acme/routines/{routine.pk}/").content).count("Look at the mail todo") == 2


def test_a_time_that_was_skipped_says_why(page: Client, company: Company, ada: Agent) -> None:
    from agents.services.routines import fire_routine, fire_routine_now

    routine = build.routine(company, ada)
    fire_routine_now(actor=build.owner_of(company), routine=routine)
    assert routine.next_fire_at is not None
    fire_routine(routine=routine, now=routine.next_fire_at)
    assert "is still open" in text_of(page.get(f"/acme/routines/{routine.pk}/").content)


def test_an_archived_project_is_not_offered_to_a_routine(
    page: Client, company: Company, ada: Agent, founder: Person
) -> None:
    archive_project(actor=founder, project=build.project(company, "Old things"))
    assert "Old things" not in page.get("/acme/routines/new/").content.decode()


def test_an_agents_page_tells_how_often_it_looked_for_work_in_vain(company: Company, page: Client) -> None:
    agent = build.agent(company, "Iris", schedule_minutes=5)
    address = reverse("agent", args=[company.slug, agent.handle])
    assert "Found no work" not in page.get(address).content.decode()
    for _ in range(2):
        wake_on_schedule(agent=agent)
    body = page.get(address).content.decode()
    assert "Found no work" in body
    assert "2 times, last" in body
