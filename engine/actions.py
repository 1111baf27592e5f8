"""The way from a reply to its actions, for everything outside `engine.text`."""

from __future__ import annotations

import logging

from engine.text.parser import parse
from engine.text.types import AgentReply
from engine.verbs.registry import GRAMMAR

LOGGED = 200
"""Characters of a dropped line that are logged: which one it was. The run's page has all of it."""

# Silent unless the settings lower its level, which TRIMUS_DEBUG=parser makes them do.
logger = logging.getLogger("trimus.parser")


def parse_agent_actions(reply: str) -> AgentReply:
    """What an agent's reply does and says, by the verbs of the registry.

    Pure, linear in the reply, and without an error for any string. `AgentReply.prose` becomes the comment.
    """
    parsed = parse(reply, GRAMMAR)
    if logger.isEnabledFor(logging.DEBUG):
        for dropped in parsed.dropped:
            logger.debug("line %d dropped, %s: %r", dropped.number, dropped.reason, dropped.line[:LOGGED])
    return parsed
