"""How sizes are chosen, rolled up and priced."""

from __future__ import annotations

import streamlit as st

from pages._memory import class_limits
from pages._memory.asking import Asked
from pages._parts.controls import LARGEST_AMOUNT, choice, count, number
from workprof.memory.assessment import ClassSettings
from workprof.memory.plan import CLASS_SIZES, CORE_RULES, LEAST_RUNS, PERCENTILE, RULES, PlanSettings
from workprof.memory.rollup import ASSUMED_PRICE, GROUPINGS, MEASURES, Price, RollupSettings
from workprof.units import MIB

PERCENT = 100.0


def settings(asked: Asked) -> RollupSettings:
    """Show the controls and return the settings."""
    present = tuple(by for by, names in GROUPINGS.items() if by == "task" or asked.columns & set(names))
    with st.grid(min_column_width=180, gap="small"):
        by = choice("Rows", "memory_by", present, "What is added up.")
        measure = choice(
            "Amount",
            "memory_measure",
            MEASURES,
            "mean: held on average over the trace. peak: at the worst moment. one_each: one run of every task.",
        )
        cores = choice(
            "Cores", "memory_cores", CORE_RULES, "non_parallel_to_one: tasks that use one core at most get one."
        )
        price = Price(
            _number("Price per GB·h (assumed)", "memory_price", ASSUMED_PRICE, "Yours: no price list comes with this."),
            _currency(),
        )
        plan = _plan(asked)
    return RollupSettings(by, measure, plan, cores, asked.request_bytes, price)


def _plan(asked: Asked) -> PlanSettings:
    rule = choice(
        "Size of a task",
        "memory_rule",
        RULES,
        "max_seen: the largest use. percentile: of the uses. least_waste: cheapest with retries. class_sizes: light "
        "and moderate tasks get the size of their class.",
    )
    share = 0.95
    if rule == PERCENTILE:
        share = _number("Percentile (%)", "memory_percentile", 95.0, "Of the uses.", most=100.0, least=0.1) / PERCENT
    return PlanSettings(
        rule=rule,
        headroom=_number("Margin (%)", "memory_margin", 10.0, "Added to the chosen use.", most=300.0) / PERCENT,
        percentile=share,
        step_bytes=_number("Steps of (MiB)", "memory_plan_step", 64.0, "0 = any size.") * MIB,
        floor_bytes=_number("Smallest size (MiB)", "memory_floor", 64.0, "No task gets less.", least=1.0) * MIB,
        least_runs=count("Runs for advice", "memory_least_runs", LEAST_RUNS, "Fewer: the request stays.", least=1),
        classes=class_limits.controls() if rule == CLASS_SIZES else ClassSettings(),
        target=asked.target,
    )


def _number(
    words: str, key: str, value: float, meaning: str, *, least: float = 0.0, most: float = LARGEST_AMOUNT
) -> float:
    return number(words, key, value, (least, most), meaning)


def _currency() -> str:
    return st.text_input("Currency", "USD", max_chars=8, key="memory_currency", bind="query-params").strip() or "USD"
