"""Secrets in texts: told by their form, or known by their value. Pure; prompts, services and logs all use it.

Every form begins with fixed characters, and what follows is taken without going back over it, so finding takes a time
linear in the text whatever the text is. Only forms that hardly anything else has are here: a warning that is often
wrong is not read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

KNOWN_BY_VALUE = 16
"""Characters from which a configured key is looked for by its value. All providers' are longer; servers at home are
given words for keys, and masking every “lm-studio” would garble what people write."""

OF_THIS_INSTALLATION = "model key of this installation"


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of secret: fixed characters that are in each, and the whole form. `varied`: it holds letters and digits,
    which tells it from words joined by hyphens."""

    kind: str
    mark: str
    pattern: re.Pattern[str]
    varied: bool = False


def _form(kind: str, begins: str, rest: str, *, not_after: str = "A-Za-z0-9", varied: bool = False) -> _Form:
    """A form that begins with these characters, and not directly after one of `not_after`."""
    start = re.escape(begins)
    guard = rf"(?<![{not_after}]{start})" if not_after else ""
    return _Form(kind, begins, re.compile(start + guard + rest, re.DOTALL), varied)


_WORD = r"[A-Za-z0-9_-]"
_PRIVATE_KEY = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_FORMS = (
    _form("private key", "-----BEGIN ", rf"({_PRIVATE_KEY})-----(?:.*?-----END \1-----|.*)", not_after=""),
    _form("private key", "PuTTY-User-Key-File-", r"\d:.*", not_after=""),
    _form("JSON Web Token", "eyJ", rf"{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+", not_after="A-Za-z0-9_-"),
    _form("Anthropic key", "sk-ant-", rf"{_WORD}{{20,}}+"),
    _form("OpenRouter key", "sk-or-", rf"{_WORD}{{20,}}+"),
    _form("OpenAI key", "sk-", rf"(?!ant-|or-){_WORD}{{20,}}+", varied=True),
    _form("Google key", "AIza", rf"{_WORD}{{35}}"),
    _form("Google token", "ya29.", rf"{_WORD}{{20,}}+"),
    _form("Google OAuth secret", "GOCSPX-", rf"{_WORD}{{24,}}+"),
    _form("AWS key", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form("AWS key", "ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form("AWS secret key", "aws_secret_access_key", r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?[A-Za-z0-9/+]{40}"),
    _form("Azure key", "AccountKey=", r"[A-Za-z0-9+/]{80,}+={0,2}"),
    *(_form("GitHub token", f"gh{letter}_", r"[A-Za-z0-9]{36,}+") for letter in "pousr"),
    _form("GitHub token", "github_pat_", r"[A-Za-z0-9_]{40,}+"),
    _form("GitLab token", "glpat-", rf"{_WORD}{{20,}}+"),
    *(_form("Slack token", f"xox{letter}-", r"[A-Za-z0-9-]{20,}+", varied=True) for letter in "abeoprs"),
    _form("Slack token", "xapp-", r"[A-Za-z0-9-]{20,}+", varied=True),
    _form("Slack webhook", "hooks.slack.com/services/", r"T[A-Z0-9]{6,}+/B[A-Z0-9]{6,}+/[A-Za-z0-9]{16,}+"),
    *(_form("Stripe key", f"{kind}_live_", r"[A-Za-z0-9]{16,}+") for kind in ("sk", "rk")),
    *(_form("Stripe key", f"{kind}_test_", r"[A-Za-z0-9]{16,}+") for kind in ("sk", "rk")),
    _form("Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/]{24,}+"),
    _form("Groq key", "gsk_", r"[A-Za-z0-9]{40,}+"),
    _form("xAI key", "xai-", r"[A-Za-z0-9]{40,}+"),
    _form("Perplexity key", "pplx-", r"[A-Za-z0-9]{32,}+"),
    _form("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}+"),
    _form("Replicate token", "r8_", r"[A-Za-z0-9]{30,}+"),
    _form("npm token", "npm_", r"[A-Za-z0-9]{36,}+"),
    _form("PyPI token", "pypi-", rf"AgE{_WORD}{{40,}}+"),
    _form("SendGrid key", "SG.", rf"{_WORD}{{16,}}+\.{_WORD}{{16,}}+"),
    _form("Databricks token", "dapi", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _form("DigitalOcean token", "dop_v1_", r"[0-9a-f]{64}"),
    *(_form("Shopify token", f"shp{kind}_", r"[0-9a-fA-F]{32}") for kind in ("at", "ca", "pa", "ss")),
    _form("Linear key", "lin_api_", r"[A-Za-z0-9]{32,}+"),
    _form("Notion token", "ntn_", r"[A-Za-z0-9]{40,}+"),
    _form("Trimus key", "trm_", r"[0-9a-f]{48}"),
)  # fmt: skip


def find_secrets(text: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """The kinds of secrets that the text seems to hold, each once, sorted. `known` are values to look for."""
    kinds = {kind for kind, _, _ in _found(text)}
    if any(value in text for value in _worth_looking_for(known)):
        kinds.add(OF_THIS_INSTALLATION)
    return tuple(sorted(kinds))


def mask_secrets(text: str, known: Collection[str] = ()) -> str:
    """The text with each secret replaced by what kind it is. `known` are values that are masked wherever they stand."""
    text = mask_known(text, known)
    parts: list[str] = []
    done = 0
    for kind, start, end in sorted(_found(text), key=lambda found: (found[1], -found[2])):
        if start < done:  # in another one
            continue
        parts.append(text[done:start])
        parts.append(f"[masked: {kind}]")
        done = end
    return "".join((*parts, text[done:])) if parts else text


def mask_known(text: str, known: Collection[str]) -> str:
    """The text without the values, whatever their form."""
    for value in _worth_looking_for(known):
        if value in text:
            text = text.replace(value, f"[masked: {OF_THIS_INSTALLATION}]")
    return text


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each."""
    for form in _FORMS:
        if form.mark not in text:
            continue
        for match in form.pattern.finditer(text):
            if not form.varied or _is_varied(match.group()):
                yield form.kind, match.start(), match.end()


def _is_varied(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value[4:]))


def _worth_looking_for(known: Collection[str]) -> list[str]:
    """The longest first: one may be the beginning of another."""
    return sorted({value for value in known if len(value) >= KNOWN_BY_VALUE}, key=len, reverse=True)
