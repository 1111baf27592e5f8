"""The help page on verbs."""

from __future__ import annotations

import html

from django.test import Client
from django.utils.html import strip_tags

from engine.verbs.registry import VERBS
from issues.models import Company

PAGE = "/help/verbs/"


def test_every_verb_is_explained_with_its_example(page: Client, company: Company) -> None:
    content = page.get(PAGE).content.decode()
    body, words = html.unescape(content), html.unescape(strip_tags(content))
    for verb in VERBS:
        assert f'id="{verb.name}"' in body
        assert verb.usage in body
        assert verb.details.replace("`", "") in words
        assert verb.example in body


def test_it_is_for_whoever_has_logged_in(db: None) -> None:
    assert Client().get(PAGE).status_code == 302
