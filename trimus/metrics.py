"""Figures for Prometheus. Off until a token is set; whoever reads them has to send it."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from engine.vitals import read_spent, read_vitals

if TYPE_CHECKING:
    from prometheus_client import Metric


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """All figures in Prometheus' text format; 404 while it is off, 401 without the token."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST

    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not constant_time_compare(sent.strip(), settings.METRICS_TOKEN):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry()
    registry.register(_Figures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Figures:
    """Reads the figures when they are asked for: none is kept in a process, of which there may be many."""

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        vitals = read_vitals()
        single = {
            "beat_seconds": ("Since beat and worker were last seen at work.", vitals.beat_seconds),
            "wakeups_due": ("Wakeups that could start now.", vitals.due),
            "wakeups_pending": ("All wakeups that wait, for a time or a limit too.", vitals.pending),
            "oldest_due_seconds": ("Since when the first of those due could start.", vitals.oldest_due_seconds or 0),
            "runs_live": ("Runs under way.", vitals.running),
        }
        for name, (words, value) in single.items():
            if value is not None:
                yield GaugeMetricFamily(f"trimus_{name}", words, value=value)
        ended = GaugeMetricFamily("trimus_runs_ended", "Runs that ended within the last hour.", labels=["state"])
        for state, count in vitals.ended.items():
            ended.add_metric([state.value], count)
        yield ended
        took = GaugeMetricFamily(
            "trimus_run_seconds", "From claim to end, of runs that succeeded within the last hour.", labels=["quantile"]
        )
        for share, seconds in vitals.run_seconds.items():
            took.add_metric([str(share)], seconds)
        yield took
        breakers = GaugeMetricFamily(
            "trimus_breakers_open", "Addresses of models that are skipped because they failed.", labels=["provider"]
        )
        for provider, count in vitals.breakers.items():
            breakers.add_metric([provider], count)
        yield breakers
        yield from _spending()


def _spending() -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    runs = GaugeMetricFamily("trimus_month_runs", "Runs begun in the month under way.", labels=["company"])
    tokens = GaugeMetricFamily("trimus_month_tokens", "Tokens used in the month under way.", labels=["company"])
    dollars = GaugeMetricFamily("trimus_month_dollars", "Known cost of the month under way.", labels=["company"])
    for spent in read_spent():
        runs.add_metric([spent.company], spent.runs)
        tokens.add_metric([spent.company], spent.tokens)
        dollars.add_metric([spent.company], spent.microdollars / 1_000_000)
    yield from (runs, tokens, dollars)
