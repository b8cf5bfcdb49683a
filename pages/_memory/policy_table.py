"""Every policy in a table, and what each price of a failure picks."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import tables
from pages._parts.downloads import csv
from workprof.charts.memory.policies import CHOICE_COLUMNS, POLICY_COLUMNS, choice_table, policy_table
from workprof.inputs import safe_name
from workprof.memory.replay import ReplayResult


def table(asked: Asked, found: ReplayResult, price: float) -> None:
    """Show the policies, least waste with the price of the failures first."""
    table = policy_table(found, price)
    st.caption("Least waste with the price of the failures first; intervals of 95 %.")
    tables.show(
        table,
        hide_index=True,
        key="memory_policy_table",
        alt=f"{len(table)} policies with waste, failures and their intervals",
        height="content",
        column_config=tables.columns(POLICY_COLUMNS),
    )
    csv(table, f"{safe_name(asked.dataset.name)}-policies", "memory_policies_csv", f"CSV, all {len(table)} policies")
    _prices(found)


def _prices(found: ReplayResult) -> None:
    prices = st.expander(
        "What each price picks", icon=":material/sell:", key="memory_prices", on_change="rerun", bind="query-params"
    )
    if prices.open and found.choices:
        with prices:
            choices = choice_table(found)
            tables.show(
                choices,
                hide_index=True,
                key="memory_choices",
                alt=f"The best policy at {len(choices)} prices of a failure",
                column_config=tables.columns(CHOICE_COLUMNS),
            )
