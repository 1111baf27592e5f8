"""What people and agents write is shown as they meant it, and nothing in it acts."""

from __future__ import annotations

import re
import time

import pytest

from issues.markdown import (
    _BEGINS,
    _ITEM,
    MOST_BYTES,
    MOST_CELLS,
    MOST_ITEMS,
    MOST_MARKS,
    Place,
    _render,
    render_markdown,
    show_hidden,
)
from issues.rendered import RenderedTexts

PLACE = Place("ACME", frozenset({"ada", "bob.b"}))

SCRIPTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    "![x](javascript:alert(1))",
    '![x"onerror="alert(1)](/acme/attachments/1/x.png)',
    '[x](https://evil.example/"onmouseover="alert(1))',
    "<https://evil.example/'onclick='alert(1)>",
    "<svg onload=alert(1)>",
    '<a hx-get="/acme/" hx-trigger="load">x</a>',
    "<form action=/logout/><button>x</button></form>",
    '<p id="main" style="position:fixed">x</p>',
    "```js\n</code></pre><script>alert(1)</script>\n```",
    "| <script> |\n|---|\n| <img onerror=x> |",
    "![a>\u202e onerror=alert(1) x](/acme/attachments/1/x.png)",
]


def render(text: str) -> str:
    return str(render_markdown(text, PLACE))


@pytest.mark.parametrize("text", SCRIPTS)
def test_nothing_in_a_text_can_act(text: str) -> None:
    for tag in re.findall(r"<[^>]*>", render(text)):
        assert re.fullmatch(
            r"</?(a|blockquote|br|code|div|em|h\d|hr|img|li|ol|p|pre|s|span|strong|table|tbody|td|th|thead|tr|ul)"
            r'( (href="[^"]*"|rel="noopener noreferrer nofollow"|src="/acme/attachments/[^"]*"|alt="[^"]*"'
            r'|class="[a-z -]*"|start="\d+"))*>',
            tag,
        ), tag
        assert "javascript:" not in tag.lower()
        assert "data:" not in tag.lower()


def test_plain_markdown_is_rendered() -> None:
    assert render("**b** _i_ `c` ~~d~~") == ("<p><strong>b</strong> <em>i</em> <code>c</code> <s>d</s></p>\n")
    assert "<li>one</li>" in render("- one\n- two")
    assert '<th class="end">n</th>' in render("| n |\n| -: |\n| 1 |")
    assert "<br>" in render("one\ntwo")


def test_a_known_handle_is_a_mention_and_an_unknown_one_is_text() -> None:
    shown = render("@ada, @Bob.B. and @eve; mail ada@example.org or \\@ada or `@ada`")
    assert shown.count('class="mention"') == 2
    assert 'href="/acme/who/ada/"' in shown
    assert 'href="/acme/who/bob.b/"' in shown
    assert "@eve" in shown


def test_identifiers_of_the_company_are_links_and_others_are_text() -> None:
    shown = render("ACME-12, OTHER-3, XACME-4, ACME-5x, /ACME-6 and `ACME-7`")
    assert re.findall(r'href="([^"]*)"', shown) == ["/acme/issues/ACME-12/"]


def test_a_link_to_another_host_says_which_and_passes_nothing_on() -> None:
    shown = render("[here](https://evil.example/x)")
    assert '<a href="https://evil.example/x" rel="noopener noreferrer nofollow">here</a>' in shown
    assert '<span class="host">(evil.example)</span>' in shown
    assert "host" not in render("https://evil.example/x")


@pytest.mark.parametrize("words", ["bank.example", "k.example.bank", "k.example-bank", "not-k.example"])
def test_a_link_whose_words_hold_the_host_as_a_part_of_another_still_says_where_it_leads(words: str) -> None:
    assert '<span class="host">(k.example)</span>' in render(f"[{words}](https://k.example/)")
    assert "host" not in render("[see k.example.](https://k.example/)")


@pytest.mark.parametrize("text", ["https://bank.example@evil.example/", "[bank](https://bank.example:x@evil.example/)"])
def test_an_address_that_names_a_user_before_its_host_is_no_link(text: str) -> None:
    assert "<a" not in render(text)


@pytest.mark.parametrize(
    "address", ["//evil.example", "/\\evil.example", "\\\\evil.example", "ftp://x.example", "https:"]
)
def test_an_address_that_cannot_be_trusted_is_shown_and_not_linked(address: str) -> None:
    shown = render(f"[here](<{address}>)")
    assert "<a" not in shown
    assert "here" in shown


def test_a_remote_image_becomes_its_link() -> None:
    shown = render("![plan](https://evil.example/plan.png)")
    assert "<img" not in shown
    assert 'href="https://evil.example/plan.png"' in shown


def test_an_attached_image_of_this_company_is_shown_and_no_other() -> None:
    assert '<img src="/acme/attachments/3/plan.png" alt="plan">' in render("![plan](/acme/attachments/3/plan.png)")
    for source in ("/other/attachments/3/x.png", "/acme/attachments/3/../../x", "/acme/attachments/3/x?y", "/static/x"):
        assert "<img" not in render(f"![plan]({source})")


@pytest.mark.parametrize("character", ["\u202e", "\u200b", "\u2066", "\U000e0041", "\ufeff"])
def test_what_only_a_model_would_read_is_shown_as_its_code(character: str) -> None:
    code = f'<span class="code-point">U+{ord(character):04X}</span>'
    assert code in render(f"a{character}b")
    assert code in render(f"`a{character}b`")
    assert code in render(f"```py\na = '{character}'\n```")
    assert code in show_hidden(f"a{character}b")
    assert character not in render(f"[a{character}](https://x.example/{character})")


def test_a_joined_pictograph_is_left_whole() -> None:
    assert "code-point" not in render("👩\u200d💻")


@pytest.mark.parametrize(
    "text",
    [
        "> " * 16 + "deep",
        "- " * 16 + "deep",
        "|a" * 200 + "\n" + "|-" * 200 + "\n" + "|x\n" * 60,
        "[" * 20_000,
        "[**" * 20_000,
    ],
    ids=["quotations", "lists", "cells", "brackets", "emphasis in brackets"],
)
def test_what_would_be_dropped_or_slow_is_shown_plain_and_whole(text: str) -> None:
    shown = render(text)
    assert shown.startswith("<pre>")
    assert len(re.sub(r"<[^>]*>|&[a-z]+;", "x", shown)) >= len(text)


SLOWEST = [
    "[****", "[__", "[*_~~", "![**", "[**a**", "[_a_", "[*a_", "**[a](b)", "[a](", "[a](<b", "[a][b]", "*a ", "_a_\n\n",
    "**<", "~~a", "`", "`a``", "- a\n", "*  - a\n", "> - a\n", "<\n\n", "|\n\n", "<a@b", "http://a ", "@ada ",
    "ACME-1 ", "&amp;", "\\*", "[a]: b\n", "#\n", "\u200b", "```py\na\n```\n", "```html\n<a ", "```sql\n'",
    "> " * 14 + "*a*\n", "- " * 14 + "[a\n", "|a" * 10 + "|\n" + "|-" * 10 + "|\n" + "|*a*" * 10 + "|\n",
]  # fmt: skip
"""Of some 10,000 shapes, alone, in pairs and by chance, those that took longest, and one of each kind of syntax."""


@pytest.mark.parametrize("shape", SLOWEST)
def test_no_text_holds_a_worker_for_a_second(shape: str) -> None:
    """At the limit of bytes, and at that of marks with something between them."""
    marks = sum(map(shape.count, "[*_~"))
    size = len(shape.encode())
    most = min(MOST_BYTES // size, MOST_MARKS // marks) if marks else MOST_BYTES // size
    begun = len(_ITEM.findall("".join(_BEGINS.findall(shape))))
    most = min(most, MOST_ITEMS // begun) if begun else most
    room = MOST_BYTES // most - size
    for text in (shape * most, (shape + "x" * room) * most, (shape + " " * room) * most):
        # A machine under load counts more; what is too slow is so each time.
        assert any(_seconds(text) < 1 for _ in range(3))


def _seconds(text: str) -> float:
    begin = time.thread_time()
    _render(text, PLACE)
    return time.thread_time() - begin


def test_a_table_within_the_limit_stays_a_table() -> None:
    rows = MOST_CELLS // 20
    assert "<table>" in render("|a" * 10 + "|\n" + "|-" * 10 + "|\n" + "|x\n" * rows)


def test_code_of_a_known_language_is_coloured() -> None:
    assert '<span class="hl-k">def</span>' in render("```python\ndef f(): pass\n```")
    assert "span" not in render("```nothing\ndef f(): pass\n```")


def test_a_text_is_rendered_once_and_the_oldest_goes_first() -> None:
    from django.utils.safestring import SafeString

    texts = RenderedTexts(limit_characters=10)
    calls: list[str] = []

    def make(text: str) -> SafeString:
        calls.append(text)
        return SafeString(text)

    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        texts.get(text, lambda text=text: make(text))
    assert calls == ["aaaa", "bbbb", "cccc", "bbbb"]
