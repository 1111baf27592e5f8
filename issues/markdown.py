"""Markdown of people and agents, rendered so that nothing in it can act.

Three fences, each enough by itself for most of what could go wrong: markdown-it parses with raw HTML off, the rules
below build every link and image themselves, and nh3 lets a short list of tags and attributes pass. What no browser
shows but a model reads (zero-width and direction marks, tag characters) is made visible.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from issues.hidden_characters import HIDDEN, mark_hidden
from issues.highlighting import HIGHLIGHT_CLASSES, highlight
from issues.rendered import RenderedTexts

DEEPEST = 15
"""Nesting from which a text is shown as plain text: markdown-it drops what nests over 20 deep without a word, and
then agents would see what people do not."""

MOST_CELLS = 10_000
"""Cells of all tables together. A sparse table of 10 kB can make a million of them."""

MOST_MARKS = 10_000
"""Characters that may open a link or emphasis: `[`, `*`, `_` and `~` together. markdown-it looks for the end of each,
and what lies between brackets it reads twice. Of 64 kB, 50,000 asterisks between brackets take it 2.8 s, 20,000 marks
1 s, 10,000 half a second. With this and the limits beside it, no child that could be ended is needed to hold a
rendering under a second: `tests/web/test_markdown.py` tries the shapes that cost most."""

MOST_ITEMS = 10_000
"""Items of lists and levels of quotations that lines begin with. 30,000 take 1 s."""

MOST_BYTES = 64_000
"""Longer texts are shown plain; no text of the tracker is longer."""

_BEGINS = re.compile(r"^(?:[ \t]*(?:[-*+>]|\d{1,9}[.)]))+", re.MULTILINE)
_ITEM = re.compile(r"[-*+>.)]")

_TAGS: Final = {
    "a", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol",
    "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES: Final = {"a": {"href", "rel"}, "img": {"src", "alt"}, "ol": {"start"}}
_CLASSES: Final = {
    "a": {"mention", "issue-link"},
    "div": {"table"},
    "span": {"host", "code-point", *HIGHLIGHT_CLASSES},
    "td": {"end", "middle"},
    "th": {"end", "middle"},
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: its company's key, and the handles that can be named there."""

    key: str
    handles: frozenset[str] = frozenset()

    @property
    def root(self) -> str:
        return f"/{self.key.lower()}/"


_rendered = RenderedTexts(limit_characters=16_000_000)


def render_markdown(text: str, place: Place) -> SafeString:
    """The text as safe HTML. What is too deep, too wide or too long to be shown as it is meant is shown plain."""
    return _rendered.get((text, place), lambda: _render(text, place))


def show_hidden(text: str) -> SafeString:
    """Plain text as HTML, with invisible and direction-changing characters shown as their codes."""
    return mark_safe(mark_hidden(html.escape(text)))  # noqa: S308 - escaped here


def _render(text: str, place: Place) -> SafeString:
    if _costs_too_much(text):
        return _plain(text)
    parser = _parser()
    environment: dict[str, Any] = {"place": place}
    tokens = parser.parse(text, environment)
    if _depth(tokens) > DEEPEST:
        return _plain(text)
    raw = parser.renderer.render(tokens, parser.options, environment)
    clean = nh3.clean(
        raw, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES, url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )  # fmt: skip
    return mark_safe(clean)  # noqa: S308 - cleaned on the line above


def _plain(text: str) -> SafeString:
    return mark_safe(f"<pre>{show_hidden(text)}</pre>")  # noqa: S308 - escaped by show_hidden


def _costs_too_much(text: str) -> bool:
    return (
        len(text.encode("utf-8", "replace")) > MOST_BYTES
        or sum(map(text.count, "[*_~")) > MOST_MARKS
        or sum(len(_ITEM.findall(begin)) for begin in _BEGINS.findall(text)) > MOST_ITEMS
        or _count_cells(text) > MOST_CELLS
    )


def _count_cells(text: str) -> int:
    """Cells that tables of the text would have, counted from above: columns of each delimiter row by the lines that
    follow it without a gap."""
    cells = columns = 0
    for line in text.split("\n"):
        if not line.strip():
            columns = 0
        elif "-" in line and not line.strip(" \t>|:-"):
            columns = line.count("|") + 1
        cells += columns
    return cells


def _depth(tokens: Sequence[Token]) -> int:
    """How deep lists, quotations and emphasis nest. A list and its item are one level."""
    deepest = depth = 0
    for token in tokens:
        if token.type in ("blockquote_open", "list_item_open"):
            depth += 1
        elif token.type in ("blockquote_close", "list_item_close"):
            depth -= 1
        inline = max((child.level for child in token.children or ()), default=0)
        deepest = max(deepest, depth, inline)
    return deepest


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 60})
    parser.enable(["table", "strikethrough"])
    # Joining would forget which characters were escaped, and an escaped @ calls nobody.
    parser.disable(["html_block", "html_inline", "text_join"])
    # What must not be linked is shown by the rules below; markdown-it would leave its source in the text.
    parser.validateLink = _take_any  # type: ignore[method-assign]
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _take_any(url: str) -> bool:  # noqa: ARG001 - markdown-it passes it by name
    return True


# --- Render rules, named as markdown-it names the tokens


def text(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, environment: Any) -> str:
    content = tokens[index].content
    if environment.get("in_link"):
        return mark_hidden(html.escape(content))
    return _link_names(content, environment["place"])


def text_special(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _environment: Any) -> str:
    return show_hidden(tokens[index].content)


def code_inline(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _environment: Any) -> str:
    return f"<code>{show_hidden(tokens[index].content)}</code>"


def code_block(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _environment: Any) -> str:
    return f"<pre><code>{show_hidden(tokens[index].content)}</code></pre>\n"


def fence(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _environment: Any) -> str:
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0].lower() if token.info.strip() else ""
    return f"<pre><code>{mark_hidden(highlight(token.content, language))}</code></pre>\n"


def link_open(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, environment: Any) -> str:
    given = str(tokens[index].attrs.get("href", ""))
    address = _safe_address(given)
    environment["in_link"] = True
    environment["host"] = (urlsplit(address).hostname or "") if address else ""
    environment["refused"] = "" if address else given
    return _open_anchor(address) if address else ""


def link_close(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, environment: Any) -> str:
    """A link's end, with what its text does not say: the host it leads to, or the address that was refused."""
    environment["in_link"] = False
    if environment["refused"]:
        return f' <span class="host">({show_hidden(environment["refused"])})</span>'
    host = environment["host"]
    if not host or _names_host(tokens[index - 1].content, host):
        return "</a>"
    return f'</a> <span class="host">({html.escape(host)})</span>'


def _names_host(words: str, host: str) -> bool:
    """Whether the words say the whole host: `bank.example` does not say that it leads to `k.example`."""
    return re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", words, re.IGNORECASE) is not None


def image(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, environment: Any) -> str:
    """An image of the company's own attachments; any other becomes its link, so that no page calls another host."""
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    label = HIDDEN.sub("", token.content) or "image"
    own = re.fullmatch(re.escape(environment["place"].root) + r"attachments/\d+/[^/?#\\]+", source)
    if own:
        return f'<img src="{html.escape(source)}" alt="{html.escape(label)}">'
    address = _safe_address(source)
    if not address:
        return html.escape(label)
    return f"{_open_anchor(address)}{html.escape(label)}</a>"


def table_open(_self: RendererHTML, *_rest: Any) -> str:
    return '<div class="table"><table>\n'


def table_close(_self: RendererHTML, *_rest: Any) -> str:
    return "</table></div>\n"


def cell_open(_self: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _environment: Any) -> str:
    token = tokens[index]
    style = str(token.attrs.get("style", ""))
    side = "end" if style.endswith("right") else "middle" if style.endswith("center") else ""
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


_RULES: Final = {
    "text": text, "text_special": text_special, "code_inline": code_inline, "code_block": code_block, "fence": fence,
    "link_open": link_open, "link_close": link_close, "image": image, "table_open": table_open,
    "table_close": table_close, "td_open": cell_open, "th_open": cell_open,
}  # fmt: skip


# --- Addresses and names

_ADDRESS = r"(?P<address>https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}*_])"
_MENTION = r"(?<![\w@/.\\])@(?P<handle>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?)"


@functools.lru_cache(maxsize=256)
def _names(key: str) -> re.Pattern[str]:
    identifier = rf"(?<![\w/-])(?P<identifier>{re.escape(key)}-\d{{1,9}})(?![\w-])"
    return re.compile(f"{_ADDRESS}|{_MENTION}|{identifier}")


def _link_names(content: str, place: Place) -> str:
    """Plain text as HTML, in which addresses, known handles and the company's identifiers are links."""
    parts: list[str] = []
    done = 0
    for match in _names(place.key).finditer(content):
        linked = _link(match, place)
        if linked is not None:
            parts.append(mark_hidden(html.escape(content[done : match.start()])))
            parts.append(linked)
            done = match.end()
    parts.append(mark_hidden(html.escape(content[done:])))
    return "".join(parts)


def _link(match: re.Match[str], place: Place) -> str | None:
    shown = html.escape(match.group())
    if match["address"]:
        address = _safe_address(match["address"])
        return f"{_open_anchor(address)}{shown}</a>" if address else None
    if match["handle"]:
        handle = match["handle"].lower()
        known = handle in place.handles
        return f'<a class="mention" href="{place.root}who/{html.escape(handle)}/">{shown}</a>' if known else None
    return f'<a class="issue-link" href="{place.root}issues/{match["identifier"]}/">{shown}</a>'


def _safe_address(address: str) -> str:
    """The address if it leads to a web page, a mailbox or a place of this site; empty otherwise. One that names a user
    before its host is read as leading to that name."""
    address = HIDDEN.sub("", address).strip()
    if "\\" in address or any(ord(character) < 33 for character in address):
        return ""
    if address.lower().startswith(("//", "/%5c")):
        return ""
    if address.startswith(("/", "#")):
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc:
        return address
    return address if parts.scheme == "mailto" and parts.path else ""


def _open_anchor(address: str) -> str:
    foreign = "" if address.startswith(("/", "#")) else ' rel="noopener noreferrer nofollow"'
    return f'<a href="{html.escape(address)}"{foreign}>'
