"""One job: picked among the past ones by a search, drawn at random, or described by its fields."""

from __future__ import annotations

import secrets

import pandas as pd
import streamlit as st

from pages._classify import fields, result
from pages._classify.view import View
from pages._frame.errors import guard
from pages._parts import tables
from workprof.charts.text import markdown_text, shortened
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.history import TIMES

SOURCE, PAST, FIELDS = "classify_from", "past job", "own fields"
JOB, SEARCH, HITS, ROUND = "classify_job", "classify_search", "classify_hits", "classify_round"
MOST_HITS = 20
LARGEST_SEED = 2**31


def one_job(view: View) -> None:
    """Show how to give a job, and what is said of it."""
    source = st.segmented_control(
        "The job", (PAST, FIELDS), default=PAST, required=True, key=SOURCE, bind="query-params"
    )
    with guard():
        if source == FIELDS:
            result.result(view, fields.job(view), row_id=None)
            return
        row_id = _picked(view)
        if row_id is None:
            st.info("Search for a job, give its row number, or draw one.", icon=":material/info:")
            return
        _past(view, row_id)


def _picked(view: View) -> int | None:
    """Show the search and the other ways to a past job, and return its row number."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Search past jobs",
            key=SEARCH,
            bind="query-params",
            max_chars=200,
            placeholder="words of job, task, user, group or workload",
            help="Every word must stand in some field of the job. A whole number also finds the row of that number.",
        )
        row_id = st.number_input(
            "Row number",
            min_value=0,
            max_value=max(view.dataset.rows - 1, 0),
            value=None,
            step=1,
            key=JOB,
            bind="query-params",
            width=150,
            placeholder="none",
        )
        st.button("Random job", icon=":material/casino:", key="classify_random", on_click=_draw, args=(view,))
    if text:
        _hits(view, text)
    return None if row_id is None else int(row_id)


def _hits(view: View, text: str) -> None:
    hits = view.visit.workbench.search_jobs(view.dataset.hash, text, MOST_HITS)
    if hits.empty:
        st.caption(f"No job has “{markdown_text(text)}” in its fields.")
        return
    more = f" The first {MOST_HITS}; more words narrow it down." if len(hits) == MOST_HITS else ""
    st.caption(f"{len(hits)} found. Select a line to classify that job.{more}")
    key = f"{HITS}_{st.session_state.get(ROUND, 0)}"
    tables.show(
        hits,
        hide_index=True,
        key=key,
        alt=f"{len(hits)} jobs that match the search",
        height=220 if len(hits) > 5 else "content",
        selection_mode="single-row",
        on_select=lambda: _select(key, hits),
    )


def _select(key: str, hits: pd.DataFrame) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows and rows[0] < len(hits):
        st.session_state[JOB] = int(hits["row_id"].iloc[rows[0]])


def _draw(view: View) -> None:
    with guard():
        st.session_state[JOB] = view.visit.workbench.random_job(view.dataset.hash, secrets.randbelow(LARGEST_SEED))
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1  # a new table: its selection is another job


def _past(view: View, row_id: int) -> None:
    past = view.visit.workbench.past_jobs(view.dataset.hash, [row_id])
    known = [name for name in (*SUBMIT_FIELDS, *TIMES) if name in past.columns]
    given = past[known]
    texts = {name: given[name].iloc[0] for name in known}
    told = [f"{name} {shortened(text, 24)}" for name, text in texts.items() if isinstance(text, str)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Row {row_id}**: {markdown_text(', '.join(told), 300)}", width="stretch")
        st.button("Edit its fields", icon=":material/edit:", key="classify_edit", on_click=_edit, args=(view, given))
    result.result(view, given, row_id=row_id, past=past)


def _edit(view: View, given: pd.DataFrame) -> None:
    fields.fill(view, given)
    st.session_state[SOURCE] = FIELDS
