"""Reading the body of a request."""

from __future__ import annotations

import json
from typing import IO, Any, NoReturn

from rest_framework.parsers import BaseParser

from issues.rest.problems import BodyTooLarge, Malformed

JSON_BYTES = 1024 * 1024
"""A body at most: the longest text (64 kB) with each character escaped, and room beside it."""


class JsonBody(BaseParser):
    """UTF-8 JSON as the standard has it: no NaN, no Infinity, and nothing so large or deep that it stops a server."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], *_context: Any, **_options: Any) -> Any:
        raw: bytes = stream.read(JSON_BYTES + 1)
        if len(raw) > JSON_BYTES:
            raise BodyTooLarge(f"The body has more than {JSON_BYTES:,} bytes.")
        try:
            return json.loads(raw.decode(), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise Malformed(f"The body is not JSON: {error}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")
