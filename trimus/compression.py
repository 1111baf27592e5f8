"""Compresses pages and API answers on their way out."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

# Text that views make. Static files are compressed once, when they are gathered; attachments mostly by nature.
COMPRESSED_TYPES = ("text/html", "application/json", "application/problem+json")


class CompressionMiddleware(GZipMiddleware):
    """Django's gzip, which pads with random bytes against guessing at secrets by length, for these types alone."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.headers.get("Content-Type", "").startswith(COMPRESSED_TYPES):
            return response
        return super().process_response(request, response)
