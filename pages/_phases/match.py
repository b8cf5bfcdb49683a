"""Which known workload the run is most like, and whether it is like enough."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._parts import earlier_result, figures, long_question
from pages._parts.downloads import csv
from pages._parts.long_question import LongQuestion
from pages._phases import alignment, entry, known_workloads
from pages._phases.asking import Asked, measure
from workprof.charts.phases.matches import (
    match_chart,
    match_headlines,
    match_report,
    match_sentence,
    match_table,
    scores_chart,
)
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.phases.matching import KnownMatchSettings, Match, MatchRunSettings
from workprof.units import format_duration
from workprof.workbench.phases import MATCH_RUN

BUTTON, WHAT = "Match this run", "Matching"


def match(asked: Asked) -> None:
    """Show where the library comes from, the verdict, and the nearest runs."""
    source = known_workloads.chosen(asked)
    edits = asked.workbench.library_edits(source.hash)
    found: Match | None
    before = partial(_before, asked)
    if edits.labels or source.train_hash:
        known = KnownMatchSettings(asked.line.name, edits, source.train_hash, asked.library)
        answer, start = asked.workbench.known_match_answer, asked.workbench.start_known_match
        ours = LongQuestion("phases_start_match", known, answer, start, BUTTON, before, WHAT)
        found = long_question.result(asked.visit, asked.dataset, ours)
    else:  # the question of `workprof phases match`, and its kept answer
        whole = MatchRunSettings(asked.line.name, asked.library)
        ask, begin = asked.workbench.match_run_answer, asked.workbench.start_match_run
        shared = LongQuestion("phases_start_match_run", whole, ask, begin, BUTTON, before, WHAT)
        found = long_question.result(asked.visit, asked.dataset, shared)
    if found is not None:
        _found(asked, found, KnownMatchSettings(asked.line.name, edits, source.train_hash, asked.library))


def _before(asked: Asked) -> str:
    earlier = earlier_result.runs(asked.visit, MATCH_RUN.name)
    took = f"the last one here took {format_duration(earlier[0].seconds)}" if earlier else "fifty runs take a minute"
    name = markdown_text(asked.line.name)
    return f"{name} is not matched with these settings yet. The library is learned without it; {took}."


def _found(asked: Asked, found: Match, settings: KnownMatchSettings) -> None:
    figures.headline_row(match_headlines(found))
    for note in found.notes:
        st.caption(f":material/info: {markdown_text(note, 400)}")
    scores = scores_chart(found)
    if scores is None:
        st.markdown(f"**{markdown_text(match_sentence(found), 500)}**")
    else:
        figures.show(scores, key="phases_unlikeness")
    by = measure("Distance", "phases_distance")
    figures.show(match_chart(found, by), key=f"phases_match_{by}")
    alignment.alignment(asked, found, settings.train_hash)
    entry.entry(asked, found, settings.train_hash)
    _downloads(asked, found, settings)


def _downloads(asked: Asked, found: Match, settings: KnownMatchSettings) -> None:
    stem = f"{safe_name(found.unknown.replace('/', '-'))}-match"
    with st.container(horizontal=True):
        st.download_button(
            "Match report, JSON",
            data=partial(match_report, found, settings, asked.dataset.hash),
            file_name=f"{stem}.json",
            mime="application/json",
            on_click="ignore",
            key="phases_match_json",
            icon=":material/download:",
            help="Verdict, distances and settings.",
        )
        csv(match_table(found, "euclidean"), stem, "phases_match_csv", f"Distances to {len(found.matches)} runs, CSV")
