"""What both tabs of the Durations page share: the quantity, the percentile cursor, the clustering, the SLO."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages._durations import chosen_clustering
from pages._frame import empty_state
from pages._frame.visit import Visit
from pages._parts.controls import LARGEST_AMOUNT, choice, number
from workprof.charts.profiles.overview import profile_names
from workprof.forecasts.estimates import TARGETS
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.units import GIB

LIMIT_UNITS = {"s": ("SLO (s, 0 = none)", 1.0), "B": ("Limit (GiB, 0 = none)", float(GIB))}


@dataclass(frozen=True)
class Asked:
    """What the page is about: the visit, the dataset, the quantity, the cursor (per cent), the clustering."""

    visit: Visit
    dataset: Dataset
    target: str
    percentile: float
    clustering: ProfileSettings

    def fit(self) -> ProfileFit | None:
        """Return the clustering's profiles where they are kept."""
        return self.visit.workbench.profiles.cached(self.dataset.hash, self.clustering).result

    def names(self) -> dict[int, str]:
        """Return what its profiles are called; nothing where they are not kept."""
        found = self.fit()
        if found is None:
            return {}
        return profile_names(found, self.visit.workbench.profile_notes(self.dataset.hash, self.clustering))


def asked(visit: Visit, dataset: Dataset) -> Asked | None:
    """Show the shared controls and return what was chosen, or None (and what is missing) without any quantity."""
    present = {column.name for column in visit.workbench.columns(dataset.hash)}
    targets = tuple(name for name in TARGETS if name in present)
    if not targets:
        empty_state.empty_state(visit, f"This dataset has none of the columns {', '.join(TARGETS)}.")
        return None
    with st.grid(min_column_width=220, gap="small"):
        target = choice("Quantity", "durations_target", targets, "What is looked at in both tabs.")
        meaning = "80: what 80 % of the jobs, or of the errors, do not exceed."
        percentile = number("Percentile cursor (%)", "durations_percentile", 80.0, (1.0, 99.9), meaning, step=5.0)
        clustering = chosen_clustering.clustering(visit, dataset)
    return Asked(visit, dataset, target, percentile, clustering)


def limit(target: str) -> float:
    """Show the SLO of a quantity and return it in the quantity's own unit; 0 = none."""
    words, factor = LIMIT_UNITS.get(TARGETS[target], ("Limit (%, 0 = none)", 1.0))
    key = "durations_slo" if target == "duration_s" else f"durations_limit_{target}"
    meaning = "The share of jobs that keep it is read from every curve."
    return number(words, key, 0.0, (0.0, LARGEST_AMOUNT), meaning) * factor
