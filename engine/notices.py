"""Sending notices by e-mail: claimed, sent, settled. No transaction and no connection to the database is held while the
mail server is spoken to, and a server that is away costs nothing but delay."""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from django.conf import settings
from django.core import mail

from engine.routing import secrets_of
from engine.turns import database_turn
from issues.letters import write_letter
from issues.models import Notice
from issues.services.notices import claim_due, hold_all, note_new, note_refused, note_sent, put_off

log = structlog.get_logger(__name__)

SHUTTING_DOWN = 421
"""The one refusal that speaks of the server and not of the letter."""


@dataclass(slots=True)
class _Outcome:
    """What became of each notice."""

    sent: list[Notice] = field(default_factory=list)
    refused: list[tuple[Notice, str]] = field(default_factory=list)
    put_off: list[tuple[Notice, str]] = field(default_factory=list)
    away: str = ""


def deliver_notices() -> None:
    """Send what is due, where e-mail is set up."""
    if not settings.NOTICES_BY_MAIL:
        return
    with database_turn():
        note_new()
        notices = claim_due()
        letters = [(notice, write_letter(notice, secrets_of(notice.item.company))) for notice in notices]
    if not letters:
        return
    outcome = _send(letters)
    with database_turn():
        _settle(outcome)


def _send(letters: Sequence[tuple[Notice, mail.EmailMessage]]) -> _Outcome:
    """Over one connection. After the first failure of the server itself the others are put off untried."""
    outcome = _Outcome()
    try:
        connection = mail.get_connection()
        connection.open()
    except (OSError, smtplib.SMTPException) as error:
        outcome.away = _words(error)
        outcome.put_off = [(notice, outcome.away) for notice, _ in letters]
        return outcome
    for notice, letter in letters:
        if outcome.away:
            outcome.put_off.append((notice, outcome.away))
            continue
        try:
            connection.send_messages([letter])
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            codes = _codes(error)
            if SHUTTING_DOWN in codes:
                outcome.away = _words(error)
            is_final = all(500 <= code < 600 for code in codes)
            (outcome.refused if is_final else outcome.put_off).append((notice, _words(error)))
        except (OSError, smtplib.SMTPException) as error:
            outcome.away = _words(error)
            outcome.put_off.append((notice, outcome.away))
        else:
            outcome.sent.append(notice)
    try:
        connection.close()
    except (OSError, smtplib.SMTPException) as error:
        log.info("notices.unclosed", error=str(error))
    return outcome


def _settle(outcome: _Outcome) -> None:
    note_sent(outcome.sent)
    for notice, error in outcome.refused:
        log.warning("notice.refused", notice=notice.pk, error=error)
        note_refused(notice, error)
    for notice, error in outcome.put_off:
        log.warning("notice.put_off", notice=notice.pk, error=error)
        put_off(notice, error)
    if outcome.away:
        hold_all(outcome.away)


def _codes(error: smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused) -> list[int]:
    """What the server answered: 5xx is never, 4xx is not now."""
    if isinstance(error, smtplib.SMTPResponseException):
        return [error.smtp_code]
    return [code for code, _ in error.recipients.values()]


def _words(error: Exception) -> str:
    """The error on one line. It holds what the server said, never what was said to it."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()))
        return f"{code} {_text(said)}"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_text(error.smtp_error)}"
    return " ".join(str(error).split()) or type(error).__name__


def _text(said: bytes | str) -> str:
    return " ".join((said.decode(errors="replace") if isinstance(said, bytes) else said).split())
