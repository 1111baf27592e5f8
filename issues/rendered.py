"""A store of rendered texts, so that each version of a text is rendered once per process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from django.utils.safestring import SafeString


class RenderedTexts:
    """Keeps the texts used last, up to a total of `limit_characters`. The key holds all that the rendering depends
    on, so nothing ever goes stale; two threads that render the same text at once cost a moment, not a mistake."""

    def __init__(self, *, limit_characters: int) -> None:
        self._limit = limit_characters
        self._size = 0
        self._texts: OrderedDict[Hashable, SafeString] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, render: Callable[[], SafeString]) -> SafeString:
        with self._lock:
            found = self._texts.get(key)
            if found is not None:
                self._texts.move_to_end(key)
                return found
        rendered = render()
        self._put(key, rendered)
        return rendered

    def _put(self, key: Hashable, rendered: SafeString) -> None:
        with self._lock:
            if key in self._texts or len(rendered) > self._limit:
                return
            self._texts[key] = rendered
            self._size += len(rendered)
            while self._size > self._limit:
                _, dropped = self._texts.popitem(last=False)
                self._size -= len(dropped)
