"""Logging: one readable line an event on the console, or one JSON object a line where a collector reads."""

from __future__ import annotations

import logging
import logging.config
import re
from collections.abc import Iterable, MutableMapping
from typing import Any

import structlog

from trimus.masking import mask

# Libraries that tell every request or poll at INFO; their warnings still show.
QUIET_LOGGERS = (
    "anthropic",
    "celery.app.trace",
    "celery.beat",
    "celery.worker.strategy",
    "django.request",
    "httpcore2",
    "httpx2",
    "mcp",
    "openai",
    "uvicorn.error",
)

_SECRETS = (
    re.compile(r"(?<=/login/)[\w-]+"),  # a link that logs somebody in, in the path of a request that failed
    re.compile(r"(?<=\btrh_)\w{8,}"),  # tokens of hooks, in the path of a request that failed
    re.compile(r"(?<=\btrm_)\w{8,}"),  # API keys of Trimus
    re.compile(r"(?<=\bsk-)[\w-]{8,}"),  # keys of the providers
)
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_ROW = re.compile(r"^DETAIL: .*?(?=\n\nThe above exception|\n\nDuring handling|\Z)", re.MULTILINE | re.DOTALL)
"""What PostgreSQL adds to an error: the row that it refused, with all its texts."""


def configure(options: dict[str, Any]) -> None:
    """Set up logging for the process; Django calls it with the setting LOGGING.

    `options`: `json` (one object a line) and `debug_topics` (topic `parser` opens the logger `trimus.parser` at DEBUG).
    """
    logging.config.dictConfig(logging_config(**options))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.add_log_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def without_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The event with keys, log-in links and rows of the database taken out of whatever words it has. The last word of
    defence: what is logged is chosen not to hold any."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = _cleaned(value)
    return event


def on_one_line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The event with line ends and other control characters of its words as codes: what somebody sent, an address for
    one, begins no line that looks like another event. Tracebacks keep their lines."""
    for name, value in event.items():
        if isinstance(value, str) and name not in ("exception", "stack"):
            event[name] = _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
    return event


def _cleaned(text: str) -> str:
    for secret in _SECRETS:
        text = secret.sub("…", text)
    return _ROW.sub("DETAIL: …", text)


def logging_config(*, json: bool, debug_topics: Iterable[str]) -> dict[str, Any]:
    """The dictionary for `logging.config.dictConfig`."""
    quiet = {name: {"level": "WARNING"} for name in QUIET_LOGGERS}
    topics = {f"trimus.{topic}": {"level": "DEBUG"} for topic in debug_topics}
    processors = [*(_json_processors() if json else _console_processors()), _mask_secrets]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [
                    structlog.contextvars.merge_contextvars,
                    structlog.stdlib.add_logger_name,
                    structlog.stdlib.add_log_level,
                ],
                "processors": processors,
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": quiet | topics,
    }


def _mask_secrets(_logger: object, _name: str, line: str) -> str:
    """The last step: in the whole line, whatever part of it holds a secret."""
    return mask(line)


def _console_processors() -> list[Any]:
    return [
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        without_secrets,
        on_one_line,
        structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, pad_level=False),
    ]


def _json_processors() -> list[Any]:
    return [
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        without_secrets,
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
