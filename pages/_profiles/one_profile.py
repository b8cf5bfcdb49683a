"""The selected profile: its facts, its name and note, and the ways to its jobs, their memory, durations and nodes."""

import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages._frame import cross_link, datasets, link
from pages._frame.cross_link import Link
from pages._parts import clusterings, controls, figures, tabs
from pages._profiles import selection
from pages._profiles.views import View
from workprof.answers.tasks import told
from workprof.charts.profiles.jobs import Selection
from workprof.charts.profiles.overview import LABEL_WORDS, arrivals
from workprof.core.units import dated, format_duration, format_share, gb_h
from workprof.core.words import counted, label, markdown_text, shortened
from workprof.formats.measured import BENCHMARKS
from workprof.profiles.names import OUTLIERS
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.summary import ProfileCard
from workprof.store.reports import ProfileNote

CHOSEN = "profiles_profile"
TYPICAL_FIELDS = 4
TYPICAL_SHARE = 0.05
"""A value of fewer runs of a profile says nothing of it, such as the name of one job among hundreds."""


def _ordered(view: View) -> list[ProfileCard]:
    return sorted(view.fit.cards, key=lambda card: (card.profile == OUTLIERS, -card.size))


def chosen(view: View) -> int:
    """Return the selected profile: of the session, else of the address, else the largest."""
    offered = {str(card.profile): card.profile for card in _ordered(view)}
    first = next(iter(offered))
    now = st.session_state.get(CHOSEN)
    return offered[now if now in offered else link.read(CHOSEN, link.one_of(*offered), first)]


def choice(view: View) -> None:
    """Show the list of profiles, the largest first."""
    offered = tuple(str(card.profile) for card in _ordered(view))
    shown = {number: view.names[int(number)] for number in offered}
    controls.choice("Profile", CHOSEN, offered, "Its row is outlined, and its card is below.", shown=shown)


def take_click(plot: str) -> None:
    """Select the profile of the row that was clicked in a chart (a callback)."""
    points = st.session_state[plot]["selection"]["points"]
    given: Any = next((point["customdata"] for point in points if point.get("customdata") is not None), None)
    if given is not None:
        st.session_state[CHOSEN] = str(int(given[0] if isinstance(given, (list, tuple)) else given))


def card(view: View) -> None:
    """Show the selected profile."""
    one = next(card for card in view.fit.cards if card.profile == chosen(view))
    st.markdown(f"## {markdown_text(view.names[one.profile])}")
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(f"{one.size:,} runs · {format_share(one.share)}", color="blue")
        for words in one.labels:
            st.badge(markdown_text(LABEL_WORDS.get(words, words)), color="gray")
    with st.grid(min_column_width=320):
        with st.container():
            st.markdown(_facts(view, one))
        with st.container():
            drawn = arrivals(one, view.names[one.profile], dates=_has_dates(view))
            figures.small(drawn, key=f"arrivals_{one.profile}")
    _note(view, one)
    links(view, one, ways(view))


def _has_dates(view: View) -> bool:
    starts = view.visit.workbench.column_profiles(view.dataset.hash, ("start_time_s",))
    return any(dated(one.maximum) for one in starts)


def _facts(view: View, card: ProfileCard) -> str:
    _, q25, q50, q75, q95, _ = (format_duration(value) for value in card.duration_quantiles_s.tolist())
    lines = [f"Duration: median **{q50}**, IQR {q25} to {q75}, p95 {q95}"]
    if math.isfinite(card.spike_s):
        lines.append(f"{format_share(card.spike_share)} of the runs last exactly {format_duration(card.spike_s)}")
    used = view.used.get(card.profile, math.nan)
    if math.isfinite(used):
        unused = view.unused.get(card.profile, math.nan)
        left = f", {markdown_text(gb_h(unused))} unused" if math.isfinite(unused) else ""
        lines.append(f"Memory: **{format_share(used)}** of the request used (weighted by run time){left}")
    first = {top.field: top for top in reversed(card.top_metadata)}
    typical = [
        f"{label(top.field)} {shortened(told(top.field, top.value), 20)} ({format_share(top.share)})"
        for top in reversed(first.values())
        if top.share >= TYPICAL_SHARE
    ]
    none = "Typical: no value, each is rare" if first else "No metadata"
    lines.append("Typical: " + markdown_text(", ".join(typical[:TYPICAL_FIELDS]), 300) if typical else none)
    members = {"job": card.n_jobs, "user": card.n_users, "group": card.n_groups}
    if any(members.values()):  # a trace without users or groups has none to count
        largest = f"; largest single job {format_share(card.job_purity)}" if card.n_jobs else ""
        lines.append(", ".join(counted(count, noun) for noun, count in members.items() if count) + largest)
    if math.isfinite(card.purity):
        lines.append(f"{format_share(card.purity)} share one workload and task")
    if view.scored:
        lines.append(f"Silhouette: {card.silhouette:.2f}" if math.isfinite(card.silhouette) else "Silhouette: no data")
    return "\n".join(f"- {line}" for line in lines)


def _note(view: View, card: ProfileCard) -> None:
    saved = view.visit.workbench.profile_notes(view.dataset.hash, view.settings).get(card.profile)
    if saved is not None and saved.note:
        st.markdown(f":material/sticky_note_2: {markdown_text(saved.note, 400)}")
    if card.profile == OUTLIERS:
        return
    if view.visit.readonly:
        st.button(
            "Name and note", icon=":material/edit:", key=f"note_{card.profile}", disabled=True, help=view.visit.refusal
        )
        return
    popup = f"note_popup_{card.profile}"
    with controls.popup("Name and note", popup, icon=":material/edit:"), st.form(f"note_{card.profile}", border=False):
        name = st.text_input(
            "Name", value=saved.name.strip() if saved else "", max_chars=40, key=f"note_name_{card.profile}"
        )
        note = st.text_area("Note", value=saved.note if saved else "", max_chars=400, key=f"note_text_{card.profile}")
        if st.form_submit_button("Save", type="primary"):
            written = ProfileNote(card.profile, name.strip(), note.strip())
            view.visit.workbench.set_profile_note(view.dataset.hash, view.settings, written)
            controls.close(popup)


TAB, JOBS_VIEW = "profiles_tab", "Map"
TASK_FIELD = "task_name"


@dataclass(frozen=True)
class Ways:
    """What the links of all cards share: the clustering's name on Durations, the benchmark runs, why there is none."""

    clustering: str
    nodes: str
    no_advice: str


def ways(view: View) -> Ways:
    """Return where the profiles of a clustering lead to."""
    workbench, dataset = view.visit.workbench, view.dataset.hash
    usual = workbench.profiles.cached(dataset, ProfileSettings()).key
    own = workbench.profiles.cached(dataset, view.settings).key
    nodes = datasets.newest(workbench.datasets(), BENCHMARKS)
    no_advice = "" if nodes else "No benchmark runs are loaded yet: load some on the Data page."
    name = clusterings.name_of(view.visit, view.dataset, view.fit.settings)
    if own != usual and name == clusterings.DEFAULT:
        no_advice = "Nodes are ranked for saved profiles; the scores of these are being computed."
    return Ways(name, nodes, no_advice)


def links(view: View, card: ProfileCard, to: Ways) -> None:
    """Show the links of one card."""
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Jobs",
            key=f"profiles_jobs_of_{card.profile}",
            type="tertiary",
            icon=":material/list:",
            on_click=_jobs,
            args=(view, card.profile),
        )
        for position, link in enumerate(_elsewhere(view, card, to)):
            cross_link.follow(link, f"profiles_link_{card.profile}_{position}")


def _elsewhere(view: View, card: ProfileCard, to: Ways) -> tuple[Link, ...]:
    dataset = view.dataset.hash
    durations = {"durations_by": "profile", "durations_clustering": to.clustering}
    links = [Link("Durations", "durations", dataset, durations, "timer", "How long the jobs of each profile take.")]
    links += _memory(view, card, to)
    if card.profile != OUTLIERS:
        advice = {"nodes_tab": "For a profile", "nodes_jobs": dataset}
        advice |= {"nodes_profile": str(card.profile), "nodes_clustering": to.clustering}
        meaning = to.no_advice or "Which node suits what these jobs use."
        links.append(Link("Best nodes", "nodes", to.nodes, advice, "dns", meaning, bool(to.no_advice)))
    return tuple(links)


def _memory(view: View, card: ProfileCard, to: Ways) -> tuple[Link, ...]:
    """Return the way to the bins of a profile; of the outliers, which are none, to those of their main task."""
    task = next((top for top in card.top_metadata if top.field == TASK_FIELD), None)
    main = f"{markdown_text(task.value)}, {format_share(task.share)} of the runs" if task else "not known"
    if card.profile != OUTLIERS:
        meaning = f"Bins for the runs of this profile, whatever their tasks are. Its main task: {main}."
        parameters = {"memory_tab": "Bins", "memory_profile": view.names[card.profile]}
        parameters["memory_clustering"] = to.clustering
        return (Link("Memory plan", "memory", view.dataset.hash, parameters, "memory", meaning),)
    if task is None:
        return ()
    parameters = {"memory_tab": "Bins", "memory_task": task.value}
    meaning = f"Unclustered runs are no profile: this opens {main}."
    return (Link("Memory of its main task", "memory", view.dataset.hash, parameters, "memory", meaning),)


def _jobs(view: View, profile: int) -> None:
    """Select the profile's rows and turn to the view that lists them (a callback)."""
    selection.set_current(view, Selection(profiles=(profile,)).text())
    st.session_state[selection.ROUND] = st.session_state.get(selection.ROUND, 0) + 1
    tabs.select(TAB, JOBS_VIEW)
