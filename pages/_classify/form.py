"""The settings of a forecaster. Nothing is trained before the button below says so."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._classify import learned_profiles
from pages._frame.visit import Visit
from pages._parts.controls import MODES_MEANING, choice, count, number
from workprof.forecasts.classifier import MOST_WRONG_COST, ClassifierSettings
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.splits import SPLITS
from workprof.profiles.settings import MODES
from workprof.store.reports import Dataset

SPLIT_MEANING = (
    "For what kind of new job the intervals hold. by_job: a new job of known groups; by_group: a group never seen; "
    "by_time: later jobs; random: another row of a known job."
)


def form(visit: Visit, dataset: Dataset) -> ForecasterSettings:
    """Show the settings and return them.

    Raises:
        SettingsError: when they cannot be used.
    """
    with st.expander("Settings", icon=":material/tune:"), st.grid(min_column_width=240, gap="small"):
        mode = choice("Mode", "classify_mode", MODES, MODES_MEANING)
        profiles = learned_profiles.chosen(dataset, mode)
        classifier = _numbers(ClassifierSettings(profiles=profiles, mode=mode, fields=_fields(visit, dataset)))
        split = choice("Intervals hold for", "classify_interval_split", tuple(SPLITS), SPLIT_MEANING, index=1)
        nominal = st.slider("Coverage of the intervals (%)", 50, 99, 90, key="classify_coverage", bind="query-params")
    return ForecasterSettings(classifier, split=split, nominal=nominal / 100)


def _fields(visit: Visit, dataset: Dataset) -> tuple[str, ...]:
    present = {column.name for column in visit.workbench.columns(dataset.hash)}
    chosen = st.multiselect(
        "Inputs",
        [name for name in SUBMIT_FIELDS if name in present],
        key="classify_fields",
        bind="query-params",
        placeholder="All of the mode",
        help="Known at submission. Empty: corrected takes the metadata and the plan, faithful the paper's five.",
    )
    return tuple(chosen)


def _numbers(settings: ClassifierSettings) -> ClassifierSettings:
    """Return the settings with the numbers of the form."""
    return replace(
        settings,
        threshold=_number(
            "Smallest probability of an answer (0 = auto)",
            "classify_threshold",
            (0.0, 0.0, 0.99),
            "Auto: chosen on jobs held out, for the cost of a wrong answer.",
        ),
        wrong_cost=_number(
            "Cost of a wrong answer",
            "classify_wrong_cost",
            (1.0, 0.1, MOST_WRONG_COST),
            "When a right answer gains 1 and an abstention nothing.",
        ),
        rare_rows=count(
            "Rows of a value of its own (0 = auto)",
            "classify_rare_rows",
            0,
            "Values with fewer rows are pooled as rare. Auto: 0.03 % of the rows, at least 3.",
        ),
        least_support=count(
            "Least rows of a profile", "classify_least_support", 10, "A smaller one is never answered.", least=1
        ),
        seed=count("Seed", "classify_seed", 0, "Of every random draw."),
    )


def _number(words: str, key: str, bounds: tuple[float, float, float], meaning: str) -> float:
    """Show a field for a number (default, least and most in `bounds`) and return it."""
    value, least, most = bounds
    return number(words, key, value, (least, most), meaning, step=0.05)
