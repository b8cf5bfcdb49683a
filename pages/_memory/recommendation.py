"""Plan: what to request from now on, who wastes most, the trade-off of waste and kills, the next requests."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._frame import link
from pages._frame.errors import refused
from pages._frame.visit import Visit
from pages._memory import exports
from pages._memory.scope import PageContext, assessment, needs_requests
from pages._parts import figures, forms, long_question, running_work, tables
from pages._parts.long_question import LongQuestion
from workprof.charts.memory.held import held_chart, requested_chart
from workprof.charts.memory.recommendation import (
    ONLY_IN_FILES,
    SIZE_COLUMNS,
    bursts_sentence,
    cost_sentence,
    frontier_and_baselines,
    recommendation_headlines,
    recommendation_sentence,
    size_table,
    sizes_chart,
)
from workprof.charts.text import markdown_text
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, read
from workprof.core.units import format_duration, format_share
from workprof.inputs import safe_name
from workprof.memory.advised_sizes import GROUP, KEYS, PROFILE, TASK, USER
from workprof.memory.exports import EXPORTS, FOR_EVERY_KEY
from workprof.memory.questions import RECOMMENDATION
from workprof.memory.recommend import Recommendation, RecommendationSettings, next_step
from workprof.memory.size_lists import sizes_of_recommendation
from workprof.memory.usage import excluded_words
from workprof.profiles.names import name_of
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

MAIN = ("acceptable_kills", "by", "leave_out_bursts")
KILLS = ("default", "0", "0.1%", "0.2%", "0.5%", "1%", "2%", "5%", "10%", "20%")
"""Stops of the slider; a number of one's own from a link stands between them."""


def long_recommendation(
    visit: Visit, dataset: Dataset, settings: RecommendationSettings, name: str
) -> LongQuestion[RecommendationSettings, Recommendation]:
    """Return the recommendation as a question that takes a while, with the words of its button."""
    return LongQuestion(
        name=name,
        settings=settings,
        compute=visit.workbench.recommendation,
        button="Compute the recommendation",
        before=partial(_before, visit, dataset),
        what="Comparing waste and kills of every setting",
    )


def _before(visit: Visit, dataset: Dataset) -> str:
    earlier = running_work.earlier(visit, RECOMMENDATION.name)
    took = "Some seconds for 10,000 runs."
    if earlier:
        took = f"The last one here took {format_duration(earlier[0].seconds)} for {earlier[0].n_rows:,} runs."
    return (
        f"Not computed yet: every setting of workprof is replayed on {dataset.finished_rows:,} runs, chosen on the "
        f"first half and judged on the second. {took}"
    )


def recommendation(context: PageContext) -> None:
    """Show the answer, what is held and what would be, the controls, then the trade-off and the sizes."""
    if needs_requests(context):
        return
    top, below = st.container(), st.container()
    with below:
        settings = _settings(context)
    workbench, dataset = context.workbench, context.dataset
    if settings.by == PROFILE and workbench.profiles.cached(dataset.hash, ProfileSettings()).result is None:
        st.info("Requests by profile need profiles, and none are found yet.", icon=":material/info:")
        st.page_link("pages/profiles.py", label="Find profiles", icon=":material/bubble_chart:")
        return
    if workbench.recommendation.cached(dataset.hash, settings).result is None:
        workbench.recommendation.quick(dataset.hash, settings)  # from a replay that is kept
    with top:
        result = long_question.result(
            context.visit, dataset, long_recommendation(context.visit, dataset, settings, "memory_recommend")
        )
        if result is not None:
            figures.headline(markdown_text(recommendation_sentence(result), 500))
            figures.show(held_chart(result, _names(context, result)), key="memory_held")
        else:
            figures.show(requested_chart(assessment(context)), key="memory_requested")
    if result is not None:
        _more_kills(result)
        figures.headline_row(recommendation_headlines(result))
        figures.fold("What to request next", "memory_next_sizes", _sizes, context, result, icon=":material/list:")
        figures.show(frontier_and_baselines(result), key="memory_recommendation")
        figures.fold("Method", "memory_plan_method", _method, result, icon=":material/function:")


def _names(context: PageContext, result: Recommendation) -> dict[str, str]:
    """Return the names of the profiles by key; of nothing else."""
    if result.settings.by != PROFILE:
        return {}
    names = context.workbench.profile_names(context.dataset.hash)
    return {one.key: name_of(one.key, names) for one in result.sizes}


def _more_kills(result: Recommendation) -> None:
    """Offer the first stop of the slider that saves, where the requests are kept."""
    step = next_step(result.tried, result.acceptable_kills_past) if result.kept else None
    if step is None:
        return
    needed = step.past.failures / step.past.n_runs
    stop = next((one for one in KILLS if one.endswith("%") and float(one[:-1]) / 100 >= needed), "")
    if stop:
        st.button(
            f"Accept {stop[:-1]} % kills",
            key="memory_more_kills",
            icon=":material/trending_up:",
            on_click=_accept,
            args=(stop,),
            help=f"The fewest kills with which memory is saved: {format_share(needed)} of the runs.",
        )


def _accept(stop: str) -> None:
    """Set the slider (a callback)."""
    st.session_state[RECOMMENDATION.leaf("acceptable_kills").key(RECOMMENDATION.page)] = stop


def _settings(context: PageContext) -> RecommendationSettings:
    by_path = {leaf.path: leaf for leaf in RECOMMENDATION.leaves}
    present = tuple(by for by in KEYS if by not in (USER, GROUP) or by in context.columns)
    own = {
        "acceptable_kills": partial(_acceptable_kills, by_path["acceptable_kills"]),
        "by": partial(forms.control, by_path["by"], RECOMMENDATION.page, present),
    }
    given = {"frontier.target": context.target, "frontier.request_bytes": context.request_bytes}
    return forms.settings(context.visit, context.dataset, RECOMMENDATION, MAIN, given, own)


def _acceptable_kills(leaf: Leaf) -> str:
    """Show the slider; a value of a link that is no stop of it becomes one."""
    key = leaf.key(RECOMMENDATION.page)

    def parse(text: str) -> str:
        RecommendationSettings(acceptable_kills=read(leaf, text))
        return text

    link.check(key, parse)
    current = st.session_state.get(key) or st.query_params.get(key) or KILLS[0]
    stops = KILLS if current in KILLS else (*KILLS, current)
    chosen = st.select_slider(
        leaf.label,
        stops,
        value=KILLS[0],
        key=key,
        bind="query-params",
        format_func=lambda stop: leaf.about.shown.get(stop, stop),
        help=f"{leaf.about.help} Automatic: {leaf.about.empty}.",
    )
    try:
        return str(read(leaf, str(chosen)))
    except SettingsError as error:
        refused(str(error))
        return ""


def _method(result: Recommendation) -> None:
    """Show how the recommendation was found, and what counts in it."""
    setting = "no setting of workprof" if result.sizing is None else f"workprof, {result.setting}"
    text = (
        f"Every setting of workprof was replayed on the runs in order of start; {setting} was chosen on the first "
        f"{result.n_past:,} runs and is judged on the other {result.n_judged:,}."
    )
    st.markdown(markdown_text(text, 600))
    for words in (cost_sentence(result), bursts_sentence(result), *(f"{note}." for note in result.notes)):
        if words:
            st.caption(markdown_text(words[:1].upper() + words[1:], 400))
    left_out = excluded_words(result.left_out)
    excluded = f"Excluded: {left_out}" if left_out else "No run is excluded"
    st.caption(f"{markdown_text(excluded, 300)}. Computed in {format_duration(result.seconds)}.")


def _sizes(context: PageContext, result: Recommendation) -> None:
    names = _names(context, result)
    chart = sizes_chart(result, names)
    if chart is not None:
        figures.show(chart, key="memory_recommended_sizes")
    table = size_table(result, names)
    tables.show(
        table.head(figures.MOST_TABLE_ROWS),
        key="memory_recommended_table",
        alt=f"Recommended requests of {len(table)} lines with kill probability and evidence",
        column_config=tables.columns(SIZE_COLUMNS) | dict.fromkeys(ONLY_IN_FILES),
    )
    tables.csv(
        table,
        f"{safe_name(context.dataset.name)}-recommended",
        "memory_recommended_csv",
        "Download CSV",
    )
    formats = tuple(EXPORTS) if result.settings.by == TASK else FOR_EVERY_KEY
    made = partial(sizes_of_recommendation, result)
    exports.buttons(context, "memory_recommended_export", "Sizes", "memory-recommended", made, formats)
