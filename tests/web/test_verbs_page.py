"""The help page on verbs."""

from __future__ import annotations

import html

from django.test import Client

from engine.verbs.registry import VERBS
from issues.models import Company

PAGE = "/help/verbs/"


def test_every_verb_is_explained_with_its_example(page: Client, company: Company) -> None:
    body = html.unescape(page.get(PAGE).content.decode())
    for verb in VERBS:
        assert f'id="{verb.name}"' in body
        assert verb.usage in body
        assert verb.details in body
        assert verb.example in body


def test_it_is_for_whoever_has_logged_in(db: None) -> None:
    assert Client().get(PAGE).status_code == 302
