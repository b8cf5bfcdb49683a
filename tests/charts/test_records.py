"""Every record has a table and a figure, or says in words why not."""

import importlib
import pkgutil

import pytest

import workprof
from tests.charts import (
    records_for_classify,
    records_for_memory,
    records_for_nodes,
    records_for_phases,
    test_clusterability_charts as clusterability,
)
from workprof.charts import records
from workprof.core.errors import WorkprofError
from workprof.core.shown import Shown

GIVEN = {
    "Hopkins": clusterability.hopkins,
    "Baseline": clusterability.baseline,
    "Stability": clusterability.stability,
    "ClassifierEvaluation": records_for_classify.evaluation,
    "Alternatives": records_for_classify.alternatives,
    "GlobalExplanation": records_for_classify.global_explanation,
    "Assessment": records_for_memory.assessment,
    "ReplayResult": records_for_memory.replayed,
    "PredictorResult": records_for_memory.models,
    "Why": records_for_memory.reason,
    "Detection": records_for_nodes.detection,
    "LibraryView": records_for_phases.library,
    "AlignedRuns": records_for_phases.aligned,
    "Match": records_for_phases.match,
    "Evaluation": records_for_phases.evaluation,
}
NO_FIGURE = {
    "AssignedFiles": "files",
    "Allocation": "a list of nodes",
    "Comparison": "two datasets in figures",
    "FeedbackModel": "a model",
    "Forecaster": "a model",
    "HeldOut": "a part of an evaluation",
    "LedgerRunList": "a list",
    "Library": "fingerprints",
    "Embeddings": "a table",
    "Changes": "two periods in figures",
    "Chargeback": "a bill",
    "LiveLibrary": "a model",
    "OverTimeRuns": "a list",
    "Phases": "a list; a Timeline draws them",
    "PredictorTables": "tables",
    "Refit": "a model",
    "RealisedSaving": "a table",
    "Rollup": "a table",
    "RunList": "a list",
    "SweepGroup": "runs of a sweep",
}


def kinds():
    """Return every class of records that show themselves."""
    found, waiting = {}, [Shown]
    for module in pkgutil.walk_packages(workprof.__path__, "workprof."):
        if module.name.split(".")[1] in ("profiles", "forecasts", "memory", "nodes", "phases", "workbench"):
            importlib.import_module(module.name)
    while waiting:
        own = waiting.pop().__subclasses__()
        found |= {one.__name__: one for one in own if one.__module__.startswith("workprof.")}
        waiting += own
    return found


@pytest.mark.slow
def test_every_kind_of_record_is_drawn_or_there_is_a_reason():
    drawn = {one.__name__ for one in (*records.VIEWS, *records.FIGURES)}
    assert set(kinds()) - drawn == set(NO_FIGURE)


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_a_record_has_its_table_its_figure_and_its_sentence(name):
    record = GIVEN[name]()
    assert type(record).__name__ == name
    assert len(record.to_frame().columns) > 0
    assert record.figure().to_dict()["data"]
    assert record.title() != name


def test_a_record_without_a_figure_says_which_have_one():
    with pytest.raises(
        WorkprofError, match=r"RunList has no figure of its own; .*Verdict, Why have\. Draw its to_frame"
    ):
        records.figure(kinds()["RunList"].__new__(kinds()["RunList"]))


def test_a_record_with_nothing_to_draw_says_so():
    with pytest.raises(WorkprofError, match="nothing to draw in this Evaluation"):
        records.figure(records_for_phases.evaluation(known=False))
