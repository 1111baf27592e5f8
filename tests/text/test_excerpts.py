"""What a search shows of the text it found: the piece around the words, escaped, with the words marked."""

from __future__ import annotations

import time

from issues.excerpts import excerpt

FILLING = "word " * 60


def test_the_words_are_marked_and_all_else_is_escaped() -> None:
    assert excerpt("A <b>cold</b> cache & more", ["cache", "cold"]) == (
        "A &lt;b&gt;<mark>cold</mark>&lt;/b&gt; <mark>cache</mark> &amp; more"
    )


def test_a_word_that_is_markup_is_escaped_within_its_mark() -> None:
    assert excerpt("see a.b<c here", ["a.b<c"]) == "see <mark>a.b&lt;c</mark> here"


def test_of_a_long_text_the_piece_around_the_first_word_is_shown() -> None:
    piece = excerpt(f"{FILLING}turbine {FILLING}", ["turbine"])
    assert piece.startswith("… word")
    assert piece.endswith("word …")
    assert "<mark>turbine</mark>" in piece
    assert len(piece) < 240


def test_a_title_is_shown_whole() -> None:
    title = f"{FILLING}turbine"
    assert excerpt(title, ["turbine"], around=None) == title.replace("turbine", "<mark>turbine</mark>")


def test_the_beginning_of_a_word_is_marked_and_nothing_within_one() -> None:
    assert excerpt("deployment, redeploy", ["deploy"]) == "<mark>deploy</mark>ment, redeploy"


def test_a_word_with_signs_is_found_however_its_parts_are_joined() -> None:
    assert excerpt("the engine / parser", ["engine/parser"]) == "the <mark>engine / parser</mark>"


def test_accents_and_small_letters_make_no_difference() -> None:
    assert excerpt("Ein Café in ÅRHUS", ["cafe", "århus"]) == "Ein <mark>Café</mark> in <mark>ÅRHUS</mark>"


def test_a_script_without_spaces_is_marked_within_a_run_of_signs() -> None:
    assert excerpt("修复登录问题", ["登录"]) == "修复<mark>登录</mark>问题"


def test_without_words_the_beginning_is_shown() -> None:
    assert excerpt("Line one\n\nline two", []) == "Line one line two"
    assert excerpt("Line one", ["???"]) == "Line one"


def test_a_text_as_long_as_any_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    excerpt("é" * 64_000, ["a" * 64] * 8)
    excerpt("- " * 32_000, ["-a-" * 20])
    assert time.process_time() - began < 2
