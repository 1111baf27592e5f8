"""Finding issues: by number and words, ranked, kept true by the database, and never another company's."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from issues.actors import Person
from issues.models import Company, Issue
from issues.search import Place, find_hits, matching
from issues.search_index import count_missing, is_kept, rebuild_index
from issues.services.changes import change_issue
from issues.services.comments import delete_comment, edit_comment
from issues.services.issues import delete_issue
from tests import build

pytestmark = pytest.mark.django_db


def found(company: Company, text: str) -> set[int]:
    """Numbers of the issues that a list filtered by the text holds, which are those that a search finds."""
    numbers = set(matching(company.issues.all(), company, text).values_list("number", flat=True))
    assert {hit.issue.number for hit in find_hits(company, text)} == numbers
    return numbers


def test_an_issue_is_found_by_its_number_however_it_is_written(company: Company) -> None:
    for number in range(13):
        build.issue(company, f"Piece {'abcdefghijklm'[number]}")
    for text in ("12", "#12", "ACME-12", "acme-12"):
        assert found(company, text) == {12}


def test_all_words_have_to_stand_in_one_text_of_the_issue(company: Company) -> None:
    issue = build.issue(company, "Cold cache", description="after each deploy")
    build.comment(issue, "The parser is to blame")
    assert found(company, "cache deploy") == {issue.number}
    assert found(company, "blame parser") == {issue.number}
    assert found(company, "cache parser") == set()


def test_the_beginning_of_a_word_is_enough_and_its_middle_is_not(company: Company) -> None:
    issue = build.issue(company, "Deployment")
    assert found(company, "deplo") == {issue.number}
    assert found(company, "ployment") == set()


def test_case_and_accents_make_no_difference(company: Company) -> None:
    issue = build.issue(company, "Café in ÅRHUS")
    assert found(company, "CAFE årh") == {issue.number}


def test_parts_of_paths_and_addresses_are_words(company: Company) -> None:
    issue = build.issue(
        company, "Mend engine/text/parser.py", description="seen by ada@example.org, https://a.example/b-c"
    )
    for text in ("parser", "engine/text", "parser.py", "example.org", "b-c", "https://a.example"):
        assert found(company, text) == {issue.number}
    assert found(company, "text/engine") == set()


@pytest.mark.parametrize("text", ["登录", "登录 失败", "修复登录问题", "ログ", "ลูกค้า"])
def test_scripts_without_spaces_are_found_anywhere(company: Company, text: str) -> None:
    issue = build.issue(company, "修复登录问题 失败")
    build.comment(build.issue(company, "Other"), "ログインできない, ติดต่อลูกค้าแล้ว")
    build.issue(company, "Third")
    assert found(company, text) == ({issue.number} if text[0] in "登修" else {2})


ODD = (
    "", " ", '"', "'", "*", "?", "%", "_", "\\", "\u0301", "🙂", "a\x00b", "ﬁ", "٣", "cold🙂",
    '"cold', 'cold""', "cold*", "^cold", "-cold", "title:cold", "{title}:", "(cold", "cold)", "NEAR(cold cache)",
    "AND", "cold OR", "NOT cold", "cold & !", "cold | cache", "<->", "cold:*", "' OR 1=1 --",
    "cold " * 2_500, "x" * 10_240, '"' * 10_240,
)  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_no_sign_breaks_a_search(company: Company, text: str) -> None:
    build.issue(company, "Warm")
    assert 1 not in found(company, text)


def test_quotes_and_operators_are_but_signs_between_words(company: Company) -> None:
    issue = build.issue(company, 'Say "cold" & not (warm)')
    for text in ('"cold"', "(warm)", "cold*", "not", "'cold'", "a\x00"):
        assert found(company, text) == ({issue.number} if text[0] != "a" else set())


def test_the_index_follows_every_change_in_its_transaction(company: Company, owner: Person) -> None:
    issue = build.issue(company, "Before", description="earlier")
    comment = build.comment(issue, "Said first", actor=owner)
    with transaction.atomic():
        change_issue(actor=owner, issue=issue, title="Never")
        assert found(company, "never") == {issue.number}
        transaction.set_rollback(True)
    assert found(company, "never") == set()
    change_issue(actor=owner, issue=issue, title="After", description="later")
    edit_comment(actor=owner, comment=comment, body="Said second")
    assert [found(company, text) for text in ("before", "earlier", "first")] == [set()] * 3
    assert [found(company, text) for text in ("after", "later", "second")] == [{issue.number}] * 3
    delete_comment(actor=owner, comment=comment)
    assert found(company, "second") == found(company, "deleted") == set()
    delete_issue(actor=owner, issue=issue)
    assert found(company, "after") == set()
    assert count_missing(connection) == 0


def test_what_is_written_past_the_services_is_found_too(company: Company) -> None:
    issue = build.issue(company, "One")
    Issue.objects.filter(pk=issue.pk).update(title="Turbine")
    assert found(company, "turbine") == {issue.number}
    issue.refresh_from_db()
    Issue.objects.bulk_update([Issue(pk=issue.pk, title="Gearbox")], ["title"])
    assert found(company, "turbine") == set()
    assert found(company, "gearbox") == {issue.number}


def test_another_companys_texts_are_never_found(company: Company) -> None:
    other, _ = build.company_with_founder("OTHER")
    theirs = build.issue(other, "Turbine")
    build.comment(theirs, "Gearbox")
    for text in ("turbine", "gearbox", "OTHER-1"):
        assert find_hits(company, text) == []
        assert not matching(company.issues.all(), company, text).exists()


def test_the_best_come_first(company: Company) -> None:
    said = build.issue(company, "Another")
    build.comment(said, "the cold cache again")
    build.issue(company, "Described", description="cold cache")
    build.issue(company, "Cache that is cold")
    build.issue(company, "The cold cache")
    build.issue(company, "cold cache later")
    hits = find_hits(company, "cold cache")
    assert [(hit.issue.number, hit.place) for hit in hits] == [
        (5, Place.PHRASE), (4, Place.PHRASE), (3, Place.TITLE), (2, Place.DESCRIPTION), (1, Place.COMMENT)
    ]  # fmt: skip
    assert [hit.comment for hit in hits] == [None, None, None, None, said.comments.get().pk]
    build.issue(company, "5 days")
    assert [hit.issue.number for hit in find_hits(company, "5")] == [5, 6]


def test_of_many_comments_that_fit_the_newest_is_shown(company: Company) -> None:
    issue = build.issue(company, "Another")
    build.comment(issue, "turbine")
    last = build.comment(issue, "turbine")
    assert [hit.comment for hit in find_hits(company, "turbine")] == [last.pk]


def test_a_list_filtered_by_a_word_that_stands_everywhere_holds_the_newest(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("issues.search.FILTERED", 2)
    for _ in range(4):
        build.issue(company, "Turbine")
    build.comment(company.issues.get(number=1), "turbine")
    assert set(matching(company.issues.all(), company, "turbine").values_list("number", flat=True)) == {1, 3, 4}


def test_an_index_that_lost_what_keeps_it_is_mended_by_the_next_migration(company: Company) -> None:
    """As when SQLite makes a table anew."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER issues_issue_words_in")
        else:
            cursor.execute("DROP INDEX issues_issue_words")
    issue = build.issue(company, "Turbine")
    connection.check_constraints()  # PostgreSQL makes no index while foreign keys are left to check
    assert not is_kept(connection)
    call_command("migrate", verbosity=0)
    assert is_kept(connection)
    assert found(company, "turbine") == {issue.number}


def test_a_rebuilt_index_finds_what_the_old_one_did(company: Company) -> None:
    issue = build.issue(company, "Turbine")
    build.comment(issue, "Gearbox")
    connection.check_constraints()
    rebuild_index(connection)
    for text in ("turbine", "gearbox"):
        assert found(company, text) == {issue.number}
