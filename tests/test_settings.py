"""The settings: what the environment may say, and when an installation refuses to start."""

from __future__ import annotations

import ast
import gzip
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.test import Client

from trimus.checks import is_local_mode, is_loopback
from trimus.language_models import LanguageModels
from trimus.secret_key import local_secret_key

ROOT = Path(__file__).resolve().parent.parent
GOOD_KEY = "k3y-" * 4 + "0123456789abcdefghijklmnopqrstuvwxyz"
PUBLIC = {
    "TRIMUS_HOST": "0.0.0.0",
    "TRIMUS_ALLOWED_HOSTS": "trimus.example.org",
    "TRIMUS_SECRET_KEY": GOOD_KEY,
}


def variables_read() -> set[str]:
    """Names that the settings ask the environment for."""
    calls = [
        node for node in ast.walk(ast.parse((ROOT / "trimus/settings.py").read_text())) if isinstance(node, ast.Call)
    ]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "env"
        and isinstance(call.args[0], ast.Constant)
    }


def example_lines() -> list[tuple[str, str]]:
    return re.findall(r"^([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)


def load_settings(tmp_path: Path, expression: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `expression` over the settings `s` prints in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if name not in variables_read()}
    return subprocess.run(
        [sys.executable, "-c", f"import trimus.settings as s; print(({expression}))"],
        env=clean | {"TRIMUS_DATA_DIR": str(tmp_path), **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def manage(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in variables_read()}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=clean | {"TRIMUS_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "trimus.settings", **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_lists_exactly_the_variables_that_the_settings_read() -> None:
    names = [name for name, _ in example_lines()]
    assert len(names) == len(set(names))
    assert set(names) == variables_read()


def test_every_variable_of_the_example_is_explained_above_it() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    for number, line in enumerate(lines):
        if re.match(r"[A-Z_]+=", line):
            assert lines[number - 1].startswith("#") or re.match(r"[A-Z_]+=", lines[number - 1]), line


def test_the_values_of_the_example_are_the_defaults(tmp_path: Path) -> None:
    everything = "{n: v for n, v in vars(s).items() if n.isupper() and n not in ('SECRET_KEY',)}"
    example = {name: value for name, value in example_lines() if name != "TRIMUS_DATA_DIR"}
    by_default = load_settings(tmp_path, everything)
    by_example = load_settings(tmp_path, everything, **example)
    assert by_default.returncode == 0, by_default.stderr
    assert by_example.stdout == by_default.stdout


def test_nothing_but_the_settings_reads_the_environment() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for layer in ("trimus", "issues", "agents", "engine")
        for path in sorted((ROOT / layer).rglob("*.py"))
        if re.search(r"\benviron(\[|\.(get|items|keys|values|copy)\b)|\bgetenv\b", path.read_text())
    ]
    assert readers == ["trimus/settings.py"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST", "app.localhost"])
def test_loopback_is_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "*", "10.0.0.1", "example.org", "localhost.example.org"])
def test_anything_else_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_a_loopback_server_with_a_public_name_is_not_local() -> None:
    assert is_local_mode("127.0.0.1", ["localhost"])
    assert not is_local_mode("127.0.0.1", ["trimus.example.org"])
    assert not is_local_mode("0.0.0.0", ["localhost"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"TRIMUS_SECRET_KEY": ""}, "TRIMUS_SECRET_KEY"),
        ({"TRIMUS_SECRET_KEY": "short"}, "TRIMUS_SECRET_KEY"),
        ({"TRIMUS_SECRET_KEY": "a" * 60}, "TRIMUS_SECRET_KEY"),
        ({"TRIMUS_ENCRYPTION_KEYS": "too short"}, "TRIMUS_ENCRYPTION_KEYS"),
        ({"DJANGO_DEBUG": "1"}, "DJANGO_DEBUG"),
        ({"TRIMUS_ALLOWED_HOSTS": "*"}, "wildcard"),
        ({"TRIMUS_ALLOWED_HOSTS": ".example.org"}, "wildcard"),
        ({"TRIMUS_ALLOWED_HOSTS": ""}, "TRIMUS_ALLOWED_HOSTS"),
    ],
)
def test_outside_local_mode_an_unsafe_setting_refuses_to_start(
    tmp_path: Path, change: dict[str, str], complaint: str
) -> None:
    result = load_settings(tmp_path, "s.LOCAL_MODE", **(PUBLIC | change))
    assert result.returncode != 0
    assert "ImproperlyConfigured" in result.stderr
    assert complaint in result.stderr


def test_the_secret_key_goes_on_opening_what_it_sealed_when_own_encryption_keys_are_set(tmp_path: Path) -> None:
    own = "one-of-more-than-thirty-two-characters"
    keys = load_settings(tmp_path, "s.ENCRYPTION_KEYS", **PUBLIC, TRIMUS_ENCRYPTION_KEYS=own).stdout
    assert keys == f"{[own, GOOD_KEY]}\n"
    assert load_settings(tmp_path, "s.ENCRYPTION_KEYS", **PUBLIC).stdout == f"{[GOOD_KEY]}\n"


def test_companies_reach_this_network_in_local_mode_or_by_the_operators_word(tmp_path: Path) -> None:
    assert load_settings(tmp_path, "s.PRIVATE_MODEL_URLS").stdout == "True\n"
    assert load_settings(tmp_path, "s.PRIVATE_MODEL_URLS", **PUBLIC).stdout == "False\n"
    told = load_settings(tmp_path, "s.PRIVATE_MODEL_URLS", **PUBLIC, TRIMUS_PRIVATE_MODEL_URLS="true")
    assert told.stdout == "True\n"


def test_outside_local_mode_cookies_go_over_https_alone(tmp_path: Path) -> None:
    result = load_settings(tmp_path, "s.LOCAL_MODE, s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE", **PUBLIC)
    assert result.stdout == "(False, True, True)\n", result.stderr


def test_the_deployment_check_is_clean_with_production_settings(tmp_path: Path) -> None:
    result = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PUBLIC)
    assert result.returncode == 0, result.stderr


def test_passwords_are_hashed_with_argon2(tmp_path: Path) -> None:
    assert "Argon2" in load_settings(tmp_path, "s.PASSWORD_HASHERS[0]").stdout


def test_the_local_secret_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret_key"
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: local_secret_key(path), range(64)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_keys_of_models_stay_out_of_the_representation() -> None:
    models = LanguageModels(openai_api_key="sk-canary", anthropic_api_key="sk-ant-canary")
    assert models.any
    assert "canary" not in repr(models)


def test_postgresql_shares_a_pool_and_sqlite_keeps_a_connection(tmp_path: Path) -> None:
    options = "s.DATABASES['default']['CONN_MAX_AGE'], s.DATABASES['default']['OPTIONS']"
    postgres = load_settings(tmp_path, options, DATABASE_URL="postgres://u:p@db.example.org:5432/trimus").stdout
    assert postgres.startswith("(0,")
    assert "pool" in postgres
    sqlite = load_settings(tmp_path, options).stdout
    assert sqlite.startswith("(None,")
    assert "IMMEDIATE" in sqlite


def test_a_new_sqlite_file_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    code = (
        "import os; os.umask(0); from django.db import connection; connection.cursor().execute('CREATE TABLE t (a)');"
        " print([oct(one.stat().st_mode & 0o777) for one in os.scandir(os.environ['TRIMUS_DATA_DIR'])"
        " if one.name.startswith('trimus.sqlite3')])"
    )
    made = manage(tmp_path, "shell", "--verbosity", "0", "--command", code)
    assert made.stdout.strip() == str(["0o600"] * 3), made.stderr


@pytest.mark.django_db
def test_every_page_carries_the_security_headers(client: Client) -> None:
    headers = client.get("/admin/login/").headers
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
def test_a_page_served_under_another_hosts_name_is_refused(client: Client) -> None:
    assert client.get("/admin/login/", headers={"host": "rebound.example.org"}).status_code == 400


@pytest.mark.django_db
def test_pages_are_compressed_for_those_who_take_it(client: Client) -> None:
    plain = client.get("/admin/login/")
    packed = client.get("/admin/login/", headers={"accept-encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert b"<html" in gzip.decompress(packed.content)
    assert len(packed.content) < len(plain.content)
    assert "Content-Encoding" not in client.get("/healthz", headers={"accept-encoding": "gzip"}).headers
