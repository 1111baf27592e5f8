"""The reply parser's rule, case by case where the corpus does not reach."""

import pytest

from engine.text.parser import parse
from engine.text.types import AgentReply, DropReason
from tests.text.verb_table import VERB_TABLE


def read(*lines: str) -> AgentReply:
    return parse("\n".join(lines), VERB_TABLE)


def acts(reply: AgentReply) -> list[tuple[str, str, str | None]]:
    return [(action.verb, action.args, action.body) for action in reply.actions]


def drops(reply: AgentReply) -> list[tuple[int, DropReason]]:
    return [(dropped.number, dropped.reason) for dropped in reply.dropped]


# --- Lines and their numbers


def test_lines_are_counted_from_one_after_line_ends_are_made_alike() -> None:
    reply = read("Done.\r", "", "/foo\r/status done")
    assert [action.line for action in reply.actions] == [4]
    assert drops(reply) == [(3, DropReason.UNKNOWN_VERB)]


def test_only_the_first_byte_order_mark_is_dropped() -> None:
    assert not read("\ufeff\ufeff/status done").actions


def test_a_dropped_line_is_reported_as_it_stands() -> None:
    reply = read("  /assign \t", "/foo bar  ")
    assert [dropped.line for dropped in reply.dropped] == ["  /assign \t", "/foo bar  "]
    assert reply.prose == "  /assign \t\n/foo bar  "


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2009", "\u2028", "\x85", "\v", "\f", "\x1c"])
def test_any_white_space_may_stand_around_verb_and_argument(space: str) -> None:
    assert acts(read(f"{space}/status{space}done{space}")) == [("status", "done", None)]


@pytest.mark.parametrize("invisible", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e"])
def test_an_invisible_character_disarms_a_verb(invisible: str) -> None:
    assert not read("text", f"{invisible}/status done").actions
    assert drops(read(f"/status{invisible} done")) == [(1, DropReason.UNKNOWN_VERB)]
    assert drops(read(f"/{invisible}status done")) == [(1, DropReason.UNKNOWN_VERB)]


def test_letters_that_lower_case_to_ascii_spell_no_verb() -> None:
    assert not read("/bloc\u212aed-by ACME-1", "/\u017ftatus done").actions
    assert acts(read("/BLOCKED-BY ACME-1")) == [("blocked-by", "ACME-1", None)]


@pytest.mark.parametrize("line", ["/", "/ status done", "//status", "/etc/passwd", "/-status", "/1", "/.env is gone"])
def test_a_slash_that_begins_no_word_is_not_reported(line: str) -> None:
    assert read(line) == AgentReply((), line, (), speech=line)


# --- Bodies and who waits for them


def test_prose_unknown_words_and_argument_verbs_do_not_end_the_wait_for_a_body() -> None:
    reply = read("/record-finding", "See:", "/foo", "/status done", "```", "x", "```")
    assert acts(reply) == [("record-finding", "", "x"), ("status", "done", None)]
    assert [action.line for action in reply.actions] == [1, 4]
    assert reply.prose == "See:\n/foo"


def test_a_hidden_block_does_not_end_the_wait_for_a_body() -> None:
    reply = read("/record-finding", "<!-- ```", "no", "``` -->", "```", "x", "```")
    assert acts(reply) == [("record-finding", "", "x")]


def test_of_several_body_verbs_the_last_takes_the_fence() -> None:
    reply = read("/create-issue A", "/record-finding", "/create-issue B", "```", "x", "```")
    assert acts(reply) == [("create-issue", "A", None), ("create-issue", "B", "x")]
    assert drops(reply) == [(2, DropReason.MISSING_BODY)]


def test_drops_are_in_the_order_of_the_lines_however_late_they_are_known() -> None:
    reply = read("/write-file a.txt", "/foo", "/status")
    assert drops(reply) == [
        (1, DropReason.MISSING_BODY),
        (2, DropReason.UNKNOWN_VERB),
        (3, DropReason.MISSING_ARGUMENT),
    ]


def test_a_fence_in_a_list_item_becomes_the_body_and_takes_its_marker_along() -> None:
    reply = read("Steps:", "/write-file a.sh", "1. ```sh", "   make", "", "     test", "   ```", "End.")
    assert acts(reply) == [("write-file", "a.sh", "make\n\n  test")]
    assert reply.prose == "Steps:\nEnd."


def test_an_indented_body_keeps_tabs_that_reach_over_its_edge() -> None:
    assert acts(read("/write-file Makefile", "  ```", "  all:", "\tcc", "  ```")) == [
        ("write-file", "Makefile", "all:\n\tcc")
    ]
    assert acts(read("/write-file Makefile", "\t```", "\tall:", "\t\tcc", "\t```")) == [
        ("write-file", "Makefile", "all:\n\tcc")
    ]


# --- Fences


@pytest.mark.parametrize("opening", ["```", "~~~", "    ```", "\t~~~", "\u00a0```", "- ```", "* + 1) ~~~", "10. ```sh"])
def test_nothing_in_a_fence_acts_however_it_opens(opening: str) -> None:
    closing = "~~~" if "~" in opening else "```"
    reply = read(opening, "/status done", closing, "/label a")
    assert acts(reply) == [("label", "a", None)]
    assert reply.prose == f"{opening}\n/status done\n{closing}"


@pytest.mark.parametrize("opening", ["> ```", "``", "-```", "1 ```", "``` a ` b", "\\```", "| ```", "text ```"])
def test_a_line_that_opens_no_fence_hides_nothing(opening: str) -> None:
    assert acts(read(opening, "/status done")) == [("status", "done", None)]


@pytest.mark.parametrize("line", ["~~~", "``", "````x", "``` x", "    ```", "- ```", "\t```", "> ```", "```\u200b"])
def test_a_fence_is_not_closed_by_another_kind_of_line(line: str) -> None:
    reply = read("```", line, "/status done")
    assert not reply.actions
    assert reply.prose == f"```\n{line}\n/status done"


@pytest.mark.parametrize("closing", ["```", "`````", "   ```", "``` \t", "```\u00a0"])
def test_a_fence_is_closed_by_a_bare_run_at_least_as_long(closing: str) -> None:
    assert acts(read("```", "/label a", closing, "/status done")) == [("status", "done", None)]


def test_a_closing_fence_may_stand_three_columns_further_in_than_its_opening() -> None:
    assert acts(read("- ```", "/label a", "     ```", "/status done")) == [("status", "done", None)]
    assert not read("- ```", "/label a", "      ```", "/status done").actions


def test_nested_fences_close_from_the_inside_out() -> None:
    body = ["~~~~ outer", "~~~~~ inner", "~~~~", "~~~~~", "~~~~ again", "~~~~"]
    reply = read("/write-file a.md", "~~~ md", *body, "~~~~", "~~~", "/status done")
    assert acts(reply) == [("write-file", "a.md", "\n".join([*body, "~~~~"])), ("status", "done", None)]


def test_a_fence_in_a_list_of_the_body_is_nested_though_it_has_no_info_string() -> None:
    body = ["- ```", "  make", "  ```", "- end"]
    reply = read("/write-file a.md", "```md", *body, "```", "/status done")
    assert acts(reply) == [("write-file", "a.md", "\n".join(body)), ("status", "done", None)]


def test_a_fence_that_nothing_closes_drops_its_verb_and_silences_the_rest() -> None:
    reply = read("/create-issue A", "", "```", "x", "/status done", "")
    assert reply.actions == ()
    assert drops(reply) == [(1, DropReason.MALFORMED_FENCE)]
    assert reply.prose == "/create-issue A\n\n```\nx\n/status done"


# --- A fence on the verb's own line


@pytest.mark.parametrize("fence", ["```python", "~~~", "``` a b", "x ```", "`a` ```"])
def test_a_fence_on_the_verbs_own_line_drops_the_verb_and_hides_its_content(fence: str) -> None:
    closing = "~~~" if "~" in fence else "```"
    reply = read(f"/write-file a.py {fence}", "/status done", closing, "/label a")
    assert acts(reply) == [("label", "a", None)]
    assert drops(reply) == [(1, DropReason.MALFORMED_FENCE)]
    assert reply.prose == f"/write-file a.py {fence}\n/status done\n{closing}"


def test_a_fence_on_its_own_line_ends_the_wait_of_the_verb_before() -> None:
    reply = read("/write-file a.py", "/create-issue B ```", "x", "```", "```", "y", "```")
    assert not reply.actions
    assert drops(reply) == [(1, DropReason.MISSING_BODY), (2, DropReason.MALFORMED_FENCE)]


@pytest.mark.parametrize("title", ["Quote ```x```", "Use ``` a ``` twice", "Fix a~~~", "Set `a` and ``b``", "~~~a~~~"])
def test_a_closed_code_span_on_a_body_verbs_line_is_argument(title: str) -> None:
    assert acts(read(f"/create-issue {title}", "text")) == [("create-issue", title, None)]


def test_an_argument_verb_takes_a_fence_on_its_line_literally() -> None:
    assert acts(read("/label ```")) == [("label", "```", None)]


# --- Hidden blocks and reasoning


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<think>", "</think>"),
        ("  <THINKING>", "so it is </Thinking >"),
        ("<reasoning>hm", "</reasoning>"),
        ("\u00a0<!-- a", "b --> c"),
        ("<pre>", "</pre>"),
        ("<SCRIPT src='a'>", "x</script\t>"),
        ("<style", "</style>"),
        ("<textarea>", "</textarea>"),
    ],
)
def test_nothing_in_a_hidden_block_acts_and_all_of_it_stays(opening: str, closing: str) -> None:
    lines = [opening, "/status done", "```", "", "", closing]
    reply = read(*lines, "/label a")
    assert acts(reply) == [("label", "a", None)]
    assert reply.prose == "\n".join(lines)
    assert not read(opening, "/status done").actions


@pytest.mark.parametrize(
    "line", ["a <think>", "> <think>", "- <!--", "<prefix>", "<pre-x>", "<thin>", "`<pre>`", "<b>"]
)
def test_a_line_that_does_not_begin_with_a_hiding_tag_hides_nothing(line: str) -> None:
    assert acts(read(line, "/status done")) == [("status", "done", None)]


@pytest.mark.parametrize("comment", ["<!-->", "<!--->", "<!---->", "<!-- a --> b"])
def test_a_comment_may_end_on_its_own_line(comment: str) -> None:
    assert acts(read(comment, "/status done")) == [("status", "done", None)]


def test_hidden_blocks_that_follow_one_another_on_one_line_hide_as_one() -> None:
    reply = read("<!-- a --> <!-- b", "/status done", "--><think>", "/label a", "</think>", "/priority low")
    assert acts(reply) == [("priority", "low", None)]


def test_a_comment_that_begins_where_another_ends_hides_the_lines_below() -> None:
    assert acts(read("<!-- a --> <!-- b", "/status done", "-->", "/label a")) == [("label", "a", None)]


def test_a_tag_of_another_kind_does_not_end_a_hidden_block() -> None:
    assert not read("<think>", "-->", "</thinking>", "</pre>", "/status done").actions


@pytest.mark.parametrize("closing", ["</think>", "  </Thinking> so:", "No, wait.</reasoning>", "Hm. </think> "])
def test_a_closing_reasoning_tag_that_nothing_opened_takes_back_everything_above(closing: str) -> None:
    above = ["/foo", "/write-file a.txt", "```", "x", "```", "", "", "/status done", "", "/record-finding"]
    reply = read(*above, closing, "```", "y", "```", "/label a")
    assert acts(reply) == [("label", "a", None)]
    assert not reply.dropped
    assert reply.prose == "\n".join([*above, closing, "```", "y", "```"])


@pytest.mark.parametrize("line", ["The tag `</think>`", "a </think> b", "> </think>", "</thin>", "</b>", "</thinking"])
def test_a_closing_tag_elsewhere_on_a_line_is_text(line: str) -> None:
    assert acts(read("/status done", line)) == [("status", "done", None)]


def test_a_second_closing_tag_takes_back_what_stands_between() -> None:
    reply = read("<think>", "</think>", "/status done", "</think>", "/label a")
    assert acts(reply) == [("label", "a", None)]


# --- The comment


def test_blank_lines_of_a_fence_beside_a_gap_are_left_alone() -> None:
    fence = "```\n\n\n\n```"
    assert parse(f"/label a\n{fence}\n/label b\n\n\n/label c\n{fence}", VERB_TABLE).prose == f"{fence}\n\n{fence}"


def test_blank_lines_far_from_a_gap_are_left_alone() -> None:
    assert read("a", "", "", "b", "", "/label x", " ", "c", "", "", "d").prose == "a\n\n\nb\n\nc\n\n\nd"


def test_gaps_with_only_blank_lines_between_are_one_gap() -> None:
    assert read("a", "", "/label x", "", "/label y", "", "", "b").prose == "a\n\nb"


def test_a_dropped_line_keeps_its_words_in_the_comment_and_addresses_nobody() -> None:
    reply = read("/status done", "", "@ann, look.", "", "/unassign @bob", "/assign@bob", "```", "/assign@bob", "```")
    assert reply.prose == "@ann, look.\n\n/unassign @bob\n/assign@bob\n```\n/assign@bob\n```"
    assert reply.speech == "@ann, look.\n\n/unassign  bob\n/assign bob\n```\n/assign@bob\n```"
