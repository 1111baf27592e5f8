"""Finding issues by what somebody remembers of them: a number, or words of title, description or comments.

All words have to stand in one text: in title and description together, or in one comment. Each may be the beginning of
a longer word. Scripts that put no space between words (Chinese, Japanese, Thai ...) cannot be looked up by words: a
search with such signs reads the texts, and finds them anywhere in a word.

What is found is bounded by the newest that fit, so that a word that stands everywhere costs no more than a rare one.
"""

# ruff: noqa: S608 - statements are put together of names and placeholders alone

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.expressions import RawSQL

from issues.models import Comment, Company, Issue
from issues.search_index import COMMENT_WORDS, ISSUE_WORDS

MAX_WORDS = 8
"""Of a search; each further one would be one more pass over the texts."""
MAX_WORD = 64
"""Characters of a word."""
FILTERED = 5_000
"""The newest issues, and comments, that fit, when a list is filtered: more than a list would be read for."""
MOST_HITS = 50
"""The best of a search: who does not find it among them adds a word."""
LOOKED_AT = 200
"""The newest of each kind of place, when the best are wanted."""

_NUMBER = re.compile(r"(?:[A-Za-z][A-Za-z0-9]{1,9}-|#)?([0-9]{1,9})")
_LETTERS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai and Lao, Burmese, Khmer, Japanese, Chinese."""


class Place(IntEnum):
    """Where a search found its words: the best first."""

    NUMBER = 0
    PHRASE = 1
    TITLE = 2
    DESCRIPTION = 3
    COMMENT = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """An issue with the place where the words stand; the comment, if that is one."""

    issue: Issue
    place: Place
    comment: int | None


def read_words(text: str) -> list[str]:
    """The words that are looked for: what has a letter or digit, between spaces."""
    cleaned = text.replace("\x00", " ")
    return [word[:MAX_WORD] for word in cleaned.split() if _LETTERS.search(word[:MAX_WORD])][:MAX_WORDS]


def read_number(text: str) -> int | None:
    """The number that the text is: `12`, `#12` or `acme-12`."""
    number = _NUMBER.fullmatch(text.strip())
    return int(number[1]) if number is not None else None


def matching(issues: QuerySet[Issue], company: Company, text: str) -> QuerySet[Issue]:
    """Those of the company's issues with the number that `text` is, or with all its words in one of their texts. Asks
    the index at once: a page uses the answer many times."""
    words = read_words(text)
    if not words:
        return issues.none()
    number = read_number(text)
    if any(map(_UNSPACED.search, words)):
        return issues.filter(_reading(words) | Q(number=number))
    sql, values = _sources(company, words).everywhere
    with connection.cursor() as cursor:
        cursor.execute(
            f"{sql} UNION SELECT id FROM issues_issue WHERE company_id = %s AND number = %s",
            [*values, company.pk, number],
        )
        found = [pk for (pk,) in cursor.fetchall()]
    return issues.filter(pk__in=_as_rows(found))


def find_hits(company: Company, text: str, *, limit: int = MOST_HITS) -> list[Hit]:
    """The best issues of the company for a text: the one with that number, then by where the words stand, and in
    each place those that changed last. In at most five queries."""
    words = read_words(text)
    if not words:
        return []
    places: dict[int, tuple[Place, int | None]] = {}
    for place, pk, comment in _found(company, words):
        places.setdefault(pk, (place, comment))
    number = read_number(text)
    wanted = Q(pk__in=list(places))
    if number is not None:
        wanted |= Q(number=number)
    phrase = _comparable(" ".join(words))
    ranked = []
    for pk, its_number, title, updated_at in company.issues.filter(wanted).values_list(
        "pk", "number", "title", "updated_at"
    ):
        place, comment = places.get(pk, (Place.NUMBER, None))
        if its_number == number:
            place = Place.NUMBER
        elif place is Place.TITLE and phrase in _comparable(title):
            place = Place.PHRASE
        ranked.append(((place, -updated_at.timestamp(), -pk), pk, place, comment if place is Place.COMMENT else None))
    ranked.sort()
    issues = company.issues.defer("description").in_bulk([pk for _, pk, _, _ in ranked[:limit]])
    return [Hit(issues[pk], place, comment) for _, pk, place, comment in ranked[:limit] if pk in issues]


def _found(company: Company, words: list[str]) -> Iterable[tuple[Place, int, int | None]]:
    """Place, issue and comment of what holds the words, the better places first."""
    if any(map(_UNSPACED.search, words)):
        issues = company.issues.order_by("-pk")
        for place, fields in ((Place.TITLE, ("title",)), (Place.DESCRIPTION, ("title", "description"))):
            for pk in issues.filter(_holding(words, *fields)).values_list("pk", flat=True)[:LOOKED_AT]:
                yield place, pk, None
        comments = Comment.objects.filter(_holding(words, "body"), issue__company=company, deleted_at=None)
        for issue, pk in comments.order_by("-pk").values_list("issue", "pk")[:LOOKED_AT]:
            yield Place.COMMENT, issue, pk
        return
    sources = _sources(company, words)
    with connection.cursor() as cursor:
        for place, (sql, values) in (
            (Place.TITLE, sources.titles), (Place.DESCRIPTION, sources.issues), (Place.COMMENT, sources.comments)
        ):  # fmt: skip
            cursor.execute(f"{sql} ORDER BY 1 DESC LIMIT {LOOKED_AT}", values)
            for found, issue in cursor.fetchall():
                yield place, issue, found if place is Place.COMMENT else None


Query = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class _Sources:
    """Selects of what the index has for some words, each of the id found and the issue's."""

    titles: Query
    issues: Query
    comments: Query

    @property
    def everywhere(self) -> Query:
        """The ids of issues that hold them anywhere."""
        parts = [
            f"SELECT issue FROM ({sql} ORDER BY 1 DESC LIMIT {FILTERED}) AS newest"
            for sql, _ in (self.issues, self.comments)
        ]
        return " UNION ".join(parts), [*self.issues[1], *self.comments[1]]


def _sources(company: Company, words: list[str]) -> _Sources:
    if connection.vendor == "sqlite":
        wanted = " AND ".join(_sqlite_word(word) for word in words)
        issues = (
            f"SELECT w.rowid AS found, i.id AS issue FROM {ISSUE_WORDS} w CROSS JOIN issues_issue i ON i.id = w.rowid "
            f"WHERE w.{ISSUE_WORDS} MATCH %s AND i.company_id = %s"
        )
        comments = (
            f"SELECT w.rowid AS found, c.issue_id AS issue FROM {COMMENT_WORDS} w "
            "CROSS JOIN issues_comment c ON c.id = w.rowid CROSS JOIN issues_issue i ON i.id = c.issue_id "
            f"WHERE w.{COMMENT_WORDS} MATCH %s AND i.company_id = %s AND c.deleted_at IS NULL"
        )
        return _Sources(
            titles=(issues, [f"{{title}} : ({wanted})", company.pk]),
            issues=(issues, [wanted, company.pk]),
            comments=(comments, [wanted, company.pk]),
        )
    wanted = " & ".join(filter(None, map(_postgresql_word, words)))
    issues = (
        "SELECT id AS found, id AS issue FROM issues_issue WHERE {} @@ to_tsquery('simple', %s) AND company_id = %s"
    )
    comments = (
        "SELECT c.id AS found, c.issue_id AS issue FROM issues_comment c JOIN issues_issue i ON i.id = c.issue_id "
        "WHERE issues_words(c.body) @@ to_tsquery('simple', %s) AND i.company_id = %s AND c.deleted_at IS NULL"
    )
    values = [wanted, company.pk]
    return _Sources(
        titles=(issues.format("issues_words(title)"), values),
        issues=(issues.format("issues_words(title || ' ' || description)"), values),
        comments=(comments, values),
    )


def _as_rows(ids: list[int]) -> RawSQL:
    """The ids as one value of a statement, however many they are."""
    if connection.vendor == "sqlite":
        return RawSQL("SELECT value FROM json_each(%s)", [json.dumps(ids)])
    return RawSQL("SELECT unnest(%s::bigint[])", [ids])


def _sqlite_word(word: str) -> str:
    """A string of FTS5 with a star: its last word may go on. Within quotes no sign is an operator."""
    return '"' + word.replace('"', " ") + '"*'


def _postgresql_word(word: str) -> str:
    """The same: the word's parts follow one another, the last may go on. Parts are letters and digits alone."""
    folded = "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    parts = [f"'{part}'" for part in _LETTERS.findall(folded)]
    return "(" + " <-> ".join([*parts[:-1], f"{parts[-1]}:*"]) + ")" if parts else ""


def _reading(words: list[str]) -> Q:
    """Issues of which a text holds all the words, found by reading them."""
    comments = Comment.objects.filter(_holding(words, "body"), deleted_at=None)
    return _holding(words, "title", "description") | Q(pk__in=comments.values("issue"))


def _holding(words: list[str], *fields: str) -> Q:
    """Every word stands in one of the fields."""
    condition = Q()
    for word in words:
        condition &= Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR)
    return condition


def _comparable(text: str) -> str:
    """Letters and digits with single spaces, in small letters."""
    return " ".join(_LETTERS.findall(text.casefold()))
