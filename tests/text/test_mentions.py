"""Whom a text mentions, case by case where the corpus does not reach."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.mentions import Mentions, read_mentions

KNOWN = ("ann", "bob", "r.daneel", "Anna", "Anna Lee", "José", "Straße", "小明", "지민", "Dr. Who", "O'Neil")


def found(text: str) -> tuple[str, ...]:
    return read_mentions(text, KNOWN).found


# --- Names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@STRASSE", "Straße"),
        ("@straße", "Straße"),
        ("@JOSE\u0301", "José"),
        ("@anna\t  LEE", "Anna Lee"),
        ("@Anna\u3000Lee", "Anna Lee"),
        ("@dr. who?", "Dr. Who"),
        ("@o'neil's", "O'Neil"),
        ("@\u110c\u1175\u1106\u1175\u11ab님", "지민"),  # the same syllables as single jamo
        ("请@小明看一下", "小明"),
        ("ครับที่@ann", "ann"),
        ("@annさん", "ann"),
    ],
)
def test_a_name_is_found_however_it_is_written(text: str, name: str) -> None:
    assert found(text) == (name,)


@pytest.mark.parametrize(
    "name", ["@an\u200bn", "@\u00adann", "@ａｎｎ", "@ann\u0301", "@jose", "@Dr Who", "@O’Neil x", "@"]
)
def test_what_is_written_otherwise_is_another_name(name: str) -> None:
    assert found(name) == ()


def test_a_name_does_not_reach_over_the_end_of_a_line() -> None:
    assert found("@Anna\nLee") == ("Anna",)


def test_of_names_that_compare_equal_the_first_known_counts() -> None:
    assert read_mentions("@ANN", ["ann", "Ann"]).found == ("ann",)


def test_no_entry_of_white_space_is_ever_mentioned() -> None:
    assert read_mentions("@ @\u00a0", ["", " ", "\u00a0"]) == Mentions()


# --- Where a name begins and ends


@pytest.mark.parametrize(
    "before", ["", " ", "(", '"', "“", "*", "**", "_", "~~", "、", "cc:", "@bob,", "@bob+", "…", "🙂", "."]
)
def test_a_mention_may_begin_after(before: str) -> None:
    assert "ann" in found(f"{before}@ann")


@pytest.mark.parametrize("before", ["x", "7", "é", "Ж", "x_", "x__", "@", "/", "a/", "\\", "\\\\\\", "e\u0301"])
def test_no_mention_begins_after(before: str) -> None:
    assert "ann" not in found(f"{before}@ann")


@pytest.mark.parametrize(
    "after", ["", ".", "...", "?!", ")", "'s", "’s", "_", "__", "-", " - x", ": x", "🙂", "。", "看", "/", "—x"]
)
def test_a_mention_may_end_before(after: str) -> None:
    assert found(f"@ann{after}") == ("ann",)


@pytest.mark.parametrize(
    "after",
    [
        "a",
        "7",
        "_a",
        "-a",
        ".a",
        "é",
        "\u0301",
        "@x",
        "@bob",
        "/x",
        "://x",
        ":example.org",
        "\u200ba",
        "-_a",
        "ª",
        "\u20dd",
    ],
)
def test_no_mention_ends_before(after: str) -> None:
    assert "ann" not in found(f"@ann{after}")


# --- What is no speech


@pytest.mark.parametrize(
    "text",
    [
        "`a\n@ann`",
        "`` ` @ann ``",
        "\\``@ann`",
        "    @ann",
        "\t@ann",
        "- a\n\n      @ann",
        "-      @ann",
        "# a\n    @ann",
        "<!-- a -->\n    @ann",
        "``` x\n@ann\n~~~\n```x\n@ann",
        "- ```\n  @ann\n  ```",
        "  ~~~~\n@ann\n~~~\n@ann",
        "```\n    ```\n@ann\n```",
        "<code>@ann</code>",
        '<KBD class="x">a @ann</KBD >',
        "<pre>\n\n@ann\n\n</pre>",
        "<script>@ann</script>",
    ],
)
def test_code_mentions_nobody(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "`a\n\n@ann`",
        "`a\n- @ann`",
        "`a\n# @ann`",
        "`a\n```\n```\n@ann`",
        "`\\`@ann`",
        "`@ann``",
        "text\n    @ann",
        "- a\n\n    @ann",
        "1. a\n\n    - b\n\n      @ann",
        "- a\n    @ann",
        "- a\nb\n\n    @ann",
        "| ` | @ann |\n| ` |",
        "- a\n\nb\n\n   @ann",
        "```\n```\n@ann",
        "``` ` ```\n@ann",
        "text\n    ~~~\n@ann",
        "<code> @ann",
        "</code>@ann</code>",
    ],
)
def test_what_only_looks_like_code_is_speech(text: str) -> None:
    assert found(text) == ("ann",)


@pytest.mark.parametrize(
    "text",
    [
        "ftp://ann@host @bob",
        "https://x.example/?q=@ann @bob",
        "见https://x.example/@ann，@bob",
        '[a](https://x.example/@ann "@ann") @bob',
        "[a](<x @ann>)@bob",
        "[a](x(@ann)y)@bob",
        "[a [b]](@ann)@bob",
        "[a]: @ann 'to @ann'\n@bob",
        "<urn:@ann>@bob",
        "<mailto:@ann>@bob",
        "@ann@social.example, @bob",
        "@ann:matrix.example, @bob",
    ],
)
def test_targets_and_addresses_mention_nobody(text: str) -> None:
    assert found(text) == ("bob",)


@pytest.mark.parametrize(
    "text",
    [
        "[a] (@ann)",
        "a](@ann)",
        "[a] b](@ann)",
        "\\[a](@ann)",
        "[a](b @ann",
        "[^1]: @ann",
        "a: //@ann @ann",
        "[@ann][x]",
    ],
)
def test_what_only_looks_like_a_link_is_speech(text: str) -> None:
    assert found(text) == ("ann",)


@pytest.mark.parametrize(
    "text",
    [
        "<img alt='@ann' src=x/@ann>@bob",
        '<a\ntitle="<@ann>">@bob</a>',
        "a <!-- @ann --> @bob",
        "a <!-- @ann\n@ann --> @bob",
        "<!-- @ann\n\n@ann --> @bob",
        "<!--> @bob <!--->",
        "a <!--> @bob -->",
        "a <![CDATA[ > @ann ]]> @bob",
        "a <?x @ann ?> @bob",
        "a <!X @ann> @bob",
    ],
)
def test_raw_html_mentions_nobody_and_its_surroundings_do(text: str) -> None:
    assert found(text) == ("bob",)


@pytest.mark.parametrize(
    "text", ["1 < 2 @ann", "<b @ann", '<a title="@ann', "<3 @ann >", "\\<a t='@ann'>", "a <!-- @ann", "<@ann>"]
)
def test_what_only_looks_like_a_tag_is_speech(text: str) -> None:
    assert found(text) == ("ann",)


@pytest.mark.parametrize("text", [">@ann", "      > @ann", "- > @ann", "1. - > @ann", "a\n    > @ann"])
def test_a_quoted_line_mentions_nobody(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize("text", ["\\> @ann", "&gt; @ann", "- a > @ann"])
def test_what_only_looks_like_a_quotation_is_speech(text: str) -> None:
    assert found(text) == ("ann",)


@pytest.mark.parametrize(
    "text", ["<think>\n@ann\n\n</think>\n@bob", "@ann\n\n</think> @bob", "@ann\nso @ann.</think>\n@bob"]
)
def test_reasoning_mentions_nobody(text: str) -> None:
    assert found(text) == ("bob",)


# --- What is shown to the author


def test_words_that_name_nobody_are_reported_once_as_written() -> None:
    text = "@Carol, @carol's @dora-x. @anna @e_ (@f.g) @ann/cli @x@y @`h` `@i`"
    assert read_mentions(text, ["ann"]) == Mentions((), ("Carol", "dora-x", "anna", "e", "f.g"))


def test_a_name_that_several_share_names_nobody_even_where_a_shorter_name_would() -> None:
    assert read_mentions("@kim lee, @Kim", ["Kim"], ambiguous=["Kim Lee"]) == Mentions(("Kim",), ("Kim Lee",))


def test_a_handle_beats_a_name_that_several_share() -> None:
    assert read_mentions("@Kim", ["kim"], ambiguous=["Kim"]) == Mentions(("kim",), ())


# --- Any text


@given(st.text(st.characters(exclude_categories=[]), max_size=100), st.lists(st.text(max_size=5), max_size=5))
def test_any_text_can_be_read_and_only_known_names_are_found(text: str, known: list[str]) -> None:
    mentions = read_mentions("@" + text, known)
    assert set(mentions.found) <= set(known)
    assert len(set(mentions.found)) == len(mentions.found)


@given(st.text("@an `~<>[]()\\_-*.\n>#|\t", max_size=60))
def test_a_text_quoted_line_by_line_mentions_nobody(text: str) -> None:
    assert found("\n".join(f"> {line}" for line in text.split("\n"))) == ()


@given(st.text("@an ~<>[]()\\_-*.\n#|\t", max_size=60))
def test_a_text_without_back_ticks_mentions_nobody_in_a_fence(text: str) -> None:
    assert found(f"```\n{text}\n```\n@bob") == ("bob",)


@pytest.mark.timeout(20)  # square time, which putting accents in order takes, would be hours
def test_accents_without_end_are_no_name() -> None:
    assert found("@ann" + "\u0301\u0327" * 500_000 + " @bob") == ("bob",)


def test_importing_the_reader_of_mentions_imports_no_django() -> None:
    code = "import engine.mentions, sys; print(*(name for name in sys.modules if name.partition('.')[0] == 'django'))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.split() == []
