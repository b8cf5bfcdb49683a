"""Models that predict a run's bin before it runs, and the tables that were published of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages._frame import header
from pages._memory import bins, scope
from pages._memory.scope import PageContext
from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from workprof.answers.models import AFTER_THE_RUN, IMPORTANCE, input_words, models_answer, tables_answer
from workprof.answers.scenarios import models_scenario
from workprof.answers.tasks import task_labels
from workprof.charts.memory.models import bin_confusion, estimated_and_replayed, waterfall
from workprof.charts.shapes import headlines
from workprof.core.answer import Answer, Table
from workprof.core.units import format_duration
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.bin_models import FAITHFUL, PredictorSettings
from workprof.memory.bin_search import faithful_bins
from workprof.memory.facts import AFTER, UNSURE, known_when
from workprof.memory.model_tables import PredictorTables, TableSettings
from workprof.memory.models import PredictorResult
from workprof.memory.questions import TRAIN
from workprof.memory.usage import USAGE_COLUMNS


def table(context: PageContext, told: Answer) -> None:
    """Show scores, estimated and replayed savings of every model."""
    table = told.table()
    tables.answer(
        table,
        key="memory_model_table",
        alt=f"{len(table.rows)} models with scores, estimated and replayed savings, and failures",
    )
    tables.csv(table.frame, f"{safe_name(context.dataset.name)}-models", "memory_models_csv", "Download CSV")


def matrices(result: PredictorResult) -> None:
    """Show the predicted and the actual bins of each model."""
    st.caption("Outlined: predicted too small, so the first attempt fails.")
    with st.grid(min_column_width=300, gap="small"):
        for place, model in enumerate(result.models):
            with st.container(border=True):
                st.markdown(f"**{markdown_text(model.name)}**")
                figures.small(bin_confusion(result, model), key=f"memory_confusion_{place}")


def inputs(result: PredictorResult) -> None:
    """Show the fields that the models use."""
    st.markdown(markdown_text(input_words(result), 900))
    if result.importance:
        table = Table("importance", "", IMPORTANCE, result.importance)
        tables.answer(table, key="memory_importance", alt=f"Importance of {len(result.importance)} inputs")


def thesis_tables(context: PageContext, settings: PredictorSettings) -> None:
    """Show the tables behind a fold, or the way to them."""
    fold = st.expander(
        "Tables 7 to 11 of the thesis, for this task",
        icon=":material/table_chart:",
        key="memory_tables",
        on_change="rerun",
        bind="query-params",
    )
    if not fold.open:
        return
    with fold:
        question = LongQuestion(
            "memory_tables_make",
            TableSettings(settings),
            context.workbench.bin_tables,
            "Compute the tables",
            lambda: "The tables need models for two, three and four bins.",
            "Training for two, three and four bins",
        )
        found = long_question.result(context.visit, context.dataset, question)
        if found is not None:
            _show(found)


def _show(result: PredictorTables) -> None:
    told = tables_answer(result)
    show = st.warning if result.ranks_differ else st.info
    show(markdown_text(told.sentence), icon=":material/swap_vert:" if result.ranks_differ else ":material/info:")
    for table in told.tables:
        st.markdown(f"**{markdown_text(table.title, 80)}**")
        name = table.name.replace("_", "-")
        tables.answer(table, key=f"memory_{name}", alt=f"{table.title}: {len(table.rows)} rows")
        tables.csv(table.frame, name, f"memory_{name}_csv", "Download CSV")


MAIN = ("bins.task", "bins.k", "models", "trials")


def models(context: PageContext) -> None:
    """Show the settings, the running job, and the newest models there are."""
    if scope.needs_requests(context):
        return
    top = st.container()
    settings = _settings(context)
    question = LongQuestion(
        name="memory_train",
        settings=settings,
        compute=context.workbench.bin_models,
        button="Train the models",
        before=partial(_before, settings),
        what="Training the models",
        describe=lambda cached: f"{markdown_text(cached.task or 'all tasks', 80)}, {len(cached.edges_bytes)} bins",
        icon=":material/model_training:",
        outlives=True,
    )
    with top:
        result = long_question.result(context.visit, context.dataset, question)
    if result is not None:
        current = question.compute.cached(context.dataset.hash, settings).result is not None
        _result(context, result, current=current)
        if current:
            thesis_tables(context, settings)


def _settings(context: PageContext) -> PredictorSettings:
    """Show the form and return the settings; in the faithful mode with the thesis' bins."""
    columns = sorted(context.columns - {*USAGE_COLUMNS.values(), "row_id"})
    offered = {
        path: [name for name in columns if known_when(name) == known and not name.startswith("truth_")]
        for path, known in (("before_the_run", UNSURE), ("after_the_run", AFTER))
    }
    by_path = {leaf.path: leaf for leaf in TRAIN.leaves}
    own: dict[str, Callable[[], Any]] = {
        path: partial(forms.control, by_path[path], TRAIN.page, names) for path, names in offered.items()
    }
    own["bins.edges_bytes"] = bins.typed
    tasks = task_labels([one.task for one in scope.assessment(context).tasks])
    own["bins.task"] = partial(scope.chosen_task, tasks)
    shared = {f"bins.{name}": value for name, value in context.shared.items() if name != "task"}
    settings = forms.settings(context.visit, context.dataset, TRAIN, MAIN, shared, own)
    if settings.mode != FAITHFUL:
        return settings
    chosen = settings.bins
    published = faithful_bins(chosen.task, chosen.k)
    same = {name: getattr(chosen, name) for name in ("edges_bytes", "request_bytes", "target")}
    return replace(settings, bins=replace(published, **same))


def _before(settings: PredictorSettings) -> str:
    pairs = len(settings.models) * len(settings.sampling)
    return f"No models with these settings yet: {pairs} to train, {settings.trials} trials each."


def _result(context: PageContext, result: PredictorResult, *, current: bool) -> None:
    if result.settings.mode == FAITHFUL:
        header.published_flag()
    told = models_answer(result)
    figures.headline(markdown_text(told.sentence, 400))
    figures.show(estimated_and_replayed(result), key="memory_models")
    figures.headline_row(headlines(told))
    if result.uses_after_the_run:
        st.warning(AFTER_THE_RUN, icon=":material/history_toggle_off:")
    scope.save_scenario(
        context, "memory_keep_models", partial(models_scenario, result, context.dataset), current=current
    )
    figures.fold("From requests to the plan", "memory_waterfall_open", _waterfall, result)
    figures.fold("All models", "memory_models_open", table, context, told)
    figures.fold("Predicted and actual bins", "memory_confusion_open", matrices, result)
    figures.fold("Fields that the models use", "memory_inputs_open", inputs, result)
    figures.fold("Method", "memory_models_method", _method, told, result)


def _waterfall(result: PredictorResult) -> None:
    figures.show(waterfall(result), key="memory_waterfall")


def _method(told: Answer, result: PredictorResult) -> None:
    for note in told.notes:
        st.caption(f":material/info: {markdown_text(note, 400)}")
    st.caption(
        f"{result.n_train + result.n_validation + result.n_test:,} runs, seed {result.settings.seed}, computed in "
        f"{format_duration(result.seconds)}."
    )
