"""What holds of every reply, tried on replies made of the pieces that mean something to the parser."""

import string

from hypothesis import example, given
from hypothesis import strategies as st

from engine.text.parser import parse
from engine.text.scanner import outdent, read_fence
from engine.text.types import Action, AgentReply
from tests.text.verb_table import VERB_TABLE

PIECES = st.sampled_from(
    ["/status done", "/assign", "/write-file a.txt", "/create-issue A", "/record-finding", "/foo", "/Label x", "x"]
    + ["```", "````", "```py", "~~~", "~~~ md", "``", "> ", "- ", "1. ", "    ", "\t", " ", "\u00a0", "\u200b", "\\"]
    + ["<think>", "</think>", "<!--", "-->", "<pre>", "</pre>", "<reasoning>", "\n", "\n", "\n", "\n\n", "\r", "\0"]
)
REPLIES = st.lists(PIECES, max_size=40).map("".join)
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=200)  # lone surrogates, too
ANYTHING = REPLIES | ANY_TEXT


def normalised_lines(reply: str) -> list[str]:
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.split("\n")


def body_fence(lines: list[str], start: int, body: str) -> range:
    """The first lines at or after `start` that are a fence with `body` as their content."""
    count = len(body.split("\n")) if body else 0
    for index in range(start, len(lines)):
        fence = read_fence(lines[index])
        for size in {count, 1} if not body else {count}:
            inner = lines[index + 1 : index + 1 + size]
            if fence and "\n".join(outdent(line, fence.column) for line in inner) == body:
                return range(index, index + size + 2)
    raise AssertionError(f"no fence holds {body!r}")


def taken(reply: AgentReply, lines: list[str]) -> set[int]:
    """The indices of the lines that the actions took out of the prose."""
    indices: set[int] = set()
    for action in reply.actions:
        indices.add(action.line - 1)
        if action.body is not None:
            indices.update(body_fence(lines, action.line, action.body))
    return indices


@given(ANYTHING)
@example("\ud800/status \udfff")
def test_any_string_is_a_reply(text: str) -> None:
    assert isinstance(parse(text, VERB_TABLE), AgentReply)


@given(ANYTHING)
def test_every_line_is_found_again_in_an_action_its_body_or_in_order_in_the_prose(reply: str) -> None:
    parsed = parse(reply, VERB_TABLE)
    lines = normalised_lines(reply)
    gone = taken(parsed, lines)
    left = [line for index, line in enumerate(lines) if index not in gone and line.strip()]
    assert [line for line in parsed.prose.split("\n") if line.strip()] == left


@given(ANYTHING)
def test_every_action_stands_on_its_line(reply: str) -> None:
    lines = normalised_lines(reply)
    for action in parse(reply, VERB_TABLE).actions:
        token, *rest = lines[action.line - 1].split(maxsplit=1)
        assert token.lower() == f"/{action.verb}"
        assert action.args == "".join(rest).strip()


@given(ANYTHING)
def test_dropped_lines_stay_in_the_prose(reply: str) -> None:
    parsed = parse(reply, VERB_TABLE)
    lines = normalised_lines(reply)
    prose = parsed.prose.split("\n")
    for dropped in parsed.dropped:
        assert dropped.line == lines[dropped.number - 1]
        assert dropped.line in prose


@given(REPLIES)
def test_actions_and_drops_come_in_the_order_of_their_lines_and_never_share_one(reply: str) -> None:
    parsed = parse(reply, VERB_TABLE)
    acting = [action.line for action in parsed.actions]
    dropped = [line.number for line in parsed.dropped]
    assert acting == sorted(set(acting))
    assert dropped == sorted(set(dropped))
    assert not set(acting) & set(dropped)


@given(ANYTHING)
def test_a_reply_without_actions_loses_nothing_but_outer_blank_lines(reply: str) -> None:
    parsed = parse(reply, VERB_TABLE)
    if not parsed.actions:
        lines = normalised_lines(reply)
        while lines and not lines[0].strip():
            del lines[0]
        while lines and not lines[-1].strip():
            del lines[-1]
        assert parsed.prose == "\n".join(lines)


@given(REPLIES)
def test_quoting_every_line_takes_all_its_force(reply: str) -> None:
    quoted = "\n".join(f"> {line}" for line in normalised_lines(reply))
    assert not parse(quoted, VERB_TABLE).actions


@given(REPLIES)
def test_a_fence_longer_than_any_inside_takes_all_force_of_its_content(reply: str) -> None:
    assert not parse(f"~~~~~~\n{reply.replace('~~', '')}\n~~~~~~", VERB_TABLE).actions


@given(REPLIES, st.text(string.ascii_letters + " \n", max_size=60))
def test_what_follows_a_closing_reasoning_tag_is_read_alone(reasoning: str, answer: str) -> None:
    reply = parse(f"<think>\n{reasoning.replace('</', '')}\n</think>\n{answer}\n/status done", VERB_TABLE)
    assert [(action.verb, action.args) for action in reply.actions] == [("status", "done")]


@given(REPLIES)
def test_line_ends_make_no_difference(reply: str) -> None:
    with_lf = parse(reply.replace("\r", "\n"), VERB_TABLE)
    assert parse(reply.replace("\r", "\n").replace("\n", "\r\n"), VERB_TABLE) == with_lf


@given(st.lists(st.text(string.ascii_letters + "`~<>/- \t", max_size=20), max_size=8), st.integers(0, 9))
def test_a_body_is_given_back_to_the_letter(content: list[str], indent: int) -> None:
    fence = " " * indent + "~" * 25
    lines = [" " * indent + line for line in content]
    reply = parse("\n".join(["/write-file a.txt", fence, *lines, fence]), VERB_TABLE)
    assert reply == AgentReply((Action("write-file", "a.txt", "\n".join(content), 1),), "", (), "")
