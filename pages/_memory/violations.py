"""The runs that the plan is too small for, with the way to each job."""

from __future__ import annotations

import streamlit as st

from pages._frame import cross_link
from pages._frame.cross_link import Link
from pages._memory.asking import Asked
from pages._parts import tables, terms
from pages._parts.controls import choice
from pages._parts.downloads import csv
from workprof.charts.memory.policies import violations_sentence, violations_table
from workprof.charts.profiles.jobs import Selection
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.plan import PlanSettings, Violations, ViolationSettings

JOB = "memory_violation"


def violations(asked: Asked, plan: PlanSettings) -> None:
    """Show the worst violations of a plan, and links to their jobs."""
    st.header("Runs above their size")
    found = asked.workbench.violations(asked.dataset.hash, ViolationSettings(plan))
    st.markdown(markdown_text(violations_sentence(found), 300))
    if not found.n_above:
        return
    table, number = violations_table(found), st.column_config.NumberColumn
    tables.show(
        table,
        hide_index=True,
        key="memory_violations",
        alt=f"{len(table)} runs that used more than the plan gives",
        column_config=terms.columns(
            table.columns,
            {
                "row_id": number("row", format="%d"),
                "used_gb": number("used", format="%.4g GB"),
                "size_gb": number("size", format="%.4g GB"),
                "short_gb": number("short by", format="%.4g GB"),
                "hours": number("hours", format="%,.2f"),
                "full_name": st.column_config.TextColumn("full name", width="large"),
            },
        ),
    )
    name = f"{safe_name(asked.dataset.name)}-above-their-size"
    csv(table, name, "memory_violations_csv", f"CSV, the worst {len(table)} of {found.n_above:,}")
    _links(asked, found)


def _links(asked: Asked, found: Violations) -> None:
    rows = found.row_ids.tolist()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = choice("Job", JOB, tuple(str(row) for row in rows), "Row number of a job above.")
        dataset = asked.dataset.hash
        one = {"classify_tab": "One job", "classify_job": row}
        cross_link.follow(
            Link("Its profile and forecast", "classify", dataset, one, "label", "The job on the Classify page."),
            "memory_violation_classify",
        )
        these = {"profiles_tab": "Map", "profiles_selected": Selection(rows=tuple(rows)).text()}
        words = f"All {len(rows)} on the map of jobs" if len(rows) > 1 else "On the map of jobs"
        cross_link.follow(
            Link(words, "profiles", dataset, these, "bubble_chart", "With all their columns, on the Profiles page."),
            "memory_violations_map",
        )
