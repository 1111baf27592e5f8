"""The design holds what it promises: contrast, weight, and nothing that came from elsewhere unmarked."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static"
AA_TEXT = 4.5
AA_SHAPE = 3.0

TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", (STATIC / "css/tokens.css").read_text()
    )
}
HUES = re.findall(
    r"\.hue-(\d) \{ --tint: light-dark\((#\w{6}), (#\w{6})\); --ink: light-dark\((#\w{6}), (#\w{6})\); \}",
    (STATIC / "css/base.css").read_text(),
)
GROUNDS = ("page", "sunken", "surface", "raised", "hover")
TEXTS = ("text", "text-soft", "text-faint", "accent", "good", "warn", "bad")
PAIRS = [
    *((text, ground) for text in TEXTS for ground in GROUNDS),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("accent-strong", "accent-soft"),
    ("good", "good-soft"),
    ("warn", "warn-soft"),
    ("bad", "bad-soft"),
]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=[f"{text} on {ground}" for text, ground in PAIRS])
def test_text_can_be_read_on_its_ground(text: str, ground: str, theme: int) -> None:
    assert contrast(TOKENS[text][theme], TOKENS[ground][theme]) >= AA_TEXT


@pytest.mark.parametrize("hue", HUES, ids=[f"hue {hue[0]}" for hue in HUES])
def test_initials_can_be_read_on_their_avatar(hue: tuple[str, ...]) -> None:
    _, light_tint, dark_tint, light_ink, dark_ink = hue
    assert contrast(light_tint, light_ink) >= AA_TEXT
    assert contrast(dark_tint, dark_ink) >= AA_TEXT


def test_there_are_as_many_hues_as_names_are_given() -> None:
    from issues.names import HUES as given

    assert len(HUES) == given


def test_a_focus_ring_can_be_seen_on_every_ground() -> None:
    for theme in (0, 1):
        for ground in GROUNDS:
            assert contrast(TOKENS["accent"][theme], TOKENS[ground][theme]) >= AA_SHAPE


def weight(*patterns: str) -> int:
    """Bytes of the files, each gzipped as it is served."""
    return sum(len(gzip.compress(path.read_bytes())) for pattern in patterns for path in STATIC.glob(pattern))


def test_scripts_and_styles_stay_light() -> None:
    assert weight("js/*.js", "vendor/*.js") <= 45_000
    assert weight("css/*.css") <= 15_000


@pytest.mark.parametrize(
    "entry", json.loads((STATIC / "vendor/manifest.json").read_text()), ids=lambda entry: str(entry["file"])
)
def test_what_comes_from_elsewhere_is_what_the_manifest_says(entry: dict[str, str]) -> None:
    content = (ROOT / entry["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert (ROOT / entry["licence_file"]).stat().st_size > 0


def test_nothing_lies_among_what_comes_from_elsewhere_without_an_entry() -> None:
    entries = json.loads((STATIC / "vendor/manifest.json").read_text())
    known = {entry["file"] for entry in entries} | {entry["licence_file"] for entry in entries}
    for folder in (STATIC / "vendor", ROOT / "tests/browser/vendor"):
        lying = {str(path.relative_to(ROOT)) for path in folder.rglob("*") if path.is_file()}
        assert lying - {"static/vendor/manifest.json"} <= known


def test_styles_and_scripts_name_no_other_host() -> None:
    for path in (*STATIC.glob("css/*.css"), *STATIC.glob("js/*.js")):
        for host in re.findall(r"https?://([\w.-]+)", path.read_text()):
            assert host == "www.w3.org", f"{path.name} names {host}"


def test_every_icon_that_is_asked_for_is_drawn() -> None:
    drawn = set(re.findall(r'id="i-([a-z_-]+)"', (ROOT / "templates/parts/icons.html").read_text()))
    asked: set[str] = set()
    for path in (ROOT / "templates").rglob("*.html"):
        asked |= set(re.findall(r'\{% icon "([a-z_-]+)"', path.read_text()))
    for path in (*ROOT.glob("issues/*.py"), *ROOT.glob("issues/views/*.py")):
        asked |= set(re.findall(r', "([a-z]+(?:-[a-z_]+)?)"\)(?:,|$)', path.read_text(), re.MULTILINE)) & drawn
    asked |= set(re.findall(r'icon\("([a-z-]+)"\)', (STATIC / "js/shell.js").read_text()))
    assert asked <= drawn
