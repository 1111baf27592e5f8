"""What a model reads and a person would not see is shown as its code, on every page."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import assume, given
from hypothesis import strategies as st

from issues.actors import Person
from issues.hidden_characters import HIDDEN as HIDDEN_CHARACTER
from issues.models import Company
from tests import build
from tests.web.everything import addresses, one_of_everything
from trimus.visibility import may_hide, show_all

HIDDEN = "\u202e\u200b\u2066\U000e0041"
"""Turned around, of no width, isolated, and a letter that is none."""
CODES = ("U+202E", "U+200B", "U+2066", "U+E0041")
EDITED = re.compile(r"<textarea.*?</textarea>|<input[^>]*>", re.DOTALL)
"""What is there to be changed is as it was written: else saving it would change it."""


def marked(code: str) -> str:
    return f'<span class="code-point">{code}</span>'


def test_no_page_hides_a_character_that_somebody_wrote(page: Client, company: Company, founder: Person) -> None:
    everything = one_of_everything(company, founder, f"canary-{HIDDEN}-7f3a")
    faults: list[str] = []
    shown = edited = 0
    for name, wanted in sorted(set(addresses())):
        answer = page.get(everything.address(name, wanted))
        if answer.streaming or not answer.headers["Content-Type"].startswith("text/html"):
            continue
        whole = answer.content.decode()
        said = EDITED.sub("", whole)
        shown += all(code in said for code in CODES)
        edited += len(whole.split(HIDDEN)) > len(said.split(HIDDEN))
        faults += [
            f"{name}: {said[max(found.start() - 90, 0) : found.start()]!r}"
            for found in re.finditer(f"[{HIDDEN}]", said)
        ]
    assert not faults, "\n".join(faults)
    assert shown > 20
    assert edited > 3


def test_a_change_and_a_refusal_are_told_with_codes(page: Client, company: Company) -> None:
    told = f"“Mine{''.join(CODES)}”"
    one = build.saved_view(company, f"Mine{HIDDEN}")
    other = build.saved_view(company, "Other")
    for view, status in ((one, 204), (other, 409)):
        address = reverse("edit-view", args=[company.slug, view.pk])
        answer = page.post(address, {"name": f"Mine{HIDDEN}"}, headers={"HX-Request": "true"})
        assert answer.status_code == status
        assert told in json.loads(answer.headers["HX-Trigger"])["trimus:toast"]["text"]
    page.post(reverse("views", args=[company.slug]), {"name": f"Second{HIDDEN}", "query": "", "page": "board"})
    toasts = page.get("/acme/board/").content.decode().split('id="toasts"')[1]
    assert f"“Second{''.join(map(marked, CODES))}”" in toasts


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<p>a\u202eb &amp; c\u200b</p>", f"<p>a{marked('U+202E')}b &amp; c{marked('U+200B')}</p>"),
        ("\u202e", marked("U+202E")),
        ("<b>a</b>\n\u2066 <I>b\u00ad", f"<b>a</b>\n{marked('U+2066')} <I>b{marked('U+00AD')}"),
        ("<title>a\u202e</title><p>b\u202e", f"<title>aU+202E</title><p>b{marked('U+202E')}"),
        ('<option value="a\u202e">a\u202e</option>', '<option value="a\u202e">aU+202E</option>'),
        (
            "<select><option>a\u202e<option value=1>b\u202e</select>",
            "<select><option>a\u202e<option value=1>bU+202E</select>",
        ),
        (
            '<datalist><option value="a"></datalist><p>\u202e',
            f'<datalist><option value="a"></datalist><p>{marked("U+202E")}',
        ),
        ('<svg aria-label="\u202e"><use/></svg>\u202e', f'<svg aria-label="U+202E"><use/></svg>{marked("U+202E")}'),
        (
            "<a href='/\u202e' TITLE = 'a > b\u202e' data-x=\u202e alt=\u202e disabled>",
            "<a href='/\u202e' TITLE = 'a > bU+202E' data-x=\u202e alt=U+202E disabled>",
        ),
        ('<a data-x="title=\u202e" title="">', '<a data-x="title=\u202e" title="">'),
        ('<input value="\u202e" placeholder="\u202e">', '<input value="\u202e" placeholder="U+202E">'),
        ("<textarea hidden>\n\u202e<b>\u202e</b></textarea>", "<textarea hidden>\n\u202e<b>\u202e</b></textarea>"),
        ("<script>'\u202e'</script><style>\u202e</style>", "<script>'\u202e'</script><style>\u202e</style>"),
        (
            "<!-- \u202e -->\r\n<p \n class=x>\u202e</p\n>\n",
            f"<!-- \u202e -->\r\n<p \n class=x>{marked('U+202E')}</p\n>\n",
        ),
        ("👩\u200d💻 ❤️\u200d🔥 &", "👩\u200d💻 ❤️\u200d🔥 &"),
        ("👩\u200d💻 a\u200db &amp", f"👩\u200d💻 a{marked('U+200D')}b &amp"),
    ],
)  # fmt: skip
def test_what_is_read_shows_codes_and_all_else_stays_byte_for_byte(written: str, shown: str) -> None:
    assert may_hide(written.encode())
    assert show_all(written) == shown


def test_every_hidden_character_is_looked_for() -> None:
    known = [chr(number) for number in range(0x110000) if HIDDEN_CHARACTER.fullmatch(chr(number))]
    assert len(known) > 150
    assert all(may_hide(f"<p>a – b{one}</p>".encode()) for one in known)


def test_a_page_of_plain_words_is_not_looked_through() -> None:
    assert not may_hide("<p>“Plain” – words… ä 語 ✓ 👩 \u2028 ·</p>".encode())


@given(st.text(st.sampled_from("a<>/'\"=& \n\u202e\u200dé👩")) | st.text())
def test_nothing_but_hidden_characters_is_ever_changed(page: str) -> None:
    shown = show_all(page)
    plain = re.sub(r'<span class="code-point">U\+[0-9A-F]{4,5}</span>|U\+[0-9A-F]{4,5}', "", shown)
    assume("U+" not in page)
    assert HIDDEN_CHARACTER.sub("", plain) == HIDDEN_CHARACTER.sub("", page)
