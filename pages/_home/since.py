"""Since last week: the last full period against the one before, each line a link to what it is about."""

from collections.abc import Iterator

import streamlit as st

from pages._frame import cross_link, look
from pages._frame.cross_link import Link
from pages._frame.visit import Visit
from pages._home import compare
from pages._memory.plan import MOST_WORDS
from pages._parts import forms, long_question
from pages._parts.long_question import LongQuestion
from workprof.answers.changes import (
    before_words,
    changes_answer,
    changes_sentence,
    clock_s,
    degraded_words,
    parts_words,
    taken_up_line,
    worse_line,
)
from workprof.answers.node_history import moved_words
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.words import label_text, markdown_text
from workprof.memory.changes import Changes, ChangesSettings
from workprof.memory.comparison import APPEARED, VANISHED
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.questions import ASSESS, CHANGES, VERDICT
from workprof.nodes.questions import DETECT, HISTORY
from workprof.store.reports import Dataset

AT_ONCE_RUNS = 100_000
"""Up to so many runs it is computed while Home is drawn: some seconds, and kept."""
SHOWN_WORSE = 1


def show(visit: Visit, dataset: Dataset, by: str) -> Changes | None:
    """Show what changed and return it, or show why that cannot be told."""
    place = st.container()
    with st.container(horizontal=not look.narrow(), vertical_alignment="bottom"):
        with st.container(width=forms.FIELD_PX):
            since = forms.control(CHANGES.leaf("since"), CHANGES.page)
        links = st.container(horizontal=True)
    with place:
        try:
            found = _result(visit, dataset, ChangesSettings(since, by))
        except (ColumnMissing, NotEnoughData) as problem:
            st.caption(markdown_text(f"{str(problem)[:1].upper()}{str(problem)[1:]}.", 300))
            return None
        if found is not None:
            st.header(markdown_text(changes_sentence(found), 300))
    with links:
        for at, link in enumerate(_lines(visit, found, dataset) if found is not None else ()):
            cross_link.follow(link, f"home_changed_{at}")
    return found


def _result(visit: Visit, dataset: Dataset, settings: ChangesSettings) -> Changes | None:
    compute = visit.workbench.changes
    outcome = compute.cached(dataset.hash, settings)
    if outcome.refusal:
        raise NotEnoughData(outcome.refusal)
    if outcome.result is not None:
        return outcome.result
    running = outcome.job is not None and outcome.job.active
    if not running and dataset.rows <= AT_ONCE_RUNS:
        with st.spinner("Comparing with the period before…", show_time=True):
            return compute(dataset.hash, settings)
    asked = LongQuestion(
        "home_changes",
        settings,
        compute,
        "Compare with the period before",
        lambda: before_words(dataset.rows),
        "Comparing",
        outlives=True,
    )
    return long_question.result(visit, dataset, asked)


def _lines(visit: Visit, found: Changes, dataset: Dataset) -> Iterator[Link]:
    """Yield a link for each thing that changed."""
    plan = {"memory_tab": VERDICT.tab}
    if found.taken_up is not None and found.taken_up.rows:
        yield Link(label_text(taken_up_line(found.taken_up), 160), "memory", dataset.hash, plan, "task_alt")
    for one in found.worse[:SHOWN_WORSE]:
        find = {**plan, "memory_verdict_find": ", ".join(one.key.values())[:MOST_WORDS]}
        yield Link(label_text(worse_line(one), 160), "memory", dataset.hash, find, "trending_up")
    page, where = ("profiles", {}) if found.compared.by == PROFILE else ("memory", {"memory_tab": ASSESS.tab})
    for state, icon in ((APPEARED, "add_circle"), (VANISHED, "remove_circle")):
        if words := parts_words(found, state):
            yield Link(label_text(f"{state.capitalize()}: {words}", 160), page, dataset.hash, where, icon)
    if found.degraded:
        nodes = {"nodes_tab": DETECT.tab}
        words = label_text(degraded_words(found.degraded), 160)
        yield Link(words, "nodes", found.degraded[0].hash, nodes, "dns")
    for runs, history in visit.workbench.followed_nodes(dataset.hash):
        if words := moved_words(history, runs.name, found.days[1], clock_s(found)):
            yield Link(label_text(words, 160), "nodes", runs.hash, {"nodes_tab": HISTORY.tab}, "dns")


def periods(found: Changes, dataset: Dataset) -> None:
    """Show both periods side by side, with the rows that changed."""
    compare.told(changes_answer(found), dataset, "periods")
