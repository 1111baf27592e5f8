"""What went wrong, read from what a server or an SDK says, as one of six kinds.

The SDKs' own classes tell less than the words beside them: a used-up quota is a "rate limit", a prompt that
is too long a "bad request", and an error in the middle of a stream carries the status 200.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from agents.adapters.base import AdapterError, Endpoint, ErrorKind
from agents.adapters.public_addresses import NotPublicError

MESSAGE_LIMIT = 500  # characters of a server's words; some answer with a whole page
_LONGEST_WAIT = 86_400.0  # a retry-after beyond a day is a broken clock


@dataclass(frozen=True, slots=True)
class Symptom:
    """What a provider said of a failure. `status` is None or 200 for an error in the middle of a stream."""

    status: int | None
    text: str
    code: str = ""
    type: str = ""

    @property
    def http_status(self) -> int | None:
        """The status that counts: gateways put the real one into the code of an error that they stream."""
        if self.status in (None, 200) and re.fullmatch(r"[45]\d\d", self.code):
            return int(self.code)
        return self.status


_BILLING_WORDS = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "contract_spend_limit_reached",
    "enforced_spend_limit_reached",
}
_AUTH_WORDS = {"authentication_error", "permission_error", "invalid_api_key"}
_REFUSAL_WORDS = {"content_policy_violation", "content_filter", "invalid_prompt"}
_CONTEXT_WORDS = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
    "request_too_large",
}
_TIMEOUT_WORDS = {"timeout_error", "timeout"}
_OVERLOAD_WORDS = {
    "overloaded_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "api_error",
    "server_error",
    "internal_error",
    "internal_server_error",
    "unavailable_error",
}
_BAD_REQUEST_WORDS = {"invalid_request_error", "not_found_error"}

_BILLING_PHRASES = re.compile(
    r"credit balance is too low|insufficient (?:credits|funds|balance)|exceeded your current quota"
    r"|spend(?:ing)? limit|usage limits? .{0,40}reached|reached your .{0,40}usage limit",
    re.IGNORECASE,
)
_REFUSAL_PHRASES = re.compile(
    r"content filter(?:ing)?|content management policy|usage polic(?:y|ies)|safety system|input was flagged"
    r"|requires moderation",
    re.IGNORECASE,
)
_CONTEXT_PHRASES = re.compile(
    r"(?:maximum|max|available) (?:context|model) (?:length|size|window)|context (?:length|window|limit|size)"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|reduce the length of the messages"
    r"|input token count .{0,40}exceeds|tokens? \+ `?max_new_tokens|request too large for",
    re.IGNORECASE,
)

_NETWORK_STATUSES = {408, 499, 504, 524}
_OVERLOAD_STATUSES = {409, 425, 429}


def kind_of(symptom: Symptom) -> ErrorKind:
    """The kind of a failure that a server reported.

    The order matters: money and policy are told in words under several statuses, and a limit of tokens a
    minute that a single prompt exceeds is no rate limit, since waiting does not mend it.
    """
    status = symptom.http_status
    words = {symptom.code.lower(), symptom.type.lower()}
    if status in (401, 402) or words & (_BILLING_WORDS | _AUTH_WORDS) or _BILLING_PHRASES.search(symptom.text):
        return ErrorKind.AUTH
    if words & _REFUSAL_WORDS or _REFUSAL_PHRASES.search(symptom.text):
        return ErrorKind.REFUSED
    if status == 403:
        return ErrorKind.AUTH
    if status == 413 or words & _CONTEXT_WORDS or _CONTEXT_PHRASES.search(symptom.text):
        return ErrorKind.CONTEXT_TOO_LONG
    return _kind_of_trouble(status, words)


def _kind_of_trouble(status: int | None, words: set[str]) -> ErrorKind:
    """The kind of a failure that is neither about money, policy nor length."""
    if status in _NETWORK_STATUSES or words & _TIMEOUT_WORDS:
        return ErrorKind.NETWORK
    if status in _OVERLOAD_STATUSES or words & _OVERLOAD_WORDS:
        return ErrorKind.OVERLOADED
    if status == 501 or words & _BAD_REQUEST_WORDS:
        return ErrorKind.BAD_REQUEST
    if status in (None, 200) or status >= 500:
        return ErrorKind.OVERLOADED  # an answer had begun: the server's trouble, not the request's
    return ErrorKind.BAD_REQUEST


def reported_failure(
    symptom: Symptom, endpoint: Endpoint, headers: Mapping[str, str], *, request_id: str = ""
) -> AdapterError:
    """The failure that a server reported, in its own words without keys."""
    label = redact(
        " ".join(str(part) for part in (symptom.http_status, symptom.code or symptom.type) if part), endpoint
    )
    said = redact(symptom.text, endpoint)
    return AdapterError(
        kind_of(symptom),
        f"{endpoint.host} answered {label}: {said}" if label else f"{endpoint.host} reported: {said}",
        retry_after=retry_after(headers),
        provider_request_id=request_id,
    )


def transport_failure(error: Exception, endpoint: Endpoint) -> AdapterError | None:
    """The failure behind what goes wrong below the SDKs and may come through raw; None if unknown."""
    if isinstance(error, NotPublicError):
        return AdapterError(
            ErrorKind.BAD_REQUEST,
            f"{endpoint.host} leads into the network of this server, where addresses set by a company may not lead.",
        )
    if isinstance(error, httpx2.ConnectTimeout):
        return AdapterError(ErrorKind.NETWORK, f"{endpoint.host} did not take the connection in time.")
    if isinstance(error, httpx2.TimeoutException):
        return AdapterError(
            ErrorKind.NETWORK, f"{endpoint.host} said nothing for {endpoint.read_timeout_seconds:g} seconds."
        )
    if isinstance(error, httpx2.HTTPError):
        reason = redact(str(error), endpoint) or type(error).__name__
        return AdapterError(ErrorKind.NETWORK, f"The connection to {endpoint.host} failed: {reason}")
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | UnreadableError):
        return unreadable(endpoint)
    return None


class UnreadableError(Exception):
    """A server sent something that its protocol does not have."""


def unreadable(endpoint: Endpoint) -> AdapterError:
    return AdapterError(ErrorKind.NETWORK, f"{endpoint.host} sent an answer that cannot be read.")


def cut_off(endpoint: Endpoint) -> AdapterError:
    """A stream that ended without saying why: the SDKs report nothing, yet the answer is a fragment."""
    return AdapterError(ErrorKind.NETWORK, f"The answer of {endpoint.host} broke off before its end.")


def too_slow(endpoint: Endpoint, seconds: float) -> AdapterError:
    return AdapterError(ErrorKind.NETWORK, f"{endpoint.host} did not finish its answer within {seconds:.0f} seconds.")


# Servers at home are given words like "x" for a key; taking those out would garble every message.
_SHORTEST_KEY = 6
_KEY_SHAPES = re.compile(r"(?i:bearer)\s+[^\s'\"]+|\b(?:sk|pk|key|gsk|xai)-[\w*.\-]{4,}")


def redact(text: str, endpoint: Endpoint) -> str:
    """A server's words on one line, cut to a readable length, without what is or looks like a key.

    Servers echo keys, whole or with stars in the middle.
    """
    key = endpoint.api_key.strip()
    if len(key) >= _SHORTEST_KEY:
        text = text.replace(key, "[key]")
    text = " ".join(_KEY_SHAPES.sub("[key]", text).split())
    return text if len(text) <= MESSAGE_LIMIT else text[:MESSAGE_LIMIT].rstrip() + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, from either header that says so; None if from neither."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is None and value:
        seconds = _seconds_until(value)
    return seconds


def _number(value: str | None) -> float | None:
    if value is None or not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", value.strip()):
        return None
    return min(float(value), _LONGEST_WAIT)


def _seconds_until(date: str) -> float | None:
    try:
        moment = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    return min(max(moment.timestamp() - time.time(), 0.0), _LONGEST_WAIT)
