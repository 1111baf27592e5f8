"""What may end a run, told to people: what it means, and the next sensible step."""

from __future__ import annotations

from dataclasses import dataclass

from agents.adapters.base import ErrorKind


@dataclass(frozen=True, slots=True)
class Explanation:
    """`meaning` is a sentence for whoever reads the run first; `next_step` says what to do, or that nothing is."""

    meaning: str
    next_step: str


UNKNOWN = Explanation("The run failed.", "Run it again; if it fails alike, the log of the worker has the details.")

_EXPLANATIONS = {
    ErrorKind.NETWORK: Explanation(
        "The model's server could not be reached, or broke off.",
        "It is tried again by itself, up to three times. If that does not help, look whether the server is up and"
        " whether this machine reaches it.",
    ),
    ErrorKind.OVERLOADED: Explanation(
        "The model's server had too much to do.",
        "It is tried again by itself, up to three times. If it goes on, let fewer agents run at once, or ask the"
        " provider for a higher limit.",
    ),
    ErrorKind.AUTH: Explanation(
        "The provider did not accept the key, or the account behind it has nothing left.",
        "Look at the key and at the account's balance, then run it again. Settings, Models shows which key is set.",
    ),
    ErrorKind.REFUSED: Explanation(
        "The model, or its provider's rules, declined to answer.",
        "Read the prompt below for what it may have stumbled over, reword the issue, or give the agent another model.",
    ),
    ErrorKind.CONTEXT_TOO_LONG: Explanation(
        "The prompt was longer than the model can read.",
        "It was made leaner once already. Shorten the largest sections below, or give the agent a model with a larger"
        " window.",
    ),
    ErrorKind.BAD_REQUEST: Explanation(
        "The provider did not understand what it was asked.",
        "Most often the model's name is wrong, or the model lacks what was asked of it. Look at the agent's model.",
    ),
    ErrorKind.PROGRAM: Explanation(
        "The agent's program could not be run, or ended without a reply.",
        "What it said stands above and below. `manage.py doctor` says whether the server has the program; the agent's"
        " page shows the command.",
    ),
    "budget": Explanation(
        "The budget had no room for the call.",
        "Nothing is lost: it runs once there is room. An owner can raise the budget, or wait for the next month.",
    ),
    "silent": Explanation(
        "The model answered nothing, twice.",
        "Run it again. If it stays silent, the limit of its answer may be too low for a model that thinks, or the model"
        " too small.",
    ),
    "prompt_too_large": Explanation(
        "Even the parts that must be shown do not fit into the model's window.",
        "Shorten the agent's instructions, the skills or the issue's description, or take a larger model.",
    ),
    "lost": Explanation(
        "Whoever was at work on it was not heard of again.",
        "Nothing was applied. What woke the agent is tried again by itself, up to three times.",
    ),
    "error": Explanation(
        "Something went wrong inside of Trimus.",
        "Run it again. If it fails alike, report it with the line above: it is a bug.",
    ),
}


def explain_failure(kind: str) -> Explanation:
    """What an error kind of a run means and what to do about it. One that nobody has words for is told as unknown."""
    return _EXPLANATIONS.get(kind, UNKNOWN)


def explained_kinds() -> frozenset[str]:
    return frozenset(_EXPLANATIONS)
