"""Every verb there is, in the order in which agents are shown them. A new verb is its module and one line here."""

from __future__ import annotations

from collections.abc import Mapping

from engine.text.grammar import Grammar
from engine.verbs import (
    ask,
    assign,
    blocked_by,
    comment_on,
    create_issue,
    install_agent,
    install_routine,
    install_skill,
    label,
    pass_,
    priority,
    record_finding,
    request_approval,
    review,
    status,
    unblock,
    unlabel,
    use_skill,
    write_file,
)
from engine.verbs.base import Verb

VERBS: tuple[Verb, ...] = (
    status.VERB,
    assign.VERB,
    priority.VERB,
    label.VERB,
    unlabel.VERB,
    blocked_by.VERB,
    unblock.VERB,
    create_issue.VERB,
    comment_on.VERB,
    request_approval.VERB,
    ask.VERB,
    review.VERB,
    use_skill.VERB,
    write_file.VERB,
    record_finding.VERB,
    install_skill.VERB,
    install_agent.VERB,
    install_routine.VERB,
    pass_.VERB,
)

BY_NAME: Mapping[str, Verb] = {verb.name: verb for verb in VERBS}
GRAMMAR: Grammar = {verb.name: verb.grammar for verb in VERBS}

if len(BY_NAME) != len(VERBS):
    raise ValueError("two verbs share a name")
