"""What the service counts since its start, for Prometheus."""

import math
from collections.abc import Callable, Iterable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from workprof.core.alerts import Checked
from workprof.core.scope import split

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
"""s; upper ends of the histogram of answers."""


class _Alerts(Collector):
    """Gauges of the alerts as they were looked at last."""

    def __init__(self, found: Iterable[Checked]) -> None:
        self._found = found

    def collect(self) -> Iterable[GaugeMetricFamily]:
        labels = ("alert", "dataset")
        fired = GaugeMetricFamily("workprof_alert_fired", "1 while an alert fires, NaN if not known.", labels=labels)
        value = GaugeMetricFamily("workprof_alert_value", "The number that an alert is about.", labels=labels)
        for one in self._found:
            named = (one.alert.name, split(one.alert.dataset)[0])  # a scope may name users
            fired.add_metric(named, math.nan if one.problem else float(one.fired))
            value.add_metric(named, one.value)
        return fired, value


class Metrics:
    """Counts of one service; safe to share between threads."""

    def __init__(self) -> None:
        self._all = CollectorRegistry()
        self._requests = Counter(
            "workprof_requests", "Answers by route and status.", ("route", "status"), registry=self._all
        )
        self._seconds = Histogram(
            "workprof_request_seconds", "Time to the answer.", ("route",), registry=self._all, buckets=BUCKETS
        )
        self._batches = Counter("workprof_prediction_batches", "Batches of predictions.", registry=self._all)
        self._jobs = Counter("workprof_predicted_jobs", "Jobs predicted.", registry=self._all)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch(self, n_jobs: int) -> None:
        """Count a batch of predictions."""
        self._batches.inc()
        self._jobs.inc(n_jobs)

    def show(self, name: str, words: str, value: Callable[[], float]) -> None:
        """Tell a number as it is when somebody asks."""
        Gauge(name, words, registry=self._all).set_function(value)

    def text(self, alerts: Iterable[Checked] = ()) -> bytes:
        """The counts in the text format of Prometheus, and of alerts whether each fires, with its number."""
        own = CollectorRegistry()
        own.register(_Alerts(tuple(alerts)))
        return generate_latest(self._all) + generate_latest(own)
