"""What tasks ask for and use: figures, tasks, boxes, groups, classes, facts."""

from __future__ import annotations

import streamlit as st

from pages._memory import asking, class_limits, facts, task_boxes
from pages._memory.asking import Asked
from pages._parts import figures, tables
from pages._parts.downloads import csv
from workprof.charts.memory.tasks import (
    GROUP_COLUMNS,
    TASK_COLUMNS,
    assessment_headlines,
    assessment_sentence,
    classes_chart,
    group_table,
    left_out_words,
    task_labels,
    task_table,
    with_limits,
)
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.memory.assessment import AUTO, Assessment
from workprof.units import format_duration


def tasks(asked: Asked) -> None:
    """Show where the memory goes."""
    classes = class_limits.kept()
    found = asking.assessment(asked, classes if classes.limits == AUTO else None)
    if classes.limits != AUTO:
        found = with_limits(found, classes)
    figures.headline_row(assessment_headlines(found))
    st.markdown(f"**{markdown_text(assessment_sentence(found), 400)}**")
    _table(asked, found)
    st.header("Memory used, task by task")
    task_boxes.boxes(found)
    st.header("What tasks ask for")
    groups = group_table(found)
    tables.show(
        groups,
        hide_index=True,
        key="memory_groups",
        alt=f"{len(groups)} groups of tasks",
        column_config=tables.columns(GROUP_COLUMNS),
    )
    csv(groups, f"{safe_name(asked.dataset.name)}-request-groups", "memory_groups_csv", f"CSV, all {len(groups)} lines")
    st.header("Light, moderate and heavy tasks")
    class_limits.controls()
    figures.show(classes_chart(found), key="memory_class_chart")
    st.header("Facts that go with memory")
    facts.facts(asked, found)
    st.caption(
        f"{left_out_words(found.left_out)} Sized for {found.settings.target}; computed in "
        f"{format_duration(found.seconds)}; dataset {asked.dataset.hash[:8]}."
    )


def _table(asked: Asked, found: Assessment) -> None:
    table = task_table(found)
    st.caption("Most GB·h wasted first. A click on a column sorts; select a task to look for its bins.")
    picked = tables.show(
        table,
        hide_index=True,
        key="memory_tasks",
        alt=f"{len(table)} tasks with what they ask for, use and waste",
        column_config=tables.columns(TASK_COLUMNS),
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(table)]
    with st.container(horizontal=True):
        if rows:
            task = found.tasks[rows[0]].task
            label = next(name for name, full in task_labels([one.task for one in found.tasks]).items() if full == task)
            st.button(
                f"Bins of {markdown_text(label, 40)}",
                type="primary",
                icon=":material/stacked_bar_chart:",
                key="memory_open_bins",
                on_click=asking.open_task,
                args=(label, "Bins"),
            )
        csv(table, f"{safe_name(asked.dataset.name)}-tasks", "memory_tasks_csv", f"CSV, all {len(table)} tasks")
