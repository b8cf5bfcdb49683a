"""Policies on one replay: the table, and what a price per failure picks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from workprof.charts.memory.tasks import gb_h, number
from workprof.charts.shapes import Headline
from workprof.charts.text import counted
from workprof.memory.replay import PolicyFigures, ReplayResult
from workprof.units import format_share

POLICY_WORDS = {
    "workprof": "workprof",
    "workprof_cautious": "workprof, cautious",
    "preset": "request of now",
    "p95": "p95",
    "krr": "KRR rule",
    "vpa": "VPA rule",
    "tovar": "Tovar PPM",
    "witt_lr": "Witt-LR",
    "linear_offset": "line + offset",
    "thesis_bins": "thesis bins",
    "thesis_bins_svm": "thesis bins, SVM",
    "min_waste": "min waste",
    "local_min_waste": "local min waste",
    "oracle_bins": "oracle, bins",
    "oracle_bins_free": "oracle, bins, free top",
    "oracle_exact": "oracle, exact",
}
OURS, NOW, ORACLE = "workprof", "preset", "oracle"
"""Names of policies; `NOW` gives every run what it asked for, `ORACLE` is how those begin that cannot be had."""


@dataclass(frozen=True)
class Candidate:
    """A policy, or a setting of ours, as a point of the plane.

    Attributes:
        name: in words.
        wasted_gb_h: mean over seeds.
        failures: mean over seeds.
    """

    name: str
    wasted_gb_h: float
    failures: float

    def total_gb_h(self, price_gb_h: float) -> float:
        """Return waste with a price on every failure."""
        return self.wasted_gb_h + price_gb_h * self.failures


def policy_name(policy: str) -> str:
    """Return a policy's name in words."""
    return POLICY_WORDS.get(policy, policy)


def picked(found: ReplayResult, price_gb_h: float) -> Candidate:
    """Return what is best at a price per failure in GB·h; oracles cannot be had."""
    known = [
        Candidate(policy_name(one.policy), one.wasted_gb_h, one.failures)
        for one in found.policies.values()
        if not one.policy.startswith(ORACLE)
    ]
    known += [Candidate(f"workprof ({one.setting})", one.wasted_gb_h, one.failures) for one in found.frontier]
    return min(known, key=lambda one: one.total_gb_h(price_gb_h))


def policy_table(found: ReplayResult, price_gb_h: float = 0.0) -> pd.DataFrame:
    """Return one line per policy, the cheapest at the price first; shares in per cent."""
    figures = sorted(found.policies.values(), key=lambda one: one.wasted_gb_h + price_gb_h * one.failures)
    return pd.DataFrame([_line(one, price_gb_h) for one in figures])


def policy_headlines(found: ReplayResult, price_gb_h: float) -> tuple[Headline, ...]:
    """Return what the price picks, waste beside failures, and what is wasted now."""
    best, now = picked(found, price_gb_h), found.policies.get(NOW)
    headlines = [
        Headline("Wasted", gb_h(best.wasted_gb_h), f"Charged and not used, by {best.name}.", "by the pick"),
        Headline(
            "Failed attempts",
            number(best.failures),
            f"Of {counted(found.n_test, 'run')}, by {best.name}.",
            f"{format_share(best.failures / max(found.n_test, 1))} of runs",
        ),
    ]
    if now is not None:
        headlines += [
            Headline("Wasted now", gb_h(now.wasted_gb_h), "By the requests of now.", f"{number(now.failures)} failures")
        ]
    headlines.append(
        Headline("Used", gb_h(found.used_gb_h), "What the runs used: no policy can be charged less.", "the bound")
    )
    return tuple(headlines)


def saving_words(one: PolicyFigures) -> str:
    """Return what a policy is charged against the requests of now: '26.3 % less', '12.0 % more', 'no data'."""
    share = one.saving_share
    if not math.isfinite(share):
        return "no data"
    return f"{format_share(abs(share))} {'less' if share >= 0 else 'more'}"


def choice_table(found: ReplayResult) -> pd.DataFrame:
    """Return what each price of a failure picks."""
    return pd.DataFrame(
        [
            {
                "price_gb_h": one.price_gb_h,
                "pick": policy_name(one.name),
                "wasted_gb_h": one.wasted_gb_h,
                "failures": one.failures,
            }
            for one in found.choices
        ]
    )


def _line(one: PolicyFigures, price_gb_h: float) -> dict[str, object]:
    return {
        "policy": policy_name(one.policy),
        "wasted_gb_h": one.wasted_gb_h,
        "failures": one.failures,
        "failed_low": 100 * one.failed_share.low,
        "failed_high": 100 * one.failed_share.high,
        "saved_percent": 100 * one.saving_share,
        "saved_low": 100 * one.saving.low,
        "saved_high": 100 * one.saving.high,
        "total_gb_h": one.wasted_gb_h + price_gb_h * one.failures,
        "charged_gb_h": one.charged_gb_h,
        "never_fit": one.n_never_fit + one.n_given_up,
        "seconds": one.seconds,
    }
