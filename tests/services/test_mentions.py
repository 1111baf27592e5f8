"""What naming somebody does: it wakes an agent, tells a person, and is never guessed."""

from __future__ import annotations

import pytest

from agents.models import Agent, Wakeup, WakeupSource, WakeupState
from agents.services.agents import pause_agent, resume_agent, terminate_agent
from issues.actors import Person
from issues.models import Company, InboxItem, InboxKind, Issue, Status
from issues.services.comments import edit_comment, preview_wakes, write_comment
from issues.services.companies import remove_member
from issues.services.issues import edit_issue, set_status
from tests import build

pytestmark = pytest.mark.django_db


def sources(agent: Agent) -> list[str]:
    return [wakeup.source for wakeup in build.pending(agent)]


@pytest.mark.parametrize("word", ["@ada", "@Ada", "@ADA", "Ask @ada, she knows.", "(@ada)", "@ada: look", "@ada?"])
def test_a_comment_that_names_an_agent_wakes_it(word: str, ada: Agent, issue: Issue) -> None:
    comment = build.comment(issue, word)
    [wakeup] = build.pending(ada, issue)
    assert (wakeup.source, wakeup.comment) == (WakeupSource.MENTION, comment)


@pytest.mark.parametrize(
    "text",
    [
        "ada",
        "mail ada@ada.example",
        "`@ada`",
        "```\n@ada\n```",
        "~~~\n@ada\n~~~",
        "    @ada",
        "> @ada said so",
        "https://example.org/@ada",
        "[a link](https://example.org/@ada)",
        "\\@ada",
        "<!-- @ada -->",
        '<a title="@ada">x</a>',
        "@adam",
        "@ada-lovelace",
        "@nobody",
    ],
)
def test_what_is_no_mention_wakes_nobody(text: str, ada: Agent, issue: Issue) -> None:
    build.comment(issue, text)
    assert not Wakeup.objects.exists()


def test_a_name_of_several_words_counts_and_a_handle_beats_a_name(company: Company, issue: Issue) -> None:
    grace = build.agent(company, "Grace Hopper", handle="grace")
    other = build.agent(company, "grace", handle="other")
    build.comment(issue, "@Grace Hopper, and @grace.")
    assert sources(grace) == [WakeupSource.MENTION]
    assert sources(other) == []


def test_a_name_that_two_share_names_nobody_and_is_shown_as_such(company: Company, issue: Issue) -> None:
    build.agent(company, "Ada Byron", handle="ada1")
    build.agent(company, "Ada Byron", handle="ada2")
    preview = preview_wakes(issue=issue, body="@Ada Byron and @nobody")
    assert (preview.unknown, preview.ambiguous) == (("nobody",), ("Ada Byron",))
    build.comment(issue, "@Ada Byron and @nobody")
    assert not Wakeup.objects.exists()


def test_a_person_who_is_named_is_told(company: Company, owner: Person, issue: Issue) -> None:
    boss = build.member(company, "boss")
    comment = build.comment(issue, "@boss, please look. @boss!")
    item = InboxItem.objects.get()
    assert (item.member, item.kind, item.comment) == (boss.member, InboxKind.MENTION, comment)


def test_nobody_mentions_themselves(owner: Person, ada: Agent, issue: Issue) -> None:
    build.comment(issue, f"Note to @{owner.member.handle}.", actor=owner)
    build.comment(issue, "I am @ada.", actor=build.at_work(ada, issue))
    assert not InboxItem.objects.filter(kind=InboxKind.MENTION).exists()
    assert not Wakeup.objects.filter(source=WakeupSource.MENTION).exists()


def test_somebody_who_has_left_is_not_named(company: Company, owner: Person, ada: Agent, issue: Issue) -> None:
    remove_member(actor=owner, member=build.member_row(build.member(company, "boss")))
    terminate_agent(actor=owner, agent=ada)
    assert preview_wakes(issue=issue, body="@boss @ada").unknown == ("boss", "ada")
    build.comment(issue, "@boss @ada")
    assert not InboxItem.objects.exists()
    assert not Wakeup.objects.exists()


def test_a_paused_agent_is_not_woken_and_the_row_says_why(owner: Person, ada: Agent, issue: Issue) -> None:
    pause_agent(actor=owner, agent=ada)
    build.comment(issue, "@ada")
    refused = Wakeup.objects.get()
    assert (refused.state, refused.ended_because) == (WakeupState.REFUSED, "@ada is paused.")
    resume_agent(actor=owner, agent=ada)
    assert build.pending(ada) == []


class TestOnClosedIssues:
    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_a_persons_mention_wakes(self, status: Status, company: Company, ada: Agent) -> None:
        build.comment(build.issue(company, status=status), "@ada")
        assert sources(ada) == [WakeupSource.MENTION]

    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_an_agents_mention_does_not(self, status: Status, company: Company, ada: Agent, bob: Agent) -> None:
        closed = build.issue(company, status=status)
        build.comment(closed, "@ada", actor=build.at_work(bob, build.issue(company, assignee=bob)))
        assert sources(ada) == []
        assert Wakeup.objects.get(agent=ada).ended_because == "The issue is closed."

    def test_a_reply_that_mentions_and_then_closes_wakes(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=bob)
        worker = build.at_work(bob, issue)
        build.comment(issue, "Over to @ada.", actor=worker)
        set_status(actor=worker, issue=issue, status=Status.DONE)
        assert sources(ada) == [WakeupSource.MENTION]


class TestDescriptions:
    def test_the_description_of_a_new_issue_wakes_whom_it_names(self, company: Company, ada: Agent) -> None:
        build.issue(company, description="For @ada.")
        assert [(wakeup.source, wakeup.comment) for wakeup in build.pending(ada)] == [(WakeupSource.MENTION, None)]

    def test_a_changed_description_wakes_only_who_is_new_in_it(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = build.issue(company, description="For @ada.")
        Wakeup.objects.all().delete()
        edit_issue(actor=owner, issue=issue, description="For @ada and @bob.")
        assert (sources(ada), sources(bob)) == ([], [WakeupSource.MENTION])

    def test_a_changed_title_wakes_nobody(self, owner: Person, ada: Agent, issue: Issue) -> None:
        edit_issue(actor=owner, issue=issue, title="For @ada")
        assert sources(ada) == []


class TestComments:
    """A person's comment also wakes the assignee; an agent's wakes only whom it names."""

    def test_a_persons_comment_wakes_the_assignee(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        comment = build.comment(issue, "How is it going?")
        [wakeup] = build.pending(ada)
        assert (wakeup.source, wakeup.comment) == (WakeupSource.COMMENTED, comment)

    def test_naming_another_agent_wakes_that_one_instead(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        build.comment(issue, "@bob, please help.")
        assert (sources(ada), sources(bob)) == ([], [WakeupSource.MENTION])

    def test_naming_the_assignee_wakes_it_once(self, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        build.comment(issue, "@ada, go on.")
        assert sources(ada) == [WakeupSource.MENTION]

    def test_naming_a_person_still_wakes_the_assignee(self, company: Company, ada: Agent) -> None:
        build.member(company, "boss")
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        build.comment(issue, "@boss knows more.")
        assert sources(ada) == [WakeupSource.COMMENTED]

    def test_an_agents_comment_does_not(self, company: Company, ada: Agent, bob: Agent) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        build.comment(issue, "I looked.", actor=build.at_work(bob, build.issue(company)))
        assert sources(ada) == []

    @pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
    def test_on_a_closed_issue_it_does_not(self, status: Status, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        issue = set_status(actor=build.owner_of(company), issue=issue, status=status)
        build.comment(issue, "Thanks.")
        assert sources(ada) == []

    def test_a_company_can_turn_it_off(self) -> None:
        company, _ = build.company_with_founder(comments_wake_assignee=False)
        ada = build.agent(company)
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        build.comment(issue, "Hm.")
        build.comment(issue, "@ada, really.")
        assert sources(ada) == [WakeupSource.MENTION]

    def test_the_author_can_leave_out_whom_they_name_and_the_assignee(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
        write_comment(actor=owner, issue=issue, body="As @bob said.", without=["bob"])
        write_comment(actor=owner, issue=issue, body="Just noting.", without=["ada"])
        assert sources(ada) == sources(bob) == []

    def test_editing_wakes_nobody(self, owner: Person, ada: Agent, issue: Issue) -> None:
        edit_comment(actor=owner, comment=build.comment(issue, "Hm."), body="@ada!")
        assert sources(ada) == []

    def test_two_comments_are_two_wakeups(self, ada: Agent, issue: Issue) -> None:
        build.comment(issue, "@ada, this")
        build.comment(issue, "@ada, and that")
        assert sources(ada) == [WakeupSource.MENTION] * 2


@pytest.mark.parametrize(
    ("body", "mentioned", "assignee"),
    [
        ("Hm.", [], "ada"),
        ("", [], None),
        ("@bob", ["bob"], None),
        ("@ada", ["ada"], None),
        ("@ada @bob", ["ada", "bob"], None),
        ("@paula", [], None),
    ],
)
def test_the_preview_says_what_posting_does(
    body: str, mentioned: list[str], assignee: str | None, company: Company, owner: Person, ada: Agent, bob: Agent
) -> None:
    pause_agent(actor=owner, agent=build.agent(company, "Paula"))
    issue = build.issue(company, assignee=ada, status=Status.BACKLOG)
    preview = preview_wakes(issue=issue, body=body)
    assert sorted(agent.handle for agent in preview.mentioned) == mentioned
    assert (preview.assignee.handle if preview.assignee else None) == assignee
    assert not Wakeup.objects.exists()
    if body:
        build.comment(issue, body)
        woken = {wakeup.agent.handle for wakeup in Wakeup.objects.filter(state=WakeupState.PENDING)}
        assert woken == {*mentioned, *([assignee] if assignee else [])}
