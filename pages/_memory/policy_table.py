"""Every policy in a table, and what each price of a failure picks."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import tables, terms
from pages._parts.downloads import csv
from workprof.charts.memory.policies import choice_table, policy_table
from workprof.inputs import safe_name
from workprof.memory.replay import ReplayResult


def table(asked: Asked, found: ReplayResult, price: float) -> None:
    """Show the policies, least waste with the price of the failures first."""
    table = policy_table(found, price)
    number, percent, hours = st.column_config.NumberColumn, "%.1f %%", "%,.4g"
    st.caption("Least waste with the price of the failures first; intervals of 95 %.")
    tables.show(
        table,
        hide_index=True,
        key="memory_policy_table",
        alt=f"{len(table)} policies with waste, failures and their intervals",
        height="content",
        column_config=terms.columns(
            table.columns,
            {
                "policy": st.column_config.TextColumn("policy", pinned=True),
                "wasted_gb_h": number("wasted (GB·h)", format=hours, help="Charged and not used."),
                "failures": number("failed attempts", format="%,.4g"),
                "failed_low": number(
                    "runs failing, from", format=percent, help="Wilson interval of runs with a failure."
                ),
                "failed_high": number("to", format=percent),
                "saved_percent": number("saved", format=percent, help="Of what the requests of now are charged."),
                "saved_low": number("saved, from", format=percent, help="Bootstrap over the runs."),
                "saved_high": number("saved, to", format=percent),
                "total_gb_h": number("waste + price (GB·h)", format=hours),
                "charged_gb_h": number("charged (GB·h)", format=hours),
                "never_fit": number("never finished", format="%,.4g"),
                "seconds": number("time (s)", format="%.3g"),
            },
        ),
    )
    csv(table, f"{safe_name(asked.dataset.name)}-policies", "memory_policies_csv", f"CSV, all {len(table)} policies")
    _prices(found)


def _prices(found: ReplayResult) -> None:
    number, amount = st.column_config.NumberColumn, "%,.4g"
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
                column_config=terms.columns(
                    choices.columns,
                    {
                        "price_gb_h": number("price of a failure (GB·h)", format=amount),
                        "wasted_gb_h": number("wasted (GB·h)", format=amount),
                        "failures": number("failed attempts", format=amount),
                    },
                ),
            )
