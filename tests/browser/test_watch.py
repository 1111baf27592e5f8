"""What every browser test watches for is really seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import watch
from tests.servers import Installation

STYLE = "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">red</p>')"
SCRIPT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.hasRun = true";
  document.body.append(script);
}"""
ELSEWHERE = "fetch('http://localhost:9/x').catch(() => null)"


@pytest.mark.parametrize(
    ("deed", "complaint"),
    [
        ("console.error('a word')", "a word"),
        ("setTimeout(() => { throw new Error('it broke') })", "it broke"),
        (STYLE, "Content Security Policy"),
        (SCRIPT, "Content Security Policy"),
        (ELSEWHERE, "Content Security Policy"),
        ("fetch('/static/missing.css')", "404"),
        ("window.open('http://localhost:9/x')", "asked another host: http://localhost:9/x"),
    ],
)
def test_an_error_a_breach_of_the_policy_and_a_request_elsewhere_are_complained_of(
    deed: str, complaint: str, installation: Installation, chromium: Browser
) -> None:
    complaints: list[str] = []
    context = chromium.new_context(base_url=installation.url)
    watch(context, installation.url, complaints.append)
    page = context.new_page()
    page.goto("/login/")
    assert complaints == []
    page.evaluate(deed)
    for _ in range(100):
        if any(complaint in one for one in complaints):
            break
        page.wait_for_timeout(100)
    context.close()
    assert any(complaint in one for one in complaints), complaints
