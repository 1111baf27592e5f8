"""Comments on the issue page: their history, and reactions to them."""

from __future__ import annotations

import re

from django.test import Client

from agents.models import Agent
from issues.actors import Person
from issues.models import Company, ReactionKind, Role
from issues.services.comments import delete_comment, edit_comment
from issues.services.reactions import react
from tests import build
from tests.web.test_access import Browse


def test_an_edited_comment_says_so_and_shows_what_it_said(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    comment = build.comment(issue, "First line.\nSame.")
    comment = edit_comment(actor=founder, comment=comment, body="Other line.\nSame.")
    address = f"/acme/issues/{issue.identifier}/comments/{comment.pk}/history/"
    assert f'href="{address}"' in page.get(f"/acme/issues/{issue.identifier}/").content.decode()
    body = page.get(address).content.decode()
    assert '<span class="removed">-First line.</span>' in body
    assert '<span class="added">+Other line.</span>' in body
    assert body.index("As it is") < body.index("As it was first")


def test_the_history_of_a_deleted_comment_holds_nothing(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    comment = edit_comment(actor=founder, comment=build.comment(issue, "A secret."), body="A secret, too.")
    delete_comment(actor=founder, comment=comment)
    body = page.get(f"/acme/issues/{issue.identifier}/comments/{comment.pk}/history/").content.decode()
    assert "is erased" in body
    assert "secret" not in body


def test_the_tick_under_an_edit_wakes(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company)
    comment = build.comment(issue, "Hm.")
    address = f"/acme/issues/{issue.identifier}/comments/{comment.pk}/"
    page.post(address, {"body": "@ada, look."})
    assert build.pending(ada) == []
    page.post(address, {"body": "@ada, look here.", "call": "1"})
    assert len(build.pending(ada)) == 1


def test_reactions_are_shown_with_who_gave_them_and_switched_by_a_click(
    page: Client, company: Company, founder: Person
) -> None:
    issue, boss = build.issue(company), build.member(company, "boss")
    comment = build.comment(issue)
    address = f"/acme/issues/{issue.identifier}/"
    react(actor=boss, comment=comment, kind=ReactionKind.THANKS)
    assert 'aria-pressed="false" title="Thanks: Boss"' in page.get(address).content.decode()
    page.post(f"{address}comments/{comment.pk}/reaction/", {"on": "thanks"})
    assert 'aria-pressed="true" title="Thanks: Boss, Acme-founder"' in page.get(address).content.decode()
    page.post(f"{address}comments/{comment.pk}/reaction/", {"off": "thanks"})
    assert 'aria-pressed="false" title="Thanks: Boss"' in page.get(address).content.decode()
    assert page.post(f"{address}comments/{comment.pk}/reaction/", {"on": "applause"}).status_code == 422


def test_a_viewer_sees_reactions_and_gives_none(company: Company, founder: Person, browse: Browse) -> None:
    issue = build.issue(company)
    comment = build.comment(issue)
    react(actor=founder, comment=comment, kind=ReactionKind.THANKS)
    viewer = browse(build.member(company, role=Role.VIEWER))
    body = viewer.get(f"/acme/issues/{issue.identifier}/").content.decode()
    assert re.search(r'<span class="chip" title="Thanks: Acme-founder">', body)
    assert "aria-pressed" not in body.split('id="main"')[1]


def test_reactions_to_older_comments_come_with_them(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    build.comment(issue, "The first, which is always shown.")
    old = build.comment(issue, "An old one.")
    react(actor=founder, comment=old, kind=ReactionKind.LOOKING)
    for number in range(60):
        build.comment(issue, f"Comment {number}")
    body = page.get(f"/acme/issues/{issue.identifier}/").content.decode()
    assert "Looking at it: " not in body
    older = re.search(r'hx-get="([^"]*older[^"]*)"', body)
    assert older
    assert 'title="Looking at it: Acme-founder"' in page.get(older[1].replace("&amp;", "&")).content.decode()
