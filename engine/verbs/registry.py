"""Every verb there is. A new one is its module, whose `VERB` declares it, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from engine.text.grammar import Grammar
from engine.verbs.base import Verb

MODULES = (
    "status",
    "assign",
    "priority",
    "label",
    "unlabel",
    "blocked_by",
    "unblock",
    "create_issue",
    "comment_on",
    "request_approval",
    "ask",
    "review",
    "use_skill",
    "write_file",
    "record_finding",
    "install_skill",
    "install_agent",
    "install_routine",
    "note",
    "forget",
    "remember",
    "pass_",
    "help_",
)
"""In the order in which agents are shown the verbs."""

VERBS: tuple[Verb, ...] = tuple(import_module(f"engine.verbs.{module}").VERB for module in MODULES)

BY_NAME: Mapping[str, Verb] = {verb.name: verb for verb in VERBS}
GRAMMAR: Grammar = {verb.name: verb.grammar for verb in VERBS}

if len(BY_NAME) != len(VERBS):
    raise ValueError("two verbs share a name")
