"""Campaigns that were run from this home folder: how far one is, the state of its runs, why some failed."""

import shlex

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures, tables
from pages._parts.controls import choice
from workprof.answers.campaign import states_answer, states_sentence
from workprof.campaign.status import RUNS, enlisted, failures
from workprof.charts.campaign import campaign_ways
from workprof.core.records import digest
from workprof.core.table import frame
from workprof.core.words import markdown_text

EVERY_S = 3.0
ALL = "all states"
MOST_LINES, HEIGHT = 8, 330
MOST_FOLLOWED = 2_000
"""Runs of a campaign that is read again while it runs."""
MOST_REASONS = 5


def show(visit: Visit) -> None:
    """Show the campaigns, if there are any."""
    result, failed = enlisted(visit.workbench.settings.home)
    if not result and not failed:
        return
    st.header("Campaigns", help="Commands over inputs, nodes and repeats, by `workprof campaign run PLAN.toml`.")
    for problem in failed:
        st.warning(markdown_text(problem, 300), icon=":material/warning:")
    if not result:
        return
    chosen = result[0]
    if len(result) > 1:
        by_name = {f"{one.campaign}-{digest(one.folder)[:6]}": one for one in result}
        words = {name: f"{one.campaign} · {one.folder}" for name, one in by_name.items()}
        chosen = by_name[choice("Campaign", "runs_campaign", tuple(by_name), "The last changed first.", shown=words)]
    follows = chosen.running and len(chosen.runs) <= MOST_FOLLOWED
    st.fragment(_one, run_every=EVERY_S if follows else None)(visit, chosen.folder)


def _one(visit: Visit, folder: str) -> None:
    result = next((one for one in enlisted(visit.workbench.settings.home)[0] if one.folder == folder), None)
    if result is None:  # its plan went away meanwhile
        return
    total = len(result.runs)
    st.progress(result.done / total, text=markdown_text(states_sentence(result), 300))
    figures.show(campaign_ways(result), key="runs_ways", sentence=False)
    meaning = states_answer(result).table("states")
    tables.saved(meaning, f"campaign-{result.campaign}-states", key="runs_states", alt="What each state means")
    reasons = failures(result.runs)
    for reason in reasons[:MOST_REASONS]:
        st.error(f"{markdown_text(reason, 300)}.", icon=":material/error:")
    if len(reasons) > MOST_REASONS:
        st.caption(f"{len(reasons) - MOST_REASONS:,} further reasons are in the table.")
    state = choice("State", "runs_state", (ALL, *result.states), "Of the runs in the table.")
    table = frame(RUNS, [one for one in result.runs if state in (ALL, one.state)])
    height = HEIGHT if len(table) > MOST_LINES else "content"
    tables.show(table, RUNS, key="runs_campaign_runs", alt=f"{len(table)} runs of the campaign", height=height)
    tables.csv(table, f"campaign-{result.campaign}", "runs_campaign_csv", "Download CSV")
    if result.done < total:
        st.caption(
            "A campaign that was stopped goes on with the same command; option --failed tries failed runs again."
        )
        st.code(f"workprof campaign run {shlex.quote(result.plan)}", language="shell", wrap_lines=True)
