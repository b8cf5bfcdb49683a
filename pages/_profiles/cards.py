"""Profiles as cards with names and notes."""

from __future__ import annotations

import math

import streamlit as st

from pages._parts import figures
from pages._profiles import links
from pages._profiles.charts import View
from workprof.charts.profiles.overview import arrivals
from workprof.charts.text import counted, markdown_text, shortened
from workprof.charts.theme import OUTLIERS
from workprof.profiles.summary import ProfileCard
from workprof.store.reports import ProfileNote
from workprof.units import format_duration, format_share

CARDS_A_PAGE = 12
TYPICAL_FIELDS = 4
TYPICAL_SHARE = 0.05
"""A value of fewer rows of a profile says nothing of it, such as the name of one job among hundreds."""


def cards(view: View) -> None:
    """Show the profiles, largest first, outliers last, some at a time."""
    ordered = sorted(view.fit.cards, key=lambda card: (card.profile == OUTLIERS, -card.size))
    pages = math.ceil(len(ordered) / CARDS_A_PAGE)
    page = st.pagination(pages, key="profiles_page", bind="query-params") if pages > 1 else 1
    first = (page - 1) * CARDS_A_PAGE
    shown = ordered[first : first + CARDS_A_PAGE]
    st.caption(f"Groups {first + 1} to {first + len(shown)} of {len(ordered)}, largest first, outliers last.")
    ways = links.ways(view)
    with st.grid(min_column_width=290, border=True) as grid:
        for card in shown:
            with grid.cell():
                _card(view, card)
                links.links(view, card, ways)


def _card(view: View, card: ProfileCard) -> None:
    name = view.names[card.profile]
    st.markdown(f"## {markdown_text(name)}")
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(f"{card.size:,} rows · {format_share(card.share)}", color="blue")
        for words in card.labels:
            st.badge(markdown_text(words), color="orange")
    st.markdown(markdown_text(card.takeaway, 400))
    st.markdown(_facts(card))
    chart = arrivals(card, name)
    figures.small(chart, key=f"arrivals_{card.profile}")
    _note(view, card)


def _facts(card: ProfileCard) -> str:
    _, q25, q50, q75, q95, _ = (format_duration(value) for value in card.duration_quantiles_s.tolist())
    lines = [
        f"Duration: median **{q50}**, middle half {q25} to {q75}, p95 {q95}",
        f"Purity: **{format_share(card.purity)}** one workload and task, {format_share(card.job_purity)} one job",
        f"Silhouette: **{card.silhouette:.2f}**" if math.isfinite(card.silhouette) else "Silhouette: no data",
    ]
    members = {"job": card.n_jobs, "user": card.n_users, "group": card.n_groups}
    if any(members.values()):  # a trace without users or groups has none to count
        lines.append(", ".join(counted(count, noun) for noun, count in members.items() if count))
    if math.isfinite(card.spike_s):
        lines.append(f"Spike: {format_share(card.spike_share)} last {format_duration(card.spike_s)}")
    first = {top.field: top for top in reversed(card.top_metadata)}
    typical = [
        f"{top.field} {shortened(top.value, 20)} ({format_share(top.share)})"
        for top in reversed(first.values())
        if top.share >= TYPICAL_SHARE
    ]
    none = "Typical: no value, each is rare" if first else "No metadata"
    lines.append("Typical: " + markdown_text(", ".join(typical[:TYPICAL_FIELDS]), 300) if typical else none)
    return "\n".join(f"- {line}" for line in lines)


def _note(view: View, card: ProfileCard) -> None:
    kept = view.visit.workbench.profile_notes(view.dataset.hash, view.settings).get(card.profile)
    if kept is not None and kept.note:
        st.markdown(f":material/sticky_note_2: {markdown_text(kept.note, 400)}")
    if card.profile == OUTLIERS:
        return
    if view.visit.readonly:
        st.button(
            "Name and note", icon=":material/edit:", key=f"note_{card.profile}", disabled=True, help=view.visit.refusal
        )
        return
    with st.popover("Name and note", icon=":material/edit:"), st.form(f"note_{card.profile}", border=False):
        name = st.text_input("Name", value=kept.name if kept else "", max_chars=40, key=f"note_name_{card.profile}")
        note = st.text_area("Note", value=kept.note if kept else "", max_chars=400, key=f"note_text_{card.profile}")
        if st.form_submit_button("Save", type="primary"):
            written = ProfileNote(card.profile, name.strip(), note.strip())
            view.visit.workbench.set_profile_note(view.dataset.hash, view.settings, written)
            st.rerun()
