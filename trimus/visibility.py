"""Shows, on every page and fragment of one, the codes of characters that cannot be seen.

Done to what leaves, not text by text in templates, so that no template can forget it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from issues.hidden_characters import HIDDEN, mark_hidden, name_hidden

_ASCII = bytes(range(128))
_HIDDEN_BYTES = re.compile(
    rb"\xc2\xad|\xd8\x9c|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa9]|\xef\xbb\xbf|\xf3\xa0[\x80\x81]"
)
"""What `HIDDEN` finds, in UTF-8, and joiners wherever they stand."""

_KEPT: Final = frozenset({"textarea", "script", "style"})
"""What is in them is sent back or carried out, so it stays as it was written."""
_WORDS_ONLY: Final = frozenset({"title", "option", "svg"})
"""No element can stand in these."""
_LISTS: Final = frozenset({"select", "datalist", "optgroup"})
"""Their end is the end of an option too."""

_SHOWN_ATTRIBUTES: Final = frozenset({
    "title", "alt", "label", "placeholder", "aria-label", "aria-description", "aria-placeholder",
    "aria-roledescription", "aria-valuetext", "hx-confirm", "data-copy",
})  # fmt: skip
_ATTRIBUTE = re.compile(r"""([^\s=/>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?""")
"""Of a tag that the parser has found: read from its beginning, quotations are whole."""


class VisibilityMiddleware:
    """Pages without hidden characters, nearly all, pass as they are: to look takes half a
    millisecond a megabyte. Where one is, to read the page takes as much as to make it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and isinstance(response, HttpResponse) and may_hide(response.content):
            response.content = show_all(response.content.decode(response.charset)).encode(response.charset)
        return response


def may_hide(page: bytes) -> bool:
    """Whether a page in UTF-8 could hold a hidden character. Nearly all of a page is ASCII, which goes first."""
    return _HIDDEN_BYTES.search(page.translate(None, _ASCII)) is not None


def show_all(page: str) -> str:
    """The HTML with codes in place of the hidden characters that a reader would be shown: in its texts and in the
    attributes that are words. What fields and scripts hold stays as it is, and so does everything else."""
    if HIDDEN.search(page) is None:
        return page
    reading = _Reading(page)
    reading.feed(page)
    reading.close()
    return reading.page()


class _Reading(HTMLParser):
    """Reads a page for what has to be put in place of what. The rest is never written anew."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self._source = source
        self._lines = [0, *(found.end() for found in re.finditer("\n", source))]
        self._within = ""
        self._is_value = False
        self._pieces: list[str] = []
        self._done = 0

    def page(self) -> str:
        return "".join([*self._pieces, self._source[self._done :]])

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if self._within not in _KEPT and tag in _KEPT | _WORDS_ONLY:
            self._within = tag
            # An option that has no value of its own sends its words.
            self._is_value = tag == "option" and not any(name == "value" for name, _ in attrs)
        written = self.get_starttag_text() or ""
        if not written.isascii():
            self._put(written, _ATTRIBUTE.sub(_show_attribute, written))

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within or (self._within == "option" and tag in _LISTS):
            self._within = ""

    def handle_data(self, data: str) -> None:
        is_kept = self._within in _KEPT or (self._within == "option" and self._is_value)
        if not is_kept and not data.isascii():
            self._put(data, name_hidden(data) if self._within else mark_hidden(data))

    def _put(self, written: str, shown: str) -> None:
        """Take `shown` for what is written where the parser is."""
        if shown == written:
            return
        line, column = self.getpos()
        start = self._lines[line - 1] + column
        self._pieces += (self._source[self._done : start], shown)
        self._done = start + len(written)


def _show_attribute(found: re.Match[str]) -> str:
    return name_hidden(found[0]) if found[1].lower() in _SHOWN_ATTRIBUTES else found[0]
