"""Secrets are known by their form, what only looks a little like one is left alone, and no text makes that slow."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from engine.prompt import build_heartbeat_prompt
from engine.text.checkpoint_request import checkpoint_request
from engine.text.cleansing import cleanse
from engine.text.context import Attachment, Comment, Materials, WorkspaceFile
from engine.text.points import CheckpointFields
from issues.secrets import OF_THIS_INSTALLATION, find_secrets, mask_secrets
from tests.text.contexts import ADA, NOW, plain

LETTERS = "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW"
BODY = """\
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu
"""
SECRETS = {
    "private key": [
        f"-----BEGIN PRIVATE KEY-----\n{BODY}-----END PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}-----END RSA PRIVATE KEY-----",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}-----END OPENSSH PRIVATE KEY-----",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{BODY}-----END PGP PRIVATE KEY BLOCK-----",
        f"-----BEGIN EC PRIVATE KEY-----\n{BODY}",  # cut off
        f"PuTTY-User-Key-File-3: ssh-ed25519\n{BODY}",
    ],
    "JSON Web Token": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"],
    "Anthropic key": [f"sk-ant-api03-{LETTERS}-{LETTERS}AA"],
    "OpenAI key": [f"sk-proj-{LETTERS}_{LETTERS}", f"sk-{LETTERS}", f"sk-svcacct-{LETTERS}"],
    "OpenRouter key": [f"sk-or-v1-{'0a' * 32}"],
    "Google key": ["AIza" + LETTERS + "x_-"],
    "Google OAuth secret": [f"GOCSPX-{LETTERS}"],
    "AWS key": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "AWS secret key": ['aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"'],
    "Azure key": [f"AccountKey={'aB3+' * 21}ab=="],
    "GitHub token": [f"ghp_{LETTERS}abcd", f"gho_{LETTERS}abcd", f"github_pat_{LETTERS}_{LETTERS}"],
    "GitLab token": [f"glpat-{LETTERS}"],
    "Slack token": [f"xoxb-1234567890-{LETTERS}"],
    "Slack webhook": [f"hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/{LETTERS}"],
    "Stripe key": [f"sk_live_{LETTERS}", f"rk_test_{LETTERS}"],
    "Stripe webhook secret": [f"whsec_{LETTERS}"],
    "Groq key": [f"gsk_{LETTERS}{LETTERS}"],
    "xAI key": [f"xai-{LETTERS}{LETTERS}"],
    "Hugging Face token": [f"hf_{LETTERS}"],
    "npm token": [f"npm_{LETTERS}abcd"],
    "PyPI token": [f"pypi-AgEIcHlwaS5vcmc{LETTERS}"],
    "SendGrid key": [f"SG.{LETTERS}.{LETTERS}"],
    "Databricks token": ["dapi" + "0a" * 16],
    "Trimus key": ["trm_" + "0a" * 24],
}
HARMLESS = [
    "sk-fading-circle-with-a-very-long-name",
    "the task-force-of-twenty-seven-people-1 met",
    "risk-assessment-2026-for-the-whole-company",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "eyJhbGciOiJIUzI1NiJ9 alone, and eyJ.eyJ.x",
    "AKIA is how they begin; AKIASHORT",
    "Set OPENAI_API_KEY=sk-... and ANTHROPIC_API_KEY=sk-ant-...",
    "d41d8cd98f00b204e9800998ecf8427e",
    "https://example.org/a?token=eyJ",
    "ghp_short, npm_config_registry, hf_hub_download, xai-grok",
    "the commit 5dea6fa1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
]
CASES = [(kind, secret) for kind, secrets in SECRETS.items() for secret in secrets]


@pytest.mark.parametrize(("kind", "secret"), CASES)
@pytest.mark.parametrize("around", ["{}", "key={} ", "`{}`", "'{}',", "Use\n{}\nplease", "https://x.example/?k={}&a=b"])
def test_a_secret_is_found_by_its_form_wherever_it_stands(kind: str, secret: str, around: str) -> None:
    text = around.format(secret)
    assert find_secrets(text) == (kind,)
    masked = mask_secrets(text)
    assert f"[masked: {kind}]" in masked
    assert not any(secret[start : start + 24] in masked for start in range(len(secret) - 24))
    assert masked.startswith(around.partition("{}")[0])
    assert find_secrets(masked) == ()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_none_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()
    assert mask_secrets(text) == text


def test_several_are_each_masked_and_the_text_between_stays() -> None:
    text = f"a sk-{LETTERS} b ghp_{LETTERS}abcd c sk-{LETTERS}x d"
    assert mask_secrets(text) == "a [masked: OpenAI key] b [masked: GitHub token] c [masked: OpenAI key] d"
    assert find_secrets(text) == ("GitHub token", "OpenAI key")


def test_a_known_value_is_masked_whatever_its_form_and_the_longer_one_first() -> None:
    known = ("correct horse battery", "correct horse battery staple", "short")
    text = "It is correct horse battery staple, in short."
    assert mask_secrets(text, known) == f"It is [masked: {OF_THIS_INSTALLATION}], in short."
    assert find_secrets(text, known) == (OF_THIS_INSTALLATION,)


SHAPES = [
    "eyJ", "eyJa", "eyJ-", "eyJ_", "eyJaaaaaaaa.", "eyJaaaaaaaa.eyJaaaaaaaa.", "sk-", "sk-a", "-sk-", "sk-ant-", "SG.",
    "SG.aaaaaaaaaaaaaaaa", "SG.aaaaaaaaaaaaaaaa.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN A PRIVATE KEY", "AKIA", "AKIAA",
    "AKIA0000000000000000a", "aws_secret_access_key = ", "aws_secret_access_key   =   'a", "xoxb-", "xoxb-a-", "ghp_",
    "AccountKey=a", "hooks.slack.com/services/TAAAAAA/BAAAAAA/", "AIza", "pypi-AgE", "dapi0", "a", "-", "_", ".", "\n",
    "The quick brown fox. ",
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_made_to_be_slow_takes_no_longer_than_any_other(shape: str) -> None:
    """Twice as much takes about twice as long; looking again from each beginning would take four times."""

    def seconds(characters: int) -> float:
        text = "-----BEGIN eyJ sk- " + shape * (characters // len(shape))
        begin = time.process_time()
        mask_secrets(text)
        return time.process_time() - begin

    assert min(seconds(1_000_000) for _ in range(2)) < 0.5
    assert min(seconds(64_000) for _ in range(3)) < 0.05


def test_a_hidden_character_in_its_middle_does_not_hide_a_secret() -> None:
    secret = f"sk-ant-\u200bapi03-{LETTERS}\u202e-{LETTERS}"
    (clean,), hidden = cleanse((secret,))
    assert clean == "[masked: Anthropic key]"
    assert hidden == 2


def test_no_part_of_a_prompt_holds_one_wherever_it_was_written() -> None:
    secret, known = f"sk-ant-api03-{LETTERS}", "a key without any form"
    written = f"look: {secret} and {known}"
    context = plain(
        materials=Materials(
            attachments=(Attachment("a.txt", "text/plain", 9, written),), files=(WorkspaceFile("b.txt", 9, written),)
        ),
        pinned=(Comment(1, ADA, NOW, written, is_pinned=True),),
        hint=written,
    )
    prompt = build_heartbeat_prompt(context, known_secrets=(known,))
    assert LETTERS not in prompt.user + prompt.system
    assert known not in prompt.user + prompt.system
    assert prompt.user.count("[masked: Anthropic key]") == 4
    request = checkpoint_request(CheckpointFields(), context.pinned, None, (known,))
    assert LETTERS not in request
    assert known not in request


def test_finding_them_needs_nothing_but_python() -> None:
    code = "import sys, issues.secrets; print(any(name.startswith('django') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
