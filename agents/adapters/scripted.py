"""Answers from a script, for tests and the demo company: no model, no network, no cost."""

from __future__ import annotations

import asyncio
import time

from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind, ModelRequest
from agents.adapters.counting import estimated_usage
from agents.adapters.script import Rule, ScriptError, parse_script

MODEL = "scripted"


class ScriptedProvider:
    """The endpoint's script as a provider. Its usage is counted here, as no model reports any."""

    def __init__(self, endpoint: Endpoint) -> None:
        try:
            self._rules = parse_script(endpoint.script)
        except ScriptError as error:
            raise AdapterError(ErrorKind.BAD_REQUEST, str(error)) from error

    async def complete(self, request: ModelRequest) -> Completion:
        """See Provider."""
        started = time.monotonic()
        conversation = "\n\n".join(message.text for message in request.messages)
        rule, groups = self._fitting(request.system, conversation)
        await asyncio.sleep(min(rule.delay, request.deadline_seconds))
        if rule.delay > request.deadline_seconds:
            raise AdapterError(ErrorKind.NETWORK, "The script answers after the deadline.")
        if rule.error:
            raise AdapterError(rule.error, "The script answers this prompt with a failure.")
        text = rule.reply_with(groups)
        return Completion(
            text=text,
            model=MODEL,
            stop_reason=rule.stop,
            usage=estimated_usage(request, text),
            seconds=time.monotonic() - started,
        )

    async def close(self) -> None:
        """See Provider. There is nothing to close."""

    def _fitting(self, system: str, conversation: str) -> tuple[Rule, dict[str, str]]:
        for rule in self._rules:
            groups = rule.groups(system, conversation)
            if groups is not None:
                return rule, groups
        raise AdapterError(ErrorKind.BAD_REQUEST, "No rule of the script fits this prompt.")
