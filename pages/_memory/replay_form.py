"""How the policies are replayed: which, in which order, from which input, and what happens after a failure."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts.controls import choice, count, number
from workprof.memory.facts import AFTER, known_when
from workprof.memory.policies import DEFAULT, OURS, PEERS, POLICIES, SizingSettings
from workprof.memory.replay import NO_INPUT, SIZEY, SUBMIT_TIME, ReplaySettings
from workprof.memory.retry import RULES, RetrySettings
from workprof.memory.usage import USAGE_COLUMNS
from workprof.units import GB

SEEDS = {"1996": (1996,), "1996 and 1 to 4": (1996, 1, 2, 3, 4)}
INPUT, PRICE_RUNS = "memory_input", "memory_price_runs"


def settings(asked: Asked) -> ReplaySettings:
    """Show the controls and return the settings."""
    policies = st.multiselect(
        "Policies",
        POLICIES,
        default=OURS + PEERS,
        key="memory_policies",
        bind="query-params",
        help="oracle_: looks at the true use, so it cannot be had; a bound.",
    )
    with st.grid(min_column_width=200, gap="small"):
        protocol = choice(
            "Order",
            "memory_protocol",
            (SUBMIT_TIME, SIZEY) if {"rss", "rchar"} <= asked.columns else (SUBMIT_TIME,),
            "submit-time: as submitted, each task from its first run on. sizey: the published harness: 30 % of the "
            "runs at random are known, the others come in random order, sized for rss from rchar.",
        )
        seeds = SEEDS["1996"]
        if protocol == SIZEY:
            seeds = SEEDS[choice("Seeds", "memory_seeds", tuple(SEEDS), "Of the shuffles; figures are means.")]
        given = choice(
            "Input", INPUT, _inputs(asked), "What sizes may go by. Facts of after the run flatter; the result says so."
        )
        sizing = _sizing()
        retry = _retry()
        cold = count("Cold runs", "memory_cold", 10, "First runs of each task, which start at their request.", least=2)
    return ReplaySettings(
        policies=tuple(policies) or OURS + PEERS,
        protocol=protocol,
        seeds=seeds,
        target=asked.target,
        input_column=given,
        cold_runs=min(cold, 10_000),
        retry=retry,
        sizing=sizing,
    )


def _sizing() -> SizingSettings:
    price = number(
        "Failure in our policy (mean runs)",
        PRICE_RUNS,
        DEFAULT.price_runs,
        (0.0, 1e6),
        "What a failure costs the policy `workprof` beyond its charge, in mean runs.",
    )
    return SizingSettings(price_runs=price)


def _retry() -> RetrySettings:
    rule = choice(
        "After a failure",
        "memory_retry",
        RULES,
        "published: as each policy's source says. next_edge, double, max_seen, more (+ 20 % or 100 MiB), "
        "request_x_attempt.",
    )
    tau = number(
        "Fails after (% of its time)", "memory_tau", 100.0, (0.0, 100.0), "When a too small attempt dies; 100 = late."
    )
    cap = number("Largest size (GB, 0 = any)", "memory_cap", 0.0, (0.0, 1e6), "Of a node.")
    retries = count("Retries at most", "memory_retries", RetrySettings.max_retries, "Then a run is given up.")
    return RetrySettings(
        rule=rule,
        time_to_failure=tau / 100,
        cap_bytes=max(cap * GB, RetrySettings.floor_bytes) if cap else None,
        max_retries=min(retries, 1000),
    )


def _inputs(asked: Asked) -> tuple[str, ...]:
    """Return the columns that sizes may go by, those of before the run first."""
    hidden = {*USAGE_COLUMNS.values(), "row_id"}
    columns = asked.workbench.columns(asked.dataset.hash)
    names = [column.name for column in columns if column.numeric and not column.truth and column.name not in hidden]
    return (NO_INPUT, *sorted(names, key=lambda name: (known_when(name) == AFTER, name)))
