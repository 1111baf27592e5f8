"""Colours for code in texts: few, and only where they help reading."""

from __future__ import annotations

import html
from typing import Final

HIGHLIGHT_CLASSES: Final = frozenset({"hl-k", "hl-s", "hl-c", "hl-n", "hl-f"})

# Languages whose Pygments lexers are known to take time linear in the text. Others are shown without colours.
_LANGUAGES: Final = {
    "bash": "bash", "c": "c", "css": "css", "diff": "diff", "go": "go", "html": "html", "java": "java",
    "javascript": "javascript", "js": "javascript", "json": "json", "py": "python", "python": "python", "rust": "rust",
    "sh": "bash", "shell": "bash", "sql": "sql", "toml": "toml", "ts": "typescript", "typescript": "typescript",
    "yaml": "yaml", "yml": "yaml",
}  # fmt: skip

MOST_CHARACTERS = 16_000
"""Longer code is shown without colours: lexing it would cost more than the rest of the page."""


def highlight(code: str, language: str) -> str:
    """The code as escaped HTML with spans of `HIGHLIGHT_CLASSES`; without spans where the language is not known."""
    name = _LANGUAGES.get(language)
    if name is None or len(code) > MOST_CHARACTERS:
        return html.escape(code)
    # Pygments takes 40 ms to import, and most texts hold no code.
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return "".join(_span(str(kind), value) for kind, value in lexer.get_tokens(code))


def _span(kind: str, value: str) -> str:
    shown = html.escape(value)
    css = _class_of(kind)
    return f'<span class="{css}">{shown}</span>' if css and value.strip() else shown


def _class_of(kind: str) -> str:
    if kind.startswith(("Token.Keyword", "Token.Generic.Deleted", "Token.Name.Tag")):
        return "hl-k"
    if kind.startswith(("Token.Literal.String", "Token.Generic.Inserted")):
        return "hl-s"
    if kind.startswith("Token.Comment"):
        return "hl-c"
    if kind.startswith(("Token.Literal.Number", "Token.Keyword.Constant")):
        return "hl-n"
    if kind.startswith(("Token.Name.Function", "Token.Name.Class", "Token.Name.Attribute", "Token.Generic.Subheading")):
        return "hl-f"
    return ""
