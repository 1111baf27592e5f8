"""What the operator says of models: `models.yaml` in the data directory, above what the catalogue knows.

    llama3.1:8b:
      context_window: 8192
      max_output_tokens: 1024
      thinking: none          # or effort, or budget
      price: {input: 0.1, output: 0.4, cached_input: 0.05, cache_write: 0.1}   # US dollars a million tokens

A file that cannot be read changes nothing: what it said before still holds, and `manage.py check` and the log say
what is wrong.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import structlog
import yaml
from django.conf import settings
from django.utils import timezone

from agents.adapters.base import Endpoint
from agents.adapters.thinking import BUDGET_THINKING, COMMON_EFFORTS, NO_THINKING
from agents.catalogue import ModelEntry, OwnEntry, Price, look_up

log = structlog.get_logger(__name__)

FILE = "models.yaml"


def entry_for(endpoint: Endpoint, model: str) -> ModelEntry:
    """What is known of a model now, the operator's word first."""
    return look_up(endpoint, model, when=timezone.now(), own=own_models().entries)


@dataclass(frozen=True, slots=True)
class OwnModels:
    """The file as it was last read. `problem` says what is wrong with it now; empty: nothing."""

    entries: tuple[OwnEntry, ...] = ()
    problem: str = ""
    stamp: tuple[int, int] | None = None


_reading = threading.Lock()
_read = OwnModels()


def own_models() -> OwnModels:
    """The operator's entries, read again when the file has changed."""
    global _read
    path = Path(settings.DATA_DIR) / FILE
    with _reading:
        stamp = _stamp(path)
        if stamp != _read.stamp:
            _read = _reread(path, stamp, _read.entries)
        return _read


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _reread(path: Path, stamp: tuple[int, int] | None, before: tuple[OwnEntry, ...]) -> OwnModels:
    if stamp is None:
        return OwnModels()
    try:
        return OwnModels(read_own_entries(path.read_text("utf-8")), stamp=stamp)
    except (OSError, ValueError) as error:
        log.error("models.unreadable", file=str(path), error=str(error))
        return OwnModels(before, f"{path} cannot be used: {error}", stamp)


_OWN_FIELDS = {"context_window", "max_output_tokens", "thinking", "price"}
_PRICE_FIELDS = {"input", "output", "cached_input", "cache_write"}
_OWN_STYLES = {"none": NO_THINKING, "effort": COMMON_EFFORTS, "budget": BUDGET_THINKING}


def read_own_entries(text: str) -> tuple[OwnEntry, ...]:
    """The operator's entries from YAML: models by name, each with any of context_window, max_output_tokens,
    thinking (none, effort or budget) and price (input, output and perhaps cached_input and cache_write, in US
    dollars a million tokens). Raises ValueError that says which model is wrong.
    """
    try:
        models = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"The models are no YAML: {error}") from error
    if not isinstance(models, dict):
        raise ValueError("The models must stand by their names.")
    return tuple(_own(str(model), fields) for model, fields in models.items())


def _own(model: str, fields: object) -> OwnEntry:
    if not isinstance(fields, dict) or not fields.keys() <= _OWN_FIELDS:
        raise ValueError(f"{model} may have {', '.join(sorted(_OWN_FIELDS))} and nothing else.")
    try:
        return OwnEntry(
            model=model,
            context_window=_positive(fields.get("context_window")),
            max_output_tokens=_positive(fields.get("max_output_tokens")),
            thinking=_OWN_STYLES[fields["thinking"]] if "thinking" in fields else None,
            price=_own_price(fields["price"]) if "price" in fields else None,
        )
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{model} cannot be read: {error}") from error


def _positive(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is no number of tokens")
    return value


def _own_price(fields: object) -> Price:
    if not isinstance(fields, dict) or not fields.keys() <= _PRICE_FIELDS:
        raise ValueError(f"a price has {', '.join(sorted(_PRICE_FIELDS))} and nothing else")
    per_input = _dollars(fields["input"])
    return Price(
        input=per_input,
        output=_dollars(fields["output"]),
        cached_input=_dollars(fields.get("cached_input", per_input)),
        cache_write=_dollars(fields.get("cache_write", per_input)),
    )


def _dollars(value: object) -> Decimal:
    amount = Decimal(str(value))
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{value!r} is no price")
    return amount
