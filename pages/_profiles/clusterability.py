"""Is there anything to cluster? Hopkins, metadata labels against the profiles, and whether the profiles come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages._frame.errors import guard
from pages._parts import figures, running_work
from pages._profiles.charts import View
from workprof.charts.clusterability import CONVENTION, baseline_dots, hopkins_line, stability_bars, stability_headlines
from workprof.jobs import JobView
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.stability import StabilitySettings
from workprof.workbench import Answer

Result = TypeVar("Result")


def clusterability(view: View) -> None:
    """Show the three answers one below the other; each is computed when it is asked for, in the background."""
    _hopkins(view)
    _baseline(view)
    _stability(view)


def _hopkins(view: View) -> None:
    st.header("Is there structure at all?")
    fit, workbench, dataset = view.settings, view.visit.workbench, view.dataset.hash
    st.caption(CONVENTION)
    distinct = st.toggle(
        "Count equal rows once",
        key="profiles_hopkins_distinct",
        bind="query-params",
        help="Rows that are exactly equal make the value small by themselves; this takes one of each.",
    )
    settings = HopkinsSettings(
        features=fit.features, scaler=fit.scaler, metric=fit.metric, mode=fit.mode, distinct=distinct, seed=fit.seed
    )
    found = _asked(
        view,
        "Hopkins statistic",
        lambda: workbench.hopkins.cached(dataset, settings),
        lambda: workbench.hopkins.start(dataset, settings),
    )
    if found is not None:
        figures.show(hopkins_line(found), key=f"profiles_hopkins_{distinct}")


def _baseline(view: View) -> None:
    st.header("Do the profiles say more than the metadata?")
    fit, workbench, dataset = view.settings, view.visit.workbench, view.dataset.hash
    same_rows = st.toggle(
        "Score the labels on the profiles' rows only",
        key="profiles_baseline_rows",
        bind="query-params",
        help="The profiles leave outliers out, the labels keep them; this scores both on the same rows.",
    )
    settings = BaselineSettings(
        features=fit.features,
        scaler=fit.scaler,
        mode=fit.mode,
        silhouette=fit.silhouette,
        rows="clustered" if same_rows else "all",
        sample_rows=fit.sample_rows,
        seed=fit.seed,
    )
    found = _asked(
        view,
        "Label baseline (Table II)",
        lambda: workbench.baseline.cached(dataset, settings, fit=fit),
        lambda: workbench.baseline.start(dataset, settings, fit=fit),
    )
    if found is not None:
        figures.show(baseline_dots(found), key=f"profiles_baseline_{same_rows}")


def _stability(view: View) -> None:
    st.header("Do the profiles come back without some of the jobs?")
    workbench, dataset = view.visit.workbench, view.dataset.hash
    resamples = st.number_input(
        "Resamples",
        min_value=2,
        max_value=100,
        value=10,
        key="profiles_resamples",
        bind="query-params",
        width=220,
        help="How often 80 % of the rows (at most 20,000) are drawn and clustered again.",
    )
    settings = StabilitySettings(fit=view.settings, resamples=int(resamples), seed=view.settings.seed)
    found = _asked(
        view,
        "Stability of the profiles",
        lambda: workbench.stability.cached(dataset, settings),
        lambda: workbench.stability.start(dataset, settings),
    )
    if found is not None:
        figures.headline_row(stability_headlines(found))
        figures.show(stability_bars(found, view.names), key="profiles_stability")


def _asked(view: View, what: str, look: Callable[[], Answer[Result]], start: Callable[[], JobView]) -> Result | None:
    """Return a result if it is kept; else show its running job, or the button that starts it."""
    with guard():
        answer = look()
        if answer.result is not None:
            return answer.result
        running_work.job_panel(view.visit.house, answer.job, what)
        running = answer.job is not None and answer.job.active
        if not running and st.button(f"Compute: {what}", icon=":material/play_arrow:", key=f"start_{what}"):
            start()
            st.rerun()
    return None
