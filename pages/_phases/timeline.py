"""One run: its counters over time with their phases, a window of it, boundaries set by hand, and its fingerprint."""

import math
from functools import partial
from typing import Any

import streamlit as st

from pages._frame import link
from pages._parts import figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from pages._phases.form import FROM, OWN, OWN_OF, SHOWN, TO, PageContext
from pages._phases.methods import methods
from workprof.answers.phases import phase_table, statistic_words
from workprof.charts.phases.fingerprints import EVERY, characters_chart, fingerprint_chart
from workprof.charts.phases.timeline import (
    fingerprint_json,
    fingerprint_npz,
    most_moving,
    timeline_chart,
)
from workprof.core.errors import SettingsError
from workprof.core.fields import read
from workprof.core.words import counted, markdown_text
from workprof.inputs import safe_name
from workprof.phases.questions import PAGE, TIMELINE
from workprof.phases.timeline import OwnBoundaries, Timeline, TimelineSettings

CHART, CELLS = "phases_timeline", "phases_cells"
EVERY_COUNTER = "every counter"
LONG_RUN = 1_200
LARGE_DATASET = 30_000
"""Samples from which on the search is a job: a run of twenty minutes takes seconds."""


def timeline(context: PageContext) -> None:
    """Show the counters with the strongest changes, then window and boundaries, and what was done to the samples."""
    first = st.container()
    settings = _settings(context)
    with first:
        result = _result(context, settings)
        if result is None:
            return
        chart = timeline_chart(result, shown_counters(context, result))
        figures.headline(markdown_text(chart.takeaway, 400))
        figures.show(chart, key=CHART, on_select=dragged, sentence=False)
    for note in result.notes:
        st.caption(f":material/info: {markdown_text(note[:1].upper() + note[1:], 500)}")
    tables.csv(
        phase_table(result).frame,
        f"{safe_name(context.dataset.name)}-phases",
        "phases_csv",
        f"Phases of all {len(result.counters)} counters, CSV",
    )
    figures.fold("PELT and other methods", "phases_methods", methods, context)


def fingerprint(context: PageContext) -> None:
    """Show what the phases are, by the counters that tell them apart; then every cell, folded, and the files."""
    first = st.container()
    settings = _settings(context)
    with first:
        result = _result(context, settings)
        if result is None:
            return
        chart = characters_chart(result)
        figures.headline(markdown_text(chart.takeaway, 400))
        figures.show(chart, key="phases_characters", sentence=False)
    if {"phases_statistic", "phases_every"} & {*st.query_params}:  # a former link to them
        st.session_state.setdefault(CELLS, True)
    figures.fold("Every counter and statistic", CELLS, _cells, context, result)
    _files(context, result)


def _cells(context: PageContext, result: Timeline) -> None:
    """Show one statistic of every counter and phase, or all of them."""
    with st.grid(min_column_width=200, gap="small"):
        options = (*result.statistics, EVERY)
        words = {name: statistic_words(name) for name in result.statistics} | {EVERY: "all statistics"}
        statistic = choice("Statistic", "phases_statistic", options, "Of each phase.", shown=words)
        every = st.toggle(
            f"All {len(result.counters)} counters",
            key="phases_every",
            bind="query-params",
            help="Else the counters shown on the timeline.",
        )
    counters = result.counters if every else shown_counters(context, result)
    figures.show(fingerprint_chart(result, statistic, counters), key="phases_fingerprint", sentence=False)


def _files(context: PageContext, result: Timeline) -> None:
    stem = f"{safe_name(result.fingerprint.name.replace('/', '-'))}-fingerprint"
    with st.container(horizontal=True):
        for ending, mime, data in (
            ("json", "application/json", partial(fingerprint_json, result, context.dataset.hash)),
            ("npz", "application/octet-stream", partial(fingerprint_npz, result)),
        ):
            st.download_button(
                f"Fingerprint, {ending.upper()}",
                data=data,
                file_name=f"{stem}.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"phases_fingerprint_{ending}",
                icon=":material/download:",
                help="All counters, with the true number of phases of each.",
            )


def shown_counters(context: PageContext, result: Timeline) -> tuple[str, ...]:
    """Return the counters to draw: the chosen ones as far as they are searched, else those that move most."""
    chosen = tuple(name for name in context.counters if name in result.counters)
    left_out = [name for name in context.counters if name not in result.counters]
    if left_out:
        st.info(
            f"Not searched for phases, so not drawn: {markdown_text(', '.join(left_out), 300)}. Not in the "
            "counter set, or too many samples are missing.",
            icon=":material/info:",
        )
    return chosen or most_moving(result, SHOWN)


def _result(context: PageContext, settings: TimelineSettings) -> Timeline | None:
    """Return the look at the run: at once where it is short, else made by a job."""
    if context.line.samples <= LONG_RUN and context.dataset.rows <= LARGE_DATASET:
        with st.spinner("Finding the phases…", show_time=True):
            return context.workbench.timeline(context.dataset.hash, settings)
    return long_question.result(
        context.visit,
        context.dataset,
        LongQuestion(
            name="phases_start_timeline",
            settings=settings,
            compute=context.workbench.timeline,
            button="Find the phases",
            before=lambda: (
                f"{counted(context.line.samples, 'sample')} of {counted(context.dataset.rows, 'row')}: the search runs "
                "beside the page."
            ),
            what="Finding the phases",
        ),
    )


def _settings(context: PageContext) -> TimelineSettings:
    with st.grid(min_column_width=150, gap="small"):
        first, last = forms.control(TIMELINE.leaf("from_s"), PAGE), forms.control(TIMELINE.leaf("to_s"), PAGE)
        shown = {EVERY_COUNTER: "Every counter"}
        options = (EVERY_COUNTER, *context.counters)
        counter = choice("Boundaries of", OWN_OF, options, "One of the counters shown, or all.", shown=shown)
        of = "" if counter == EVERY_COUNTER else counter
        link.check(OWN, partial(_boundaries, of))
        typed = st.text_input(
            "Set by hand (s)",
            key=OWN,
            bind="query-params",
            placeholder="detected",
            help="Times at which new phases begin, such as 8, 20.5. Empty: detected. Of several counters: "
            '[{"counter": "a", "at_s": [8, 20.5]}, ...].',
        )
    if first is not None or last is not None:
        st.button("Whole run", icon=":material/zoom_out_map:", key="phases_whole", on_click=_whole)
    if first is not None and last is not None and last <= first:
        st.warning("The window ends before it begins; the whole run is shown.", icon=":material/info:")
        first = last = None
    own: tuple[OwnBoundaries, ...] = ()
    try:
        own = _boundaries(of, typed)
    except ValueError:
        st.warning(
            f"Boundaries are times in seconds with commas between them, not {markdown_text(typed, 60)}; the "
            "detected ones are shown.",
            icon=":material/info:",
        )
    return TimelineSettings(context.line.name, first, last, own, context.library)


def _boundaries(counter: str, typed: str) -> tuple[OwnBoundaries, ...]:
    """Return the boundaries that a text gives: times of one counter ('' = of every one), or a list of records.

    Raises:
        Unreadable: for anything else.
    """
    if not typed.strip():
        return ()
    try:
        if typed.lstrip().startswith("["):
            listed: tuple[OwnBoundaries, ...] = read(TIMELINE.leaf("own"), typed)
            return listed
        at_s = tuple(float(part) for part in typed.replace(";", ",").split(",") if part.strip())
    except (ValueError, SettingsError):
        at_s = (math.nan,)
    if not all(map(math.isfinite, at_s)):
        raise link.Unreadable(f"{link.quoted(typed)} is not times in seconds with commas between them")
    return (OwnBoundaries(counter, at_s),)


def dragged() -> None:
    """Make the box that was dragged over the chart the window (a callback)."""
    window = window_of(st.session_state.get(CHART))
    if window is not None:
        st.session_state[FROM], st.session_state[TO] = window


def window_of(event: Any) -> tuple[float, float] | None:
    """Return the ends of the last box of a selection in seconds, to the tenth; None without one."""
    boxes = event["selection"].get("box", []) if event else []
    if not boxes:
        return None
    ends = sorted(float(end) for end in boxes[-1]["x"])
    first, last = round(ends[0], 1), round(ends[-1], 1)
    return (first, last) if first < last else None


def _whole() -> None:
    st.session_state.update({FROM: None, TO: None})
