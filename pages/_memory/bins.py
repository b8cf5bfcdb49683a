"""Bins of a task or of a profile: what they would save, their limits, how many, limits of one's own."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._frame import header, link
from pages._frame.cross_link import Link, follow
from pages._frame.errors import refused
from pages._memory import exports, scope
from pages._memory.scope import PageContext
from pages._parts import clusterings, controls, figures, forms, tables
from pages._parts.controls import choice
from workprof.answers.bins import LIMIT, NODE_GB, WHICH_BIN, answer, nodes_sentence, profile_answer, which_bin_table
from workprof.answers.home import PRICE
from workprof.answers.scenarios import bins_scenario
from workprof.answers.tasks import task_labels
from workprof.answers.verdict import sentence as verdict_sentence
from workprof.charts.memory.bins import improvement_chart, usage_ecdf
from workprof.charts.profiles.overview import profile_names
from workprof.core.answer import Answer, Table
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.question import parameters_of
from workprof.core.units import GB
from workprof.core.words import counted, markdown_text, shortened
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.questions import EVALUATE_CLASSIFIER
from workprof.inputs import safe_name
from workprof.memory.bin_search import COUNT, MOST_BINS, PINNED, STRIDE, BinSettings, faithful_bins
from workprof.memory.bins import GIVEN, Bins, ImprovementCurve, ProfileBinSettings
from workprof.memory.ledger_settings import LedgerPrices
from workprof.memory.questions import BINS
from workprof.memory.verdict import VerdictSettings
from workprof.profiles.names import OUTLIERS, number_of
from workprof.profiles.settings import ProfileSettings

CURRENCY = LedgerPrices().currency
WHICH = "Which bin a run gets"
EDGES = "memory_edges"
MOST_EDGES = 4 * MOST_BINS
TABLE = "memory_edges_table"


def typed() -> tuple[float, ...]:
    """Show the field of custom limits and return them in bytes; () = the best ones are searched."""
    link.check(EDGES, _read)
    text = st.text_input(
        "Custom limits (GB)",
        key=EDGES,
        bind="query-params",
        placeholder="such as 10, 20, 60",
        help="Empty: the best limits are searched. Your own are taken as they are; a run is placed in the smallest "
        "that holds its use with its headroom. The table of bins edits the same numbers.",
    )
    try:
        return _read(text)
    except ValueError as problem:
        refused(str(problem))
        return ()


def table(result: Bins, limits: Table) -> None:
    """Show the bins; an edited limit takes effect at once."""
    lines, name = limits.frame(), LIMIT.name
    key = f"{TABLE}_{'_'.join(f'{edge:.0f}' for edge in result.edges_bytes)}"
    editable = st.column_config.NumberColumn(
        f"{LIMIT.title}, editable", min_value=0.001, format=LIMIT.shown_form, required=True
    )
    tables.edit(
        lines,
        limits.columns,
        num_rows="dynamic",
        key=key,
        disabled=[column for column in lines.columns if column != name],
        on_change=_edited,
        args=(key, tuple(lines[name])),
        column_config={name: editable},
    )
    if result.search == GIVEN:
        st.button("Back to the best limits", key="memory_edges_clear", icon=":material/undo:", on_click=_clear)


def _edited(key: str, edges: tuple[float, ...]) -> None:
    """Take the edges of the edited table over into the field above it (a callback)."""
    st.session_state[EDGES] = after_edits(edges, st.session_state[key])


def after_edits(edges_gb: tuple[float, ...], changes: dict[str, Any]) -> str:
    """Return the field's text once the changes of the table's editor are made."""
    result = dict(enumerate(edges_gb))
    for row, cells in changes["edited_rows"].items():
        result[int(row)] = cells.get(LIMIT.name, result.get(int(row)))
    for row in changes["deleted_rows"]:
        result.pop(int(row), None)
    added = [cells.get(LIMIT.name) for cells in changes["added_rows"]]
    return ", ".join(_written(value) for value in (*result.values(), *added) if value)


def _written(value_gb: float) -> str:
    """Return an edge as text, rounded up to the kB: rounded down, it might leave out the run that it was made for."""
    return f"{math.ceil(round(value_gb * 1e6, 3)) / 1e6:.12g}"


def _clear() -> None:
    st.session_state[EDGES] = ""


def _read(text: str) -> tuple[float, ...]:
    words = [word for word in text.replace(";", ",").split(",") if word.strip()]
    if len(words) > MOST_EDGES:
        raise ValueError(f"{len(words)} limits were given; give at most {MOST_EDGES}")
    edges = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not 0 < value < float("inf"):
            raise ValueError(
                f"{shortened(word.strip(), 20)!r} is no limit; give sizes above 0 in GB, such as 10, 20, 60"
            )
        edges.append(value * GB)
    return tuple(edges)


PROFILE, CLUSTERING = "memory_profile", "memory_clustering"
A_TASK = "the task above"
"""In links; the task of the page."""
MEANING = (
    "The runs that the bins are for: those of the chosen task, or those of a profile, whatever their tasks are. "
    "Profiles are listed once they are found."
)


@dataclass(frozen=True)
class ProfileScope:
    """A chosen profile: its number, its name, the clustering that it is of and what the list calls that one."""

    profile: int
    name: str
    clustering: ProfileSettings
    clustering_name: str


def chosen(context: PageContext) -> ProfileScope | None:
    """Show the choice and return the profile; None = the page's task."""
    with st.grid(min_column_width=220, gap="small") as grid:
        whose, of = grid.cell(), grid.cell()
        with of:
            clustering = clusterings.clustering(context.visit, context.dataset, CLUSTERING)
        labels = _labels(context, clustering)
        other = _follow_name(labels)
        with whose:
            name = choice("Bins of", PROFILE, (A_TASK, *labels), MEANING, shown={A_TASK: "The task"})
    if other:
        st.info(
            f"{markdown_text(other, 80)} is a profile of another clustering; the bins are those of the task.",
            icon=":material/info:",
        )
    if not labels:
        way = Link("Find profiles", "profiles", context.dataset.hash, {}, "bubble_chart", "Bins of profiles need them.")
        follow(way, "memory_find_profiles")
    if name not in labels:
        return None
    return ProfileScope(labels[name], name, clustering, st.session_state.get(CLUSTERING, clusterings.DEFAULT))


def _labels(context: PageContext, clustering: ProfileSettings) -> dict[str, int]:
    """Return 'bert · worker (P3)' -> 3 of every profile, in order of their numbers; nothing where none are found."""
    try:
        fit = context.workbench.profiles.cached(context.dataset.hash, clustering).result
    except (ColumnMissing, NotEnoughData):
        return {}  # such a table has no profiles; bins of its tasks need none
    if fit is None:
        return {}
    names = profile_names(fit, context.workbench.profile_notes(context.dataset.hash, clustering))
    return {names[profile]: profile for profile in sorted(names) if profile != OUTLIERS}


def _follow_name(labels: dict[str, int]) -> str:
    """Call a profile as the list calls it: a link may give a number, or a name that has changed since.

    Returns:
        The name of a profile that was chosen on this page in another clustering, and is not of this one; '' else.
    """
    wanted = str(st.session_state.get(PROFILE) or link.read(PROFILE, str, A_TASK))
    if wanted in (A_TASK, *labels):
        return ""
    wanted_number = number_of(wanted)
    label = next((label for label, number in labels.items() if number == wanted_number), "")
    if label:
        scope.take(PROFILE, label)
    elif PROFILE in st.session_state:
        st.session_state[PROFILE] = A_TASK
        return wanted
    return ""


def _to_classify(context: PageContext, clustering: ProfileSettings) -> None:
    """Show the way to what a plan by profile needs."""
    parameters = parameters_of(EVALUATE_CLASSIFIER, ClassifierSettings(clustering, mode=clustering.mode))
    meaning = "Predicts the profile of a job before it runs."
    way = Link("Predict the profile", "classify", context.dataset.hash, parameters, "schedule", meaning)
    follow(way, "memory_to_classify")


PUBLISHED = ("weight", "top", "search", "headroom", "step_bytes")
MAIN = ("task", "k", "headroom")


def bins(context: PageContext) -> None:
    """Show what the bins would save, their limits over the use, three controls; the rest is folded."""
    if scope.needs_requests(context):
        return
    top, below = st.container(), st.container()
    tasks = task_labels([one.task for one in scope.assessment(context).tasks])
    given = {name: value for name, value in context.shared.items() if name != "task"}
    own: dict[str, Callable[[], Any]] = {"task": partial(scope.chosen_task, tasks), "edges_bytes": typed}
    with below:
        limits = ("edges_bytes",) if st.session_state.get(EDGES) or st.query_params.get(EDGES) else ()  # in sight
        settings = forms.settings(context.visit, context.dataset, BINS, (*MAIN, *limits), given=given, own=own)
    wanted = st.session_state.get(PROFILE) or link.read(PROFILE, str, A_TASK)
    with st.expander("Bins of a profile", icon=":material/bubble_chart:", expanded=wanted != A_TASK):
        profile = chosen(context)
    if settings.search == STRIDE:
        with below:
            _published(settings)
    if profile is None:
        _of_task(context, settings, top)
    else:
        _of_profile(context, profile, settings, top)


def _published(settings: BinSettings) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        header.published_flag()
        st.caption("Stride search, as published; it counts runs, ends at the largest request and has no headroom.")
        if (settings.weight, settings.top) != (COUNT, PINNED):
            st.button("All as published", key="memory_published", on_click=_as_published)


def _as_published() -> None:
    """Set the controls to the thesis' settings (a callback)."""
    published = faithful_bins()
    for leaf in BINS.leaves:
        if leaf.path in PUBLISHED:
            st.session_state[leaf.key(BINS.page)] = getattr(published, leaf.path)


def _of_task(context: PageContext, settings: BinSettings, top: DeltaGenerator) -> None:
    result = context.workbench.bins(context.dataset.hash, settings)
    _show(context, result, answer(result), top)
    figures.fold(WHICH, "memory_which_bin", _which, context, settings, icon=":material/inventory_2:")
    curve = partial(context.workbench.improvement, context.dataset.hash, settings)
    figures.fold("How many bins", "memory_curve_open", improvement, curve, result)
    figures.fold("Export", "memory_bins_exports", _exports, context, settings)


def _of_profile(context: PageContext, profile: ProfileScope, settings: BinSettings, top: DeltaGenerator) -> None:
    """Show the bins of a profile; custom limits take the place of the search."""
    wanted, fit = ProfileBinSettings(profile.profile, replace(settings, task="")), profile.clustering
    with st.spinner("Searching for the best bins…", show_time=True):
        result = context.workbench.profile_bins(context.dataset.hash, wanted, fit=fit)
    whose = f"{profile.name} ({profile.clustering_name})"
    _show(context, result.bins, profile_answer(result, profile.name), top, whose)
    _to_classify(context, fit)
    curve = partial(context.workbench.profile_improvement, context.dataset.hash, wanted, fit=fit)
    figures.fold("How many bins", "memory_curve_open", improvement, curve, result.bins)


def _show(context: PageContext, result: Bins, told: Answer, top: DeltaGenerator, profile: str = "") -> None:
    """Show an answer: its sentence and the limits over the use, figures, notes, the table."""
    with top:
        figures.headline(markdown_text(told.sentence, 500))
        figures.show(usage_ecdf(result), key="memory_usage")
    figures.headline_row(told.figures)
    _nodes(result)
    plan = context.workbench.verdict.cached(context.dataset.hash, VerdictSettings()).result
    if plan is not None:
        st.caption(markdown_text(f"The plan, of all tasks. {verdict_sentence(plan)}", 400))
    for note in told.notes:
        if note != nodes_sentence(result):  # said above, of the chosen nodes
            st.caption(f":material/info: {markdown_text(note, 400)}")
    table(result, told.table())
    scope.save_scenario(context, "memory_keep_bins", lambda name: bins_scenario(result, context.dataset, name, profile))


def _nodes(result: Bins) -> None:
    """Show what the bins are in nodes and money, and the size and the price that they are counted with."""
    said = st.container()
    with st.container(horizontal=True):
        size = controls.number(
            "Memory of a node (GB)", "memory_bins_node", NODE_GB, (0.1, controls.LARGEST_GB), width=200
        )
        price = controls.number(PRICE.format(CURRENCY), "memory_bins_price", 0.0, (0.0, 1e6), width=200)
    said.markdown(f"**{markdown_text(nodes_sentence(result, size, price, CURRENCY), 300)}**")


def improvement(curve: Callable[[], ImprovementCurve], result: Bins) -> None:
    """Show what more bins would bring."""
    figures.show(improvement_chart(curve(), result.settings.k), key="memory_improvement")
    if result.search == GIVEN:
        st.caption("The curve is of the best limits for every number of bins, not of custom limits.")


def _which(context: PageContext, settings: BinSettings) -> None:
    """Show the bin of every task's next run, and the way to the models that choose it run by run."""
    found = which_bin_table(context.workbench.bin_sizes(context.dataset.hash, settings))
    st.caption(WHICH_BIN)
    name = f"{safe_name(context.dataset.name)}-which-bin"
    tables.saved(found, name, key="memory_which_bin_table", alt=f"The bin of {counted(len(found.rows), 'task')}")
    models = {"memory_tab": "Compare", "memory_compare": "Models"}
    meaning = "Models choose a bin for each run."
    follow(Link("Open Models", "memory", context.dataset.hash, models, "model_training", meaning), "memory_to_models")


def _exports(context: PageContext, settings: BinSettings) -> None:
    made = partial(context.workbench.bin_sizes, context.dataset.hash, settings)
    exports.buttons(context, "memory_bins_export", "Sizes", "memory-bins", made)
