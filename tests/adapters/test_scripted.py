"""Scripts and the provider that answers from them."""

from __future__ import annotations

import asyncio

import pytest

from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind, Message, Role, StopReason
from agents.adapters.continuation import CONTINUE, complete_whole
from agents.adapters.script import ScriptError, parse_script
from agents.adapters.scripted import ScriptedProvider
from tests.adapters.wire import ask

SCRIPT = r"""
- system: '^You are Ada\b'
  when:
    - '^Issue: (?P<key>[A-Z]+-\d+)'
    - '^Status: (?P<status>\w+)'
  unless: Nothing to do
  reply: |
    {key} is {status}; {"json": {unknown}} stays.
    /status in_progress
- when: Please fail
  error: overloaded
- when: Be slow
  reply: At last.
  delay: 0.05
- reply: Nothing to say.
"""


def answer(text: str, system: str = "You are Ada.", script: str = SCRIPT, deadline: float = 5.0) -> Completion:
    provider = ScriptedProvider(Endpoint("scripted", script=script))
    return asyncio.run(provider.complete(ask(text, system=system, deadline_seconds=deadline)))


def test_the_first_rule_that_fits_answers() -> None:
    assert answer("Issue: ACME-1\nStatus: todo").text.startswith("ACME-1 is todo;")
    assert answer("Status: todo").text == "Nothing to say."
    assert answer("Issue: ACME-1\nStatus: todo", system="You are Bo.").text == "Nothing to say."
    assert answer("Issue: ACME-1\nStatus: todo\nNothing to do").text == "Nothing to say."


def test_only_the_names_of_groups_are_replaced() -> None:
    assert '{"json": {unknown}} stays.\n/status in_progress\n' in answer("Issue: ACME-1\nStatus: todo").text


def test_what_a_prompt_holds_is_not_read_as_a_placeholder() -> None:
    script = "- {when: '(?P<word>\\S+) (?P<secret>\\S+)', reply: '{word}'}"
    assert answer("{secret} hidden", script=script).text == "{secret}"


def test_the_same_prompt_gets_the_same_answer() -> None:
    assert answer("Be slow").text == answer("Be slow").text == "At last."


def test_a_rule_may_fail_as_a_provider_does() -> None:
    with pytest.raises(AdapterError) as raised:
        answer("Please fail")
    assert raised.value.kind is ErrorKind.OVERLOADED


def test_an_answer_after_the_deadline_does_not_come() -> None:
    with pytest.raises(AdapterError) as raised:
        answer("Be slow", deadline=0.01)
    assert raised.value.kind is ErrorKind.NETWORK


def test_a_prompt_that_no_rule_fits_is_a_bad_request() -> None:
    with pytest.raises(AdapterError) as raised:
        answer("anything", script="- {when: something else, reply: x}")
    assert raised.value.kind is ErrorKind.BAD_REQUEST


def test_the_answer_says_that_no_model_gave_it_and_counts_by_itself() -> None:
    completion = answer("Issue: ACME-1\nStatus: todo")
    assert completion.model == "scripted"
    assert completion.usage.estimated
    assert completion.usage.input_tokens > 0


def test_a_script_can_be_cut_off_and_continued() -> None:
    script = f"""
- {{when: '{CONTINUE}', reply: 'tus done'}}
- {{reply: '/sta', stop: max_tokens}}
"""
    provider = ScriptedProvider(Endpoint("scripted", script=script))
    whole = complete_whole(lambda request: asyncio.run(provider.complete(request)), ask())
    assert whole.text == "/status done"
    assert whole.parts[0].stop_reason is StopReason.MAX_TOKENS


def test_a_rule_is_held_against_the_whole_conversation() -> None:
    provider = ScriptedProvider(Endpoint("scripted", script="- {when: [one, two, three], reply: x}"))
    messages = tuple(
        Message(role, text) for role, text in ((Role.USER, "one"), (Role.ASSISTANT, "two"), (Role.USER, "three"))
    )
    assert asyncio.run(provider.complete(ask(messages=messages))).text == "x"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "reply: x",
        "- just text",
        "- {reply: x, repl: y}",
        "- {when: x}",
        "- {reply: x, error: overloaded}",
        "- {error: tired}",
        "- {when: '(', reply: x}",
        "- {reply: x, delay: soon}",
        "- {reply: x, stop: never}",
        "- {reply: x",
    ],
)
def test_a_script_that_cannot_be_read_is_said_so(text: str) -> None:
    with pytest.raises(ScriptError):
        parse_script(text)
    with pytest.raises(AdapterError):
        ScriptedProvider(Endpoint("scripted", script=text))
