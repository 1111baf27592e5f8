"""What tests share: markers that name what a test needs, and a summary of what was left out and why."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.db import connection
from pytest_django.plugin import blocking_manager_key

from issues.actors import Person
from issues.models import Company
from tests import build, machine, sharing, templates
from tests.emptying import empty_by_deleting
from tests.left_open import check_none_left_open

# No deadlines: a busy machine is not a failure. `make fuzz` takes the long one.
hypothesis.settings.register_profile("short", deadline=None)
hypothesis.settings.register_profile("long", deadline=None, max_examples=20_000)
hypothesis.settings.load_profile("short")


def pytest_configure(config: pytest.Config) -> None:
    if not is_one_of_several(config):
        templates.begin()
        config.add_cleanup(templates.end)


def is_one_of_several(config: pytest.Config) -> bool:
    """Whether this process runs tests that another one shares out."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share them; one alone runs them as they stand."""
    if is_one_of_several(config):
        sharing.put_longest_first(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """All modules are there and stay: no collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what the machine lacks, or fail it where that was required."""
    for name in machine.NEEDS:
        if item.get_closest_marker(name) is None:
            continue
        reason = machine.lack(name)
        if reason is None:
            continue
        if name in machine.required():
            pytest.fail(f"TRIMUS_REQUIRE names {name}, but there is {reason}", pytrace=False)
        pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test of a file and all that was made for it."""
    yield
    if nextitem is None or nextitem.path != item.path:
        with item.config.stash[blocking_manager_key].unblock():
            check_none_left_open()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out and why."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("left out")
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} {'test' if count == 1 else 'tests'}: {reason}")


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Django goes on with a file that lies where its SQLite database would be; it is deleted with its folder."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Let the test database begin as a copy of what is migrated already."""
    test = connection.settings_dict["TEST"]
    if connection.vendor == "sqlite":
        templates.copy_sqlite(Path(test["NAME"]))
    else:
        test["TEMPLATE"] = templates.postgres()


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        empty_by_deleting(patch)
        yield


@pytest.fixture
def founded(db: None) -> tuple[Company, Person]:
    """A company and its founder, as a test has them unless its folder has others."""
    return build.company_with_founder()


@pytest.fixture
def company(founded: tuple[Company, Person]) -> Company:
    return founded[0]


@pytest.fixture
def founder(founded: tuple[Company, Person]) -> Person:
    return founded[1]


@pytest.fixture
def redis_url() -> str:
    """A database of the Redis server that tests may fill; they empty what they used."""
    return machine.REDIS_URL


@pytest.fixture
def rabbitmq_url() -> str:
    """The RabbitMQ server."""
    return machine.RABBITMQ_URL
