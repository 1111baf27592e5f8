"""How fast replies are parsed and mentions read, by the shape and the size of the text.

    python -m benchmarks.parser [--json FILE] [--largest BYTES]

MB/s of each shape at each size, and the ratio of the time for the largest to what it would be if the time of the
smallest grew in proportion. 1 is linear; 2 is the most that the project allows itself. Shapes are a unit repeated to
the size: a few are what replies are made of, the others are what a careless reader of text takes square time for.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
REPEATS = 5  # the best of these counts
SHORTEST = 0.02  # seconds for which a small text is read over and over in one repeat
LONGEST = 1.0  # seconds after which a large text is not repeated

PROSE = "The cache is cold after each deploy, so the first request of every tenant pays for all of them.\n"

REPLY_SHAPES: Mapping[str, str] = {
    "prose": PROSE,
    "reply": f"{PROSE * 6}\n- {PROSE}- {PROSE}\n/write-file a.py\n```python\nx = 1\n```\n\n{PROSE}\n/status done\n\n",
    "one line": "a word and ",
    "verbs": "/status done\n",
    "unknown verbs": "/something\n",
    "verbs without body": "/write-file a\n",
    "bodies": "/write-file a\n```\nx = 1\ny = 2\n```\n",
    "fences": "```\n",
    "nested fences": "```a\n",
    "fences on verb lines": "/write-file a ```\n",
    "runs on a verb line": "/write-file a `` ``` ```` ~~~ ",
    "blank lines": "\n",
    "CRLF": "a\r\n",
    "white space": " ",
    "back-ticks": "`",
    "slashes": "/",
    "quotes": "> ",
    "list markers": "- 1. ",
    "bullets": "- a\n",
    "opening tags": "<think>\n",
    "closing tags": "/status done\n</think>\n",
    "comments": "<!---->",
    "unclosed comments": "<!-- ",
    "tildes": "~",
    "tilde fences": "~~~\n",
    "fences of growing depth": "~~~a\n````b\n",
    "indented fences": "/write-file a\n\t\t```\n\t\tx\n\t\t```\n",
    "fences in lists": "- 1. ```\n",
    "code spans that look like fences": "``` a ```\n",
    "quoted verbs": "> /status done\n",
    "quotes of quotes": "> > > > ```\n",
    "paths": "/etc/passwd\n//x\n/ \n",
    "long arguments": "/status " + "x" * 900 + "\n",
    "unknown verbs that call": "/something @ada\n",
    "closed reasoning": "<think>\nShall I?\n</think>\n\nYes.\n/status done\n",
    "reasoning on one line": "<think>a</think>",
    "closing tags at line ends": "It is so.</think>\n",
    "almost closing tags": "</think",
    "raw HTML": "<pre>\n/status done\n</pre>\n",
    "styles": "<style >",
    "carriage returns": "\r",
    "wide spaces": "\u3000",
    "zero-width spaces": "\u200b/status done\n",
}

MENTION_SHAPES: Mapping[str, str] = {
    "prose": f"{PROSE * 4}@bob, please look.\n\n",
    "mentions": "@ann ",
    "unknown names": "@carol ",
    "at-signs": "@",
    "beginnings of a name": "@release-manage",
    "emphasis": "_@",
    "combining marks": "@a" + "\u0301\u0327" * 500,
    "invisible characters": "@ann" + "\u200b" * 500,
    "back-ticks": "` `` ",
    "escapes": "\\`",
    "brackets": "[",
    "links": "[](a ",
    "link titles": '[](a "',
    "angles": "<",
    "tags": "<a b='<a b=\"",
    "attributes": ' c="<a b=\' "',
    "code elements": "<code>",
    "comments": "a <!-- ",
    "declarations": "a <!A ",
    "schemes": "a://",
    "quotes": "> ",
    "list markers": "- 1. ",
    "indented": "    a\n",
    "fences": "```\n",
    "closing tags": "</think>\n",
    "blank lines": "\n",
}


def text_of(unit: str, size: int) -> str:
    """`unit` repeated to `size` characters."""
    return (unit * (size // len(unit) + 1))[:size]


def parse_reply(unit: str, size: int) -> Callable[[], object]:
    """The work of parsing a reply of that shape."""
    from engine.actions import parse_agent_actions

    reply = text_of(unit, size)
    return lambda: parse_agent_actions(reply)


def read_mentions_of(unit: str, size: int) -> Callable[[], object]:
    """The work of reading the mentions of a text of that shape, in a company of fifty."""
    from issues.mentions import read_mentions

    known = ["ann", "bob", "Anna Lee", "release-manager", *(f"agent-{number}" for number in range(46))]
    text = f"@ann {text_of(unit, size)} @bob"
    return lambda: read_mentions(text, known)


def seconds(work: Callable[[], object]) -> float:
    """The least processor time that one call takes: other work on the machine is not in it."""
    best = float("inf")
    begin = time.process_time()
    for _ in range(REPEATS):
        if time.process_time() - begin > LONGEST:
            break
        calls = 0
        start = time.process_time()
        while True:
            work()
            calls += 1
            spent = time.process_time() - start
            if spent >= SHORTEST:
                break
        best = min(best, spent / calls)
    return best


def measure(
    title: str, shapes: Mapping[str, str], work: Callable[[str, int], Callable[[], object]], sizes: tuple[int, ...]
) -> dict[str, dict[str, float]]:
    """Print a line for each shape; MB/s by size in characters, and the ratio to linear."""
    print(f"\n{title:24}" + "".join(f"{size // 1000:>9,} kB" for size in sizes) + "   to linear")
    results: dict[str, dict[str, float]] = {}
    for name, unit in shapes.items():
        times = [seconds(work(unit, size)) for size in sizes]
        row = {str(size): size / taken / 1e6 for size, taken in zip(sizes, times, strict=True)}
        ratio = (times[-1] / sizes[-1]) / (times[0] / sizes[0])
        print(f"{name:24}" + "".join(f"{speed:12.1f}" for speed in row.values()) + f"{ratio:12.2f}", flush=True)
        results[name] = {**row, "ratio_to_linear": ratio}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description="MB/s of the reply parser and of the reader of mentions")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out larger texts, for a quick look")
    options = parser.parse_args()
    sizes = tuple(size for size in SIZES if size <= options.largest)
    results = {
        "parser_mb_per_s": measure("parser, MB/s", REPLY_SHAPES, parse_reply, sizes),
        "mentions_mb_per_s": measure("mentions, MB/s", MENTION_SHAPES, read_mentions_of, sizes),
    }
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
