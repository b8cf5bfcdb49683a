"""One job: a run that training did not see, any other run, or a new job. Prediction, reasons, reliability, and fact."""

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._classify import training
from pages._classify.training import View
from pages._frame import cross_link, link, look
from pages._frame.cross_link import Link, Parameters
from pages._frame.errors import guard
from pages._parts import clusterings, controls, figures, tables
from workprof.answers.classifier import profile_reliability
from workprof.answers.forecasts import additivity, example_words, forecast_sentence, need_headline, request_sentence
from workprof.charts.classify.held_out import held_out_scatter
from workprof.charts.classify.job import estimate_rows, past_jobs_table, top_three, waterfall
from workprof.charts.profiles.jobs import Selection
from workprof.charts.shapes import headline
from workprof.core.arrays import SUBMITTED
from workprof.core.question import parameters_of
from workprof.core.text import visible
from workprof.core.units import GB
from workprof.core.words import formatted, label, markdown_text, shortened, title
from workprof.forecasts.encoder import SUBMIT_FIELDS, FieldValues, NumberRange
from workprof.forecasts.estimates import Happened, what_happened
from workprof.forecasts.forecaster import Forecasts, LoadedForecaster
from workprof.memory.verdict import VerdictSettings
from workprof.memory.verdict_sizes import Sizes
from workprof.profiles.metadata import NOT_GIVEN
from workprof.profiles.questions import FIT

SOURCE, PAST, FIELDS = "classify_from", "past job", "own fields"
SHOWN = {PAST: "Existing job", FIELDS: "New job"}
JOB, SEARCH, HITS, ROUND = "classify_job", "classify_search", "classify_hits", "classify_round"
MOST_HITS = 20
LARGEST_SEED = 2**31
CLASS, TARGET, HELD_BY = "classify_class", "classify_target", "classify_held_by"
LIKELIEST = "likeliest"
N_NEAREST = 10
UNSEEN = "unseen value"
COMPUTED = "classify_kept"
MOST_LISTED = 200
LARGEST_GIVEN = 1e15
_GB = "_gb"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Given:
    """A job to predict."""

    job: pd.DataFrame  # its fields, a table of one row
    words: str  # what it is, such as 'Held-out run 12'
    forecaster: LoadedForecaster  # that predicts it; for a held-out run the one that did not see it
    row_id: int | None = None  # of a run of the dataset; None = a new job
    actual: dict[str, Happened] | None = None  # target -> what the run needed

    def once(self, name: str, compute: Callable[[], Result]) -> Result:
        """Return what was computed of the same job at this page's last run, else compute it; a page always asks."""
        job = self.job.to_json()
        forecaster, before, results = st.session_state.get(COMPUTED, (None, "", {}))
        if forecaster is not self.forecaster or before != job:  # what was of another job is let go
            results = {}
            st.session_state[COMPUTED] = self.forecaster, job, results
        if name not in results:
            results[name] = compute()
        result: Result = results[name]
        return result


def one_job(view: View) -> None:
    """Show a job's prediction first, then the choice of the job, the reasons, and what they rest on."""
    first = st.container()
    form, outcome = st.columns((2, 5), gap="medium")
    below = st.container()
    with form:
        source = controls.choice("The job", SOURCE, (PAST, FIELDS), shown=SHOWN, row=True)
        with st.expander("Another job") if look.narrow() and source == PAST else st.container():
            row_id = _picked(view) if source == PAST else None
        given = _given(view, source, row_id)
    if given is None:
        return
    with guard(), outcome:
        forecasts = _prediction(view, given, first)
    with guard(), below:
        with st.expander("Held-out runs") if look.narrow() else st.container():
            _held_out(view, given)
        _links(view, int(forecasts.profiles.best[0]))
        figures.fold("Most similar jobs", "classify_similar", _nearest, view, given, forecasts)


def _given(view: View, source: str, row_id: int | None) -> Given | None:
    given: Given | None = None
    with guard():
        given = _new_job(view) if source == FIELDS else _existing(view, row_id)
    return given


def _existing(view: View, row_id: int | None) -> Given:
    """Show what a search finds, and return the chosen run of the dataset; at first the held-out example."""
    _hits(view)
    held = view.held_out
    if row_id is None:
        row_id = held.held_out.example if held else _recent(view)
    past = view.visit.workbench.past_jobs(view.dataset.hash, [row_id])
    known = [name for name in (*SUBMIT_FIELDS, *SUBMITTED) if name in past.columns]
    values = [past[name].iloc[0] for name in known]
    texts = [
        f"{label(name)} {shortened(text, 24)}"
        for name, text in zip(known, values, strict=True)
        if isinstance(text, str)
    ]
    unseen = held is not None and row_id in held.held_out.row_ids
    st.markdown(f"Run {row_id}: {markdown_text(', '.join(texts), 300)}")
    st.button("Edit as new job", icon=":material/edit:", key="classify_edit", on_click=_edit, args=(view, past))
    if not unseen:
        st.caption("This job was in the training data; expect lower accuracy on new jobs.")
    elif held is not None and row_id == held.held_out.example:
        st.caption(example_words(held.held_out))
    return Given(
        past[known],
        f"{'Held-out run' if unseen else 'Run'} {row_id}",
        held.forecaster if held is not None and unseen else view.loaded,
        row_id,
        what_happened(past),
    )


def _picked(view: View) -> int | None:
    """Show the search and the other ways to a run, and return its number."""
    st.text_input(
        "Search jobs",
        key=SEARCH,
        bind="query-params",
        max_chars=200,
        placeholder="job, task, user, group or workload",
        help="Finds runs that have every word in some field. A whole number also finds the run of that number.",
    )
    row_id = st.number_input(
        "Run number",
        min_value=0,
        max_value=max(view.dataset.rows - 1, 0),
        value=None,
        step=1,
        key=JOB,
        bind="query-params",
        width=150,
        placeholder="example",
    )
    st.button(
        "Random job",
        icon=":material/casino:",
        key="classify_random",
        on_click=_draw,
        args=(view,),
        help="A run of a job that training did not see." if view.held_out else None,
    )
    return None if row_id is None else int(row_id)


def _hits(view: View) -> None:
    text = str(st.session_state.get(SEARCH) or "")
    if not text:
        return
    hits = view.visit.workbench.search_jobs(view.dataset.hash, text, MOST_HITS)
    if hits.empty:
        st.caption(f"No job matches “{markdown_text(text)}”.")
        return
    more = f" Only the first {MOST_HITS} are listed; add words to narrow the search." if len(hits) == MOST_HITS else ""
    st.caption(f"{len(hits)} found. Select one to predict it.{more}")
    key = f"{HITS}_{st.session_state.get(ROUND, 0)}"
    tables.show(
        hits,
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
        if view.held_out is not None:
            st.session_state[JOB] = int(secrets.choice(view.held_out.held_out.row_ids.tolist()))
        else:
            st.session_state[JOB] = view.visit.workbench.random_job(view.dataset.hash, secrets.randbelow(LARGEST_SEED))
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1  # a new table: its selection is another job


def _edit(view: View, given: pd.DataFrame) -> None:
    _fill(view, given)
    st.session_state[SOURCE] = FIELDS


def _prediction(view: View, given: Given, first: DeltaGenerator) -> Forecasts:
    """Show the answer above, its charts, the reasons and the reliability of this profile; return the prediction."""
    forecasts = given.once("forecast", lambda: given.forecaster.forecast(given.job))
    tuning = given.forecaster.forecaster.classifier.tuning
    profile = None if given.row_id is None else _profiles(view).get(given.row_id)
    with first:
        figures.headline(markdown_text(need_headline(forecasts, view.naming), 400))
        told = forecast_sentence(forecasts, view.naming, given.words, given.actual or {}, profile)
        st.caption(markdown_text(told, 400))
    _request(view, given)
    left, right = st.columns(2, gap="medium")
    with left:
        figures.show(estimate_rows(forecasts.estimates, 0, view.settings.nominal, given.actual), key="classify_needs")
    with right:
        figures.show(top_three(forecasts.profiles, 0, tuning.threshold, view.naming), key="classify_top")
        _reliability(view, int(forecasts.profiles.profile[0]))
    _why(view, given)
    training.checks(view.visit, view.dataset, view.settings)
    return forecasts


def _request(view: View, given: Given) -> None:
    """Show what to request for the job, by the plan where there is one."""
    workbench, dataset = view.visit.workbench, view.dataset.hash
    verdict = workbench.verdict.cached(dataset, VerdictSettings()).result
    if verdict is None:
        return
    job = given.job.iloc[0]
    bytes_of = job.get("requested_memory_bytes")
    asked = None if bytes_of is None or not math.isfinite(bytes_of) or bytes_of <= 0 else float(bytes_of) / GB
    names = {str(name): value for name, value in job.items()}
    found = given.once("request", lambda: Sizes(verdict.memory).find(names, asked))
    st.markdown(f"**{markdown_text(request_sentence(found, asked), 300)}**")


def _held_out(view: View, given: Given) -> None:
    """Show predictions of held-out runs against the facts, this one ringed, with the hit rate of the intervals."""
    if view.held_out is None or not view.held_out.held_out.compared:
        return
    held = view.held_out.held_out
    with st.container(horizontal=True, vertical_alignment="center"):
        target = controls.choice(
            "Held-out runs by",
            HELD_BY,
            tuple(reversed(held.compared)),
            "Runs of jobs that training did not see, as predicted and as they were.",
            shown={name: label(name) for name in held.compared},
            row=True,
        )
    figures.show(held_out_scatter(held, target, given.row_id), key=f"classify_held_out_{target}")


def _reliability(view: View, profile: int) -> None:
    """Show how reliable the prediction of this profile is for new work."""
    result = view.visit.workbench.classifier_evaluation.cached(view.dataset.hash, view.settings.classifier).result
    if result is None:
        st.caption("Reliability of this profile: not validated yet.")
        return
    words, scores = profile_reliability(result, profile, view.naming)
    if scores:
        with st.container(horizontal=True, gap="small"):
            for one in map(headline, scores):
                st.metric(one.label, one.value, help=one.help, width="content")
    st.caption(markdown_text(words, 300))


def _why(view: View, given: Given) -> None:
    classes = {str(profile): int(profile) for profile in given.forecaster.forecaster.classifier.classes}
    link.respell(CLASS, lambda text: text.rpartition("(")[2].rstrip(")"))  # former links: 'name (7)'
    chosen = controls.choice(
        "Explain class",
        CLASS,
        (LIKELIEST, *classes),
        "Why the model leans to this class, or away from it.",
        shown={LIKELIEST: "most likely"} | {text: view.naming.name(profile) for text, profile in classes.items()},
    )
    result = given.once(f"of {chosen}", lambda: given.forecaster.explain(given.job, classes.get(chosen)))
    if not result.additive:
        st.warning(f"{additivity(result)} The chart is hidden because it would be wrong.", icon=":material/warning:")
        return
    figures.show(waterfall(result, view.naming), key="classify_waterfall")


def _nearest(view: View, given: Given, forecasts: Forecasts) -> None:
    if not forecasts.estimates:
        st.caption("No quantity can be predicted for this dataset, so there are no similar jobs.")
        return
    link.respell(TARGET, {label(name): name for name in forecasts.estimates}.get)  # former links: as it was shown
    target = controls.choice(
        "Most similar jobs for",
        TARGET,
        tuple(forecasts.estimates),
        shown={name: label(name) for name in forecasts.estimates},
    )
    nearest = given.forecaster.nearest(given.job, target, N_NEAREST)
    past = view.visit.workbench.past_jobs(view.dataset.hash, nearest.positions.tolist())
    profiles = _profiles(view)
    table = past_jobs_table(past, nearest, profiles, view.naming)
    alt = f"{len(table)} past jobs, the most similar first"
    file = past_jobs_table(past, nearest, profiles, view.naming, file=True)
    numbers = file.columns[2:].intersection(file.select_dtypes("number").columns)
    tables.show(table, key="classify_nearest", alt=alt, column_config={name: title(name, "") for name in numbers})
    tables.csv(file, "nearest-jobs", "classify_nearest_csv", "Download CSV")


def _recent(view: View) -> int:
    return view.visit.workbench.recent_job(view.dataset.hash, view.settings.classifier.profiles)


def _profiles(view: View) -> dict[int, int]:
    """Return row id -> profile of the clustering that was learned."""
    result = view.visit.workbench.profiles.cached(view.dataset.hash, view.settings.classifier.profiles).result
    if result is None:
        return {}
    return dict(zip(result.row_ids.tolist(), result.labels.tolist(), strict=True))


def key_of(field: str) -> str:
    """Return the control and the address parameter of a field; memory is given in GB."""
    return f"classify_{field.removesuffix('_bytes')}{_GB if field.endswith('_bytes') else ''}"


def _new_job(view: View) -> Given:
    """Show a control per field, filled in with the most recent job at first, and return the job they describe."""
    encoder = view.model.encoder
    _former_units(encoder.numbers)
    begins: dict[str, str | None] = {key_of(one.field): _listed(one)[_first(one)] for one in encoder.categories}
    begins |= {key_of(one.field): None for one in encoder.numbers}
    if not any(key in st.query_params or st.session_state.get(key) not in {None, at} for key, at in begins.items()):
        _fill(view, view.visit.workbench.past_jobs(view.dataset.hash, [_recent(view)]))
    st.caption("Begins with the most recent job that has a profile, or the one edited. Change any field.")
    with st.grid(min_column_width=220, gap="small"):
        values: dict[str, object] = {seen.field: _category(seen) for seen in encoder.categories}
        values |= {number.field: _number(number) for number in encoder.numbers}
    outside = [words for number in encoder.numbers if (words := _outside(number, values[number.field]))]
    if outside:
        st.warning(
            f"Outside the range of the training data: {'; '.join(outside)}. The model cannot extrapolate: it predicts "
            "as for the nearest end of the range.",
            icon=":material/warning:",
        )
    job = pd.DataFrame({name: pd.Series([value], dtype="object") for name, value in values.items()})
    return Given(job, "New job", view.loaded)


def _former_units(numbers: tuple[NumberRange, ...]) -> None:
    """Take memory that a link of before has in GiB over in GB."""
    for key in (key_of(one.field) for one in numbers if one.field.endswith("_bytes")):
        link.in_gb(key.removesuffix(_GB) + "_gib", key)


def _fill(view: View, given: pd.DataFrame) -> None:
    """Make the controls say a job (for a button's `on_click`)."""
    for seen in view.model.encoder.categories:
        value = given[seen.field].iloc[0] if seen.field in given.columns else None
        st.session_state[key_of(seen.field)] = NOT_GIVEN if pd.isna(value) else str(value)
    for number in view.model.encoder.numbers:
        value = given[number.field].iloc[0] if number.field in given.columns else None
        scale = GB if number.field.endswith("_bytes") else 1
        st.session_state[key_of(number.field)] = None if pd.isna(value) else float(value) / scale


def unknown_text(seen: FieldValues) -> str:
    """Return a text that training did not see in this field."""
    text, known = UNSEEN, {*seen.kept, *seen.rare}
    while text in known:
        text += "?"
    return text


def _listed(seen: FieldValues) -> list[str]:
    """Return the values to choose from: the most frequent, and the one that is chosen."""
    listed = [UNSEEN, NOT_GIVEN, *(*seen.kept, *seen.rare)[:MOST_LISTED]]
    chosen = st.session_state.get(key_of(seen.field))
    return listed if chosen is None or chosen in listed else [*listed, str(chosen)]


def _first(seen: FieldValues) -> int:
    """Return the place of the most frequent value."""
    return min(2, len(_listed(seen)) - 1)


def _category(seen: FieldValues) -> str | None:
    known = (*seen.kept, *seen.rare)
    rest = f" The {MOST_LISTED} most frequent are listed; type others." if len(known) > MOST_LISTED else ""
    chosen = st.selectbox(
        title(seen.field),
        _listed(seen),
        index=_first(seen),
        format_func=visible,
        key=key_of(seen.field),
        bind="query-params",
        accept_new_options=True,
        help=f"{len(known):,} values in the training data.{rest} Any other text counts as unseen.",
    )
    if chosen in (None, NOT_GIVEN):
        return None
    return unknown_text(seen) if chosen == UNSEEN else str(chosen)


def _number(number: NumberRange) -> float | None:
    scale = GB if number.field.endswith("_bytes") else 1
    given = st.number_input(
        title(number.field, "GB") if scale == GB else title(number.field),
        min_value=-LARGEST_GIVEN,
        max_value=LARGEST_GIVEN,
        value=None,
        format="%.8g",
        key=key_of(number.field),
        bind="query-params",
        placeholder=NOT_GIVEN,
        help=f"Range in the training data: {_ends(number)}. Empty: not given.",
    )
    return None if given is None else float(given) * scale


def _ends(number: NumberRange) -> str:
    if math.isnan(number.lowest):
        return "never given"
    return f"{formatted(number.field, number.lowest)} to {formatted(number.field, number.highest)}"


def _outside(number: NumberRange, value: object) -> str:
    """Return what is out of range, '' where nothing is."""
    if not isinstance(value, float) or math.isnan(number.lowest) or number.lowest <= value <= number.highest:
        return ""
    return markdown_text(f"{label(number.field)} {formatted(number.field, value)} (training: {_ends(number)})", 160)


def _links(view: View, profile: int) -> None:
    """Show the links of a profile."""
    name, dataset = markdown_text(view.naming.name(profile), 40), view.dataset.hash
    with st.container(horizontal=True, gap="small"):
        cross_link.follow(
            Link(f"Jobs of {name}", "profiles", dataset, _jobs_of(view, profile), "list", "On the profiles' map."),
            "classify_to_profile",
        )
        cross_link.follow(
            Link("Durations of the profiles", "durations", dataset, _durations(view), "timer", "How long each takes."),
            "classify_to_durations",
        )


def _jobs_of(view: View, profile: int) -> Parameters:
    """Return the clustering that was learned, its map, and the profile's rows on it."""
    selected = Selection(profiles=(profile,)).text()
    settings = parameters_of(FIT, view.settings.classifier.profiles)
    return {**settings, "profiles_tab": "Map", "profiles_selected": selected}


def _durations(view: View) -> Parameters:
    fit = view.visit.workbench.profiles.cached(view.dataset.hash, view.settings.classifier.profiles).result
    if fit is None:
        return {"durations_by": "profile"}
    name = clusterings.name_of(view.visit, view.dataset, fit.settings)
    return {"durations_by": "profile", "durations_clustering": name}
