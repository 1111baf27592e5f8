"""Cases with expected results, one JSON object a line; `tests/check_parser.py` says what is compared."""

import json
from pathlib import Path
from typing import Any

from tests.check_parser import expand


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of the corpus `name`, with what they generate written out."""
    lines = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [expand(json.loads(line)) for line in lines if line]
