"""From a profile to its jobs, their memory, their durations, and the nodes that suit them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._frame import cross_link, datasets
from pages._frame.cross_link import Link
from pages._parts import clusterings
from pages._profiles import selection_link
from pages._profiles.charts import View
from workprof.charts.profiles.jobs import Selection
from workprof.charts.text import markdown_text
from workprof.charts.theme import OUTLIERS
from workprof.formats.measured import BENCHMARKS
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.summary import ProfileCard
from workprof.units import format_share

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
    if own != usual:
        no_advice = "Nodes are advised for the profiles of the first settings; these are of others."
    return Ways(clusterings.name_of(view.visit, view.dataset, view.fit.settings), nodes, no_advice)


def links(view: View, card: ProfileCard, found: Ways) -> None:
    """Show the links of one card."""
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Its jobs",
            key=f"profiles_jobs_of_{card.profile}",
            type="tertiary",
            icon=":material/list:",
            on_click=_jobs,
            args=(view, card.profile),
        )
        for position, link in enumerate(_elsewhere(view, card, found)):
            cross_link.follow(link, f"profiles_link_{card.profile}_{position}")


def _elsewhere(view: View, card: ProfileCard, found: Ways) -> tuple[Link, ...]:
    dataset = view.dataset.hash
    durations = {"durations_by": "profile", "durations_clustering": found.clustering}
    links = [Link("Durations", "durations", dataset, durations, "timer", "How long the jobs of each profile take.")]
    links += _memory(view, card, found)
    if card.profile != OUTLIERS:
        advice = {"nodes_tab": "For a profile", "nodes_jobs": dataset}
        advice["nodes_profile"] = str(card.profile)
        meaning = found.no_advice or "Which node suits what these jobs use."
        links.append(Link("Nodes for it", "nodes", found.nodes, advice, "dns", meaning, bool(found.no_advice)))
    return tuple(links)


def _memory(view: View, card: ProfileCard, found: Ways) -> tuple[Link, ...]:
    """Return the way to the bins of a profile; of the outliers, which are none, to those of their main task."""
    task = next((top for top in card.top_metadata if top.field == TASK_FIELD), None)
    main = f"{markdown_text(task.value)}, {format_share(task.share)} of the rows" if task else "not known"
    if card.profile != OUTLIERS:
        meaning = f"Bins for the runs of this profile, whatever their tasks are. Its main task: {main}."
        parameters = {"memory_tab": "Bins", "memory_profile": view.names[card.profile]}
        parameters["memory_clustering"] = found.clustering
        return (Link("Memory plan", "memory", view.dataset.hash, parameters, "memory", meaning),)
    if task is None:
        return ()
    parameters = {"memory_tab": "Bins", "memory_task": task.value}
    meaning = f"Outliers are no profile: this opens {main}."
    return (Link("Memory of its main task", "memory", view.dataset.hash, parameters, "memory", meaning),)


def _jobs(view: View, profile: int) -> None:
    """Select the profile's rows and turn to the view that lists them (a callback)."""
    selection_link.keep(view, Selection(profiles=(profile,)).text())
    st.session_state[selection_link.ROUND] = st.session_state.get(selection_link.ROUND, 0) + 1
    st.query_params[TAB] = JOBS_VIEW
