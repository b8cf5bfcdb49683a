"""Tasks: what each requests and uses, limits by task class, and what predicts memory."""

from dataclasses import replace

import streamlit as st

from pages._frame import link
from pages._memory import scope
from pages._memory.scope import PageContext
from pages._parts import figures, forms, tables
from pages._parts.controls import LARGEST_GB, choice, number
from workprof.answers.assessment import assessment_answer
from workprof.charts.memory.boxes import fact_bars, fact_scatter, facts_of_task, task_boxes, zoom_end_gb
from workprof.charts.memory.tasks import classes_chart
from workprof.charts.shapes import headlines
from workprof.core.answer import Answer
from workprof.core.errors import SettingsError
from workprof.core.units import format_duration
from workprof.core.words import markdown_text, option_words
from workprof.inputs import safe_name
from workprof.memory.assessment import (
    AUTO,
    FIXED,
    LIGHT_GB,
    MODERATE_GB,
    Assessment,
    AssessmentSettings,
    ClassSettings,
    with_limits,
)
from workprof.memory.facts import FactPointsSettings
from workprof.memory.questions import ASSESS

LIGHT, MODERATE, LIMITS = "memory_light", "memory_moderate", "memory_limits"
SMALLEST_GB = 0.001


def current_limits() -> ClassSettings:
    """Return the limits as they were set last: what needs them stands above their controls."""
    state = st.session_state
    return _settings(
        str(state.get(LIMITS) or link.read(LIMITS, link.one_of(FIXED, AUTO), FIXED)),
        _number(LIGHT, LIGHT_GB),
        _number(MODERATE, MODERATE_GB),
    )


def controls() -> ClassSettings:
    """Show the limits and return them."""
    with st.grid(min_column_width=220, gap="small"):
        limits = choice(
            "Limits",
            LIMITS,
            (FIXED, AUTO),
            "Fixed: as set here (5 and 20 GB in the thesis). Automatic: the three sizes that cover all tasks most "
            "cheaply, weighted by their hours.",
            shown={FIXED: "Fixed", AUTO: "Automatic"},
            row=True,
        )
        sizes = [
            number(words, key, value, (SMALLEST_GB, LARGEST_GB), disabled=limits == AUTO)
            for words, key, value in (
                ("Light up to (GB)", LIGHT, LIGHT_GB),
                ("Moderate up to (GB)", MODERATE, MODERATE_GB),
            )
        ]
    if sizes[0] > sizes[1]:
        st.warning(
            "Light must not end above moderate; the thesis' limits of 5 and 20 GB are shown.", icon=":material/info:"
        )
    return _settings(str(limits), *sizes)


def _settings(limits: str, light: float, moderate: float) -> ClassSettings:
    try:
        return ClassSettings(limits, light, moderate)
    except SettingsError:
        return ClassSettings()


def _number(key: str, default: float) -> float:
    given = st.session_state.get(key)
    return link.read(key, _limit, default) if given is None else float(given)


def _limit(text: str) -> float:
    value = link.number(text)
    if not SMALLEST_GB <= value <= LARGEST_GB:
        raise link.Unreadable(f"{link.quoted(text)} is outside {SMALLEST_GB:g} to {LARGEST_GB:,.10g}")
    return value


FULL, CLOSE_UP = "full", "close up"
AXES = {FULL: "Full range", CLOSE_UP: "Zoom"}


def boxes(result: Assessment) -> None:
    """Show what the tasks use, up to the largest use or close up."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = choice("Axis", "memory_boxes", (FULL, CLOSE_UP), shown=AXES, row=True)
        end = 0.0
        if shown == CLOSE_UP:
            end = st.number_input(
                "Zoom to (GB, 0 = half of the tasks)",
                min_value=0.0,
                max_value=LARGEST_GB,
                value=0.0,
                format="%g",
                key="memory_boxes_end",
                bind="query-params",
                width=260,
            )
    figures.show(
        task_boxes(result, (float(end) or zoom_end_gb(result)) if shown == CLOSE_UP else 0.0),
        key=f"memory_boxes_{'close' if shown == CLOSE_UP else 'full'}",
    )


def facts(context: PageContext, result: Assessment) -> None:
    """Show the strongest fields of a task, or over all tasks."""
    context = scope.of_task(context)
    with st.container(horizontal=True):
        every = st.toggle(
            "Over all tasks",
            key="memory_facts_all",
            bind="query-params",
            help="Else the fields of the task chosen above.",
        )
        after = st.toggle(
            "Include fields known only after the run",
            value=True,
            key="memory_facts_after",
            bind="query-params",
            help="They explain, but no prediction may use them.",
        )
    task = "" if every else context.task
    chart = fact_bars(result.features, task, after=after)
    if chart is None:
        st.info("This task has too few runs, or no field that varies.", icon=":material/info:")
    else:
        figures.show(chart, key="memory_facts")
        names = tuple(fact.column for fact in facts_of_task(result.features, task, after=after))
        _one(
            context,
            task,
            choice(
                "Inspect field",
                "memory_fact",
                names,
                "Against the memory used; the strongest first.",
                shown=option_words(names, {}),
            ),
        )


def _one(context: PageContext, task: str, column: str) -> None:
    """Show one field against memory: points of a number, boxes of a category."""
    result = context.workbench.fact_points(context.dataset.hash, FactPointsSettings(column, task, context.target))
    figures.show(fact_scatter(result), key=f"memory_fact_{result.kind}")


def tasks(context: PageContext) -> None:
    """Show where the memory goes: the answer, the tasks, their use, then what explains it."""
    above, limits = st.container(), current_limits()
    shown = {
        "target": context.target,
        "request_bytes": context.request_bytes,
        "classes.limits": limits.limits,
        "classes.light_gb": limits.light_gb,
        "classes.moderate_gb": limits.moderate_gb,
    }
    settings = forms.settings(context.visit, context.dataset, ASSESS, (), shown)
    with above:
        _tasks(context, settings)


def _tasks(context: PageContext, settings: AssessmentSettings) -> None:
    if settings.classes.limits == AUTO:
        result = scope.assessment(context, settings)
    else:  # given limits take no computation of their own
        result = with_limits(scope.assessment(context, replace(settings, classes=ClassSettings())), settings.classes)
    told = assessment_answer(result)
    figures.headline(markdown_text(told.sentence, 400))
    figures.headline_row(headlines(told))
    _table(context, result, told)
    figures.fold("Memory used, task by task", "memory_boxes_open", boxes, result)
    figures.fold("What predicts memory", "memory_facts_open", facts, context, result)
    figures.fold("Requests by size", "memory_groups_open", _groups, context, told)
    figures.fold("Light, moderate and heavy tasks", "memory_classes_open", _classes, result)
    figures.fold("Method", "memory_tasks_method", _method, told, result.seconds)


def _groups(context: PageContext, told: Answer) -> None:
    groups = told.table("groups")
    tables.answer(groups, key="memory_groups", alt=f"{len(groups.rows)} groups of tasks")
    tables.csv(groups.frame, f"{safe_name(context.dataset.name)}-request-groups", "memory_groups_csv", "Download CSV")


def _classes(result: Assessment) -> None:
    controls()
    figures.show(classes_chart(result), key="memory_class_chart")


def _method(told: Answer, seconds: float) -> None:
    for note in told.notes:
        st.caption(markdown_text(note, 600))
    st.caption(f"Computed in {format_duration(seconds)}.")


def _table(context: PageContext, result: Assessment, told: Answer) -> None:
    table = told.table()
    st.caption("Sorted by waste; select a task to see its bins. Memory used by time weighs every run by its hours.")
    picked = tables.answer(
        table,
        key="memory_tasks",
        alt=f"{len(table.rows)} tasks with requests, use and waste",
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = [row for row in picked["selection"]["rows"] if row < len(table.rows)]
    with st.container(horizontal=True):
        if rows:
            label = table.columns[0].of(result.tasks[rows[0]])
            st.button(
                f"Bins of {markdown_text(label, 40)}",
                type="primary",
                icon=":material/stacked_bar_chart:",
                key="memory_open_bins",
                on_click=scope.open_task,
                args=(label, "Bins"),
            )
        tables.csv(table.frame, f"{safe_name(context.dataset.name)}-tasks", "memory_tasks_csv", "Download CSV")
