"""What to request from now on: the recommendation beside two baselines, and the sizes of the next runs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._memory import exports
from pages._memory.scope import PageContext, needs_requests
from pages._parts import figures, forms, long_question, running_work, tables
from pages._parts.long_question import LongQuestion
from workprof.charts.memory.recommendation import (
    ONLY_IN_FILES,
    SIZE_COLUMNS,
    bursts_sentence,
    cost_sentence,
    frontier_and_baselines,
    recommendation_headlines,
    size_table,
    sizes_chart,
)
from workprof.charts.text import markdown_text
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, read
from workprof.core.units import format_duration
from workprof.inputs import safe_name
from workprof.memory.advised_sizes import PROFILE, TASK
from workprof.memory.exports import EXPORTS, FOR_EVERY_KEY
from workprof.memory.questions import RECOMMENDATION
from workprof.memory.recommend import Recommendation, RecommendationSettings
from workprof.memory.size_lists import sizes_of_recommendation
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

MAIN = ("acceptable_kills", "cost_per_kill_gb_h", "by", "leave_out_bursts")
KILLS = ("default", "0", "0.1%", "0.2%", "0.5%", "1%", "2%", "5%", "10%", "20%")
"""Stops of the slider; a number of one's own from a link stands between them."""


def long_recommendation(
    visit: Visit, dataset: Dataset, settings: RecommendationSettings, name: str
) -> LongQuestion[RecommendationSettings, Recommendation]:
    """Return the recommendation as a question that takes a while, with the words of its button."""
    return LongQuestion(
        name=name,
        settings=settings,
        ask=visit.workbench.recommendation,
        button="Compute the recommendation",
        before=partial(_before, visit, dataset),
        what="Trading waste against kills",
    )


def _before(visit: Visit, dataset: Dataset) -> str:
    earlier = running_work.earlier(visit, RECOMMENDATION.name)
    took = "Some seconds for 10,000 runs."
    if earlier:
        took = f"The last one here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} runs."
    return (
        f"What to request instead, and what it would save and kill, is not computed yet: every setting of workprof is "
        f"replayed on {dataset.finished_rows:,} runs, chosen on the first half and judged on the second. {took}"
    )


def recommendation(context: PageContext) -> None:
    """Show what is recommended, its chart and controls, then the sizes."""
    if needs_requests(context):
        return
    top = st.container()
    settings = _settings(context)
    workbench, dataset = context.workbench, context.dataset
    if settings.by == PROFILE and workbench.profiles.cached(dataset.hash, ProfileSettings()).result is None:
        st.info("Sizes by profile need profiles, and none are found yet.", icon=":material/info:")
        st.page_link("pages/profiles.py", label="Find profiles", icon=":material/bubble_chart:")
        return
    if workbench.recommendation.cached(dataset.hash, settings).result is None:
        workbench.recommendation.quick(dataset.hash, settings)  # from a replay that is kept
    with top:
        found = long_question.result(
            context.visit, dataset, long_recommendation(context.visit, dataset, settings, "memory_recommend")
        )
        if found is not None:
            _answer(found)
    if found is not None:
        _sizes(context, found)


def _settings(context: PageContext) -> RecommendationSettings:
    by_path = {leaf.path: leaf for leaf in RECOMMENDATION.leaves}
    own = {"acceptable_kills": partial(_acceptable_kills, by_path["acceptable_kills"])}
    given = {"frontier.target": context.target, "frontier.request_bytes": context.request_bytes}
    return forms.settings(context.visit, context.dataset, RECOMMENDATION, MAIN, given, own)


def _acceptable_kills(leaf: Leaf) -> str:
    """Show the slider; a value of a link that is no stop of it becomes one."""
    key = leaf.key(RECOMMENDATION.page)

    def parse(text: str) -> str:
        RecommendationSettings(acceptable_kills=read(leaf, text))
        return text

    link.check(key, parse)
    said = st.session_state.get(key) or st.query_params.get(key) or KILLS[0]
    stops = KILLS if said in KILLS else (*KILLS, said)
    chosen = st.select_slider(
        leaf.label,
        stops,
        value=KILLS[0],
        key=key,
        bind="query-params",
        help=f"{leaf.about.help} default: {leaf.about.empty}.",
    )
    try:
        return str(read(leaf, str(chosen)))
    except SettingsError as error:
        refused(str(error))
        return ""


def _answer(found: Recommendation) -> None:
    for note in found.notes:
        st.warning(f"{markdown_text(note, 300)}.", icon=":material/warning:")
    figures.headline_row(recommendation_headlines(found))
    figures.show(frontier_and_baselines(found), key="memory_recommendation")
    words = " ".join(text for text in (cost_sentence(found), bursts_sentence(found)) if text)
    if words:
        st.caption(markdown_text(words, 600))


def _sizes(context: PageContext, found: Recommendation) -> None:
    st.header("What to request next")
    chart = sizes_chart(found)
    if chart is not None:
        figures.show(chart, key="memory_recommended_sizes")
    table = size_table(found)
    tables.show(
        table.head(figures.MOST_TABLE_ROWS),
        key="memory_recommended_table",
        alt=f"Recommended sizes of {len(table)} rows with kill probability and evidence",
        column_config=tables.columns(SIZE_COLUMNS) | dict.fromkeys(ONLY_IN_FILES),
    )
    tables.csv(
        table,
        f"{safe_name(context.dataset.name)}-recommended",
        "memory_recommended_csv",
        f"CSV, all {len(table):,} rows",
    )
    formats = tuple(EXPORTS) if found.settings.by == TASK else FOR_EVERY_KEY
    made = partial(sizes_of_recommendation, found)
    exports.buttons(context, "memory_recommended_export", "Sizes", "memory-recommended", made, formats)
    left_out = [f"{rows:,} with {reason}" for reason, rows in found.left_out.items() if rows]
    excluded = f"Excluded: {', '.join(left_out)}" if left_out else "No run is excluded"
    st.caption(f"{markdown_text(excluded, 300)}. Computed in {format_duration(found.seconds)}.")
