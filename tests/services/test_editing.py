"""What an issue says and how it is sorted: editing, labels, projects, and stale writes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agents.models import Agent
from issues.actors import Person
from issues.models import Activity, Company, Issue, Label, Priority, Status
from issues.refusals import Conflict, Forbidden, Invalid, NotFound, Stale, TooLarge
from issues.services.changes import change_issue
from issues.services.issues import create_issue, edit_issue, set_priority, set_status
from issues.services.projects import (
    add_labels,
    create_label,
    create_project,
    delete_label,
    edit_project,
    remove_labels,
)
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db


class TestTexts:
    @pytest.mark.parametrize("title", ["", " ", "\n", "x" * 301, "a\x00b", "\ud800"])
    def test_a_title_is_one_line_of_up_to_300_characters(self, title: str, company: Company, owner: Person) -> None:
        with pytest.raises(Invalid):
            create_issue(actor=owner, company=company, title=title)
        with pytest.raises(Invalid):
            edit_issue(actor=owner, issue=build.issue(company), title=title)

    def test_white_space_in_a_title_becomes_single_spaces(self, company: Company, owner: Person) -> None:
        issue = create_issue(actor=owner, company=company, title="  A\n long\t\u2028title ")
        assert issue.title == "A long title"
        assert create_issue(actor=owner, company=company, title="語" * 300).title == "語" * 300

    def test_a_description_has_64_kb(self, company: Company, owner: Person) -> None:
        assert (
            len(create_issue(actor=owner, company=company, title="A", description="x" * 64_000).description) == 64_000
        )
        with pytest.raises(TooLarge):
            create_issue(actor=owner, company=company, title="A", description="x" * 64_001)


class TestVersions:
    def test_a_write_over_what_changed_meanwhile_is_refused(self, owner: Person, issue: Issue) -> None:
        edit_issue(actor=owner, issue=issue, title="Newer", if_version=issue.version)
        for change in (partial(edit_issue, title="Older"), partial(change_issue, priority=Priority.LOW)):
            with pytest.raises(Stale):
                change(actor=owner, issue=issue, if_version=issue.version)
        assert Issue.objects.get(pk=issue.pk).title == "Newer"

    def test_every_change_is_a_version_and_no_change_is_none(self, owner: Person, issue: Issue) -> None:
        steps: list[tuple[partial[Issue], int]] = [
            (partial(edit_issue, title="Newer"), 1),
            (partial(edit_issue, title="Newer"), 0),
            (partial(set_priority, priority=Priority.HIGH), 1),
            (partial(set_priority, priority=Priority.HIGH), 0),
            (partial(set_status, status=Status.DONE), 1),
            (partial(set_status, status=Status.DONE), 0),
        ]
        for step, change in steps:
            before = Issue.objects.get(pk=issue.pk).version
            assert step(actor=owner, issue=issue).version == before + change

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("_", range(3))
    def test_of_two_writes_on_one_version_one_is_stale_and_without_none_is_lost(
        self, _: int, owner: Person, issue: Issue
    ) -> None:
        edit = partial(edit_issue, actor=owner, issue=issue)
        outcomes = at_once([partial(edit, title=title, if_version=1) for title in ("One", "Two")])
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Issue", "Stale"]
        raise_priority = partial(set_priority, actor=owner, issue=issue, priority=Priority.URGENT)
        at_once([partial(edit, description="Changed."), raise_priority])
        issue.refresh_from_db()
        assert (issue.description, issue.priority, issue.version) == ("Changed.", Priority.URGENT, 4)


class TestEditing:
    def test_the_line_names_the_fields_that_changed(self, owner: Person, issue: Issue) -> None:
        edit_issue(actor=owner, issue=issue, title=issue.title, description="More.", due_date=None)
        assert Activity.objects.get(kind="issue.edited").data == {"fields": ["description"]}

    def test_nothing_of_another_company_is_named(self, company: Company, owner: Person, issue: Issue) -> None:
        other, stranger = build.company_with_founder("OTHER")
        foreign: list[dict[str, Any]] = [
            {"project": build.project(other)},
            {"responsible": stranger.member},
        ]
        for names in foreign:
            with pytest.raises(Invalid, match="another company"):
                edit_issue(actor=owner, issue=issue, **names)
        foreign += [{"labels": [build.label(other)]}, {"parent": build.issue(other)}, {"assignee": build.agent(other)}]
        for names in foreign:
            with pytest.raises((Invalid, NotFound)):
                create_issue(actor=owner, company=company, title="New", **names)
        assert company.issues.count() == 1

    def test_several_changes_are_one_or_none(self, company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
        label = build.label(company)
        changed = change_issue(
            actor=owner, issue=issue, title="Newer", labels=[label], priority=Priority.HIGH, assignee=ada
        )
        assert (changed.title, changed.priority, changed.assignee_agent) == ("Newer", Priority.HIGH, ada)
        foreign = build.agent(build.company_with_founder("OTHER")[0])
        with pytest.raises(Invalid):
            change_issue(actor=owner, issue=issue, title="Newest", labels=[], assignee=foreign)
        issue.refresh_from_db()
        assert (issue.title, list(issue.labels.all())) == ("Newer", [label])


class TestLabels:
    def test_adding_and_removing_name_what_changed(self, company: Company, owner: Person, issue: Issue) -> None:
        bug, urgent = build.label(company, "bug"), build.label(company, "urgent")
        add_labels(actor=owner, issue=issue, labels=[bug, bug])
        add_labels(actor=owner, issue=issue, labels=[bug, urgent])
        remove_labels(actor=owner, issue=issue, labels=[bug])
        remove_labels(actor=owner, issue=issue, labels=[bug])
        assert [line.data for line in Activity.objects.filter(kind="issue.labels").order_by("pk")] == [
            {"added": ["bug"], "removed": []},
            {"added": ["urgent"], "removed": []},
            {"added": [], "removed": ["bug"]},
        ]

    def test_a_label_of_another_company_is_refused(self, owner: Person, issue: Issue) -> None:
        foreign = build.label(build.company_with_founder("OTHER")[0])
        with pytest.raises(Invalid, match="another company"):
            add_labels(actor=owner, issue=issue, labels=[foreign])

    def test_a_name_is_taken_once_and_holds_no_comma(self, company: Company, owner: Person) -> None:
        build.label(company, "bug")
        with pytest.raises(Conflict, match="already"):
            create_label(actor=owner, company=company, name="Bug")
        with pytest.raises(Invalid, match="comma"):
            create_label(actor=owner, company=company, name="a, b")
        for colour in ("red", "#12", "#12345g", "#1234567", "url(x)"):
            with pytest.raises(Invalid, match="colour"):
                create_label(actor=owner, company=company, name="new", colour=colour)

    def test_agents_make_labels_only_where_the_company_lets_them(self, company: Company, ada: Agent) -> None:
        worker = build.at_work(ada, build.issue(company))
        with pytest.raises(Forbidden, match="may not make labels"):
            create_label(actor=worker, company=company, name="new")
        permissive, _ = build.company_with_founder("OPEN", agents_may_create_labels=True)
        with pytest.raises(NotFound):
            create_label(actor=worker, company=permissive, name="new")
        carl = build.agent(permissive, "Carl")
        at_work = build.at_work(carl, build.issue(permissive))
        assert create_label(actor=at_work, company=permissive, name="new").name == "new"

    def test_a_deleted_label_is_gone_from_its_issues(self, company: Company, owner: Person, issue: Issue) -> None:
        label = build.label(company)
        add_labels(actor=owner, issue=issue, labels=[label])
        delete_label(actor=owner, label=label)
        assert (issue.labels.count(), Label.objects.count()) == (0, 0)

    @pytest.mark.django_db(transaction=True)
    def test_one_name_at_once_is_made_once(self, company: Company, owner: Person) -> None:
        make = partial(create_label, actor=owner, company=company)
        outcomes = at_once([partial(make, name=name) for name in ("bug", "Bug", "BUG")])
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Conflict", "Label"]


def test_a_project_has_a_name_of_its_own(company: Company, owner: Person) -> None:
    build.project(company, "Moon")
    mars = build.project(company, "Mars")
    with pytest.raises(Conflict, match="already"):
        create_project(actor=owner, company=company, name="moon")
    with pytest.raises(Conflict, match="already"):
        edit_project(actor=owner, project=mars, name="MOON")
    assert build.project(build.company_with_founder("OTHER")[0], "Moon").name == "Moon"
