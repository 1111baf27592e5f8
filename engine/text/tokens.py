"""Counting tokens without the network: exactly where the encoding is known, else with a factor and a guard.

An encoding is built from its published rank file, which the caller locates; its hash is checked, because a
wrong file would not fail but count wrong.
"""

from __future__ import annotations

import binascii
import enum
import gzip
import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

import tiktoken

MESSAGE_TOKENS = 10
"""What a message costs beside its text, at most, with any provider."""

PIECE = 100_000
"""Characters encoded at once: the encoder gives up on some longer texts, such as a megabyte of spaces."""

FIRST_FACTOR = 1.5
"""Tokens of an unknown encoding for one of o200k, until replies have taught better: other vendors' counts on
English, code and JSON lie between 1.2 and 1.5."""

LEARNT_MARGIN = 1.25
"""How far a text may lie over the factor learnt from earlier ones."""

ASCII_GUARD, OTHER_GUARD = 2.0, 3.5
SINGLE = re.compile(r"[0-9]+|(.)\1{7,}", re.DOTALL)
"""What some encodings spend a token a character on: digits, and runs of one character."""
ASCII_OR_NOT = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")


class EncodingName(enum.StrEnum):
    O200K = "o200k_base"
    CL100K = "cl100k_base"


RANKS_SHA256 = {
    EncodingName.O200K: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    EncodingName.CL100K: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}

# How the encodings split a text into words before merging bytes: part of their definition, like the ranks.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORDS = {
    EncodingName.O200K: (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    EncodingName.CL100K: (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}


def load_encoding(name: EncodingName, ranks: Path) -> tiktoken.Encoding:
    """The encoding from its gzipped rank file. ValueError when the file is not the published one."""
    content = gzip.decompress(ranks.read_bytes())
    if hashlib.sha256(content).hexdigest() != RANKS_SHA256[name]:
        raise ValueError(f"{ranks} is not the rank file of {name}")
    pairs = (line.split() for line in content.splitlines())
    table = {binascii.a2b_base64(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(name, pat_str=WORDS[name], mergeable_ranks=table, special_tokens={})


@dataclass(frozen=True, slots=True)
class TokenMeter:
    """Counts a model's tokens.

    With `is_exact` the encoding is the model's own. Else `factor` turns its count into an estimate;
    `is_learnt` says that the factor comes from what the provider reported for this model.
    """

    encoding: tiktoken.Encoding
    is_exact: bool = False
    factor: float = FIRST_FACTOR
    is_learnt: bool = False

    def count(self, text: str) -> int:
        """Tokens by the encoding itself. Marks that the encoding reserves count as ordinary text."""
        pieces = range(0, len(text), PIECE)
        return sum(len(self.encoding.encode_ordinary(text[start : start + PIECE])) for start in pieces)

    def estimate(self, text: str) -> int:
        """The likeliest number of tokens: for showing."""
        return self.count(text) if self.is_exact else math.ceil(self.factor * self.count(text))

    def guard(self, text: str) -> int:
        """A number of tokens that the text does not exceed: for what must fit a window or a budget."""
        if self.is_exact:
            return self.count(text)
        if self.is_learnt:
            return math.ceil(self.factor * LEARNT_MARGIN * self.count(text))
        single = sum(len(found[0]) for found in SINGLE.finditer(text))
        return single + math.ceil(sum(map(self._guard_stretch, ASCII_OR_NOT.findall(SINGLE.sub(" ", text)))))

    def _guard_stretch(self, text: str) -> float:
        return self.count(text) * (ASCII_GUARD if text.isascii() else OTHER_GUARD)
