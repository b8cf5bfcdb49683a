"""The Ledger view: the library's figures, its runs behind every line, its exports, its link; Home's first findings."""

import shutil

import pytest

from tests.memory.slurm_dump import MAPPING, dump
from tests.pages.all_views import unfolded
from tests.pages.conftest import by_options, problems, words
from workprof.answers.ledger import ledger_runs_answer, ledger_sentence
from workprof.core.settings import from_environment
from workprof.memory.ledger_settings import LedgerPrices, LedgerRunsSettings, LedgerSettings, Thresholds
from workprof.memory.questions import LEDGER, LEDGER_RUNS
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    dump(600).to_csv(folder / "slurm.csv", index=False)
    mapping = {field: FieldSource(one["from"], one.get("unit", "")) for field, one in MAPPING.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as bench:
            options = IngestOptions(name="slurm", format="generic", mapping=mapping)
            hashed = bench.ingest([folder / "slurm.csv"], options).hash
    return folder / "home", hashed


@pytest.fixture
def slurm(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def page(app, slurm):
    return lambda **more: app("memory", ds=slurm, memory_tab="Ledger", **(unfolded("memory") | more))


COLUMN = {
    "memory_ledger_rows": "full_name",
    "memory_ledger_findings": "finding",
    "memory_ledger_runs": "row_id",
}


def table(test, key):
    """Return a table of the view, told by a column that no other one has."""
    return next(one.value for one in test.dataframe if COLUMN[key] in one.value.columns)


def library(house, slurm, settings=None):
    return house().workbench.ledger(slurm, settings)


@pytest.mark.parametrize("by", ["group", "week"])
def test_every_kind_of_rows_opens(page, slurm, house, by):
    test = page(memory_ledger_by=by)
    assert problems(test) == []
    found = library(house, slurm, LedgerSettings(by=by))
    assert table(test, "memory_ledger_rows")["full_name"].tolist()[:-1] == [row.name for row in found.rows]


def test_rows_by_profile_offer_to_find_them(page):
    test = page(memory_ledger_by="profile")
    assert problems(test) == []
    assert "Find profiles" in [button.label for button in test.button]


def test_a_price_ranks_by_money(page, slurm, house):
    test = page(memory_ledger_price_gpu="2.5")
    found = library(house, slurm, LedgerSettings(prices=LedgerPrices(per_gpu_h=2.5)))
    assert table(test, "memory_ledger_rows")["money"].tolist()[-1] == found.totals.money
    assert "USD" in ledger_sentence(found)
    assert ledger_sentence(found) in words(test)


def test_the_runs_of_a_row_a_task_a_rule_and_a_cause_are_listed(page, slurm, house):
    test = page(memory_ledger_row="ann", memory_ledger_task="align", memory_ledger_rule="memory")
    asked = LedgerRunsSettings(LedgerSettings(), row="ann", task="align", rule="memory")
    found = house().workbench.ledger_runs(slurm, asked)
    assert table(test, "memory_ledger_runs")["row_id"].tolist() == found.row_ids.tolist()
    assert f"{found.n_runs:,} runs wasted" in words(test)
    test.selectbox(key="memory_ledger_rule").set_value("every run")
    test.selectbox(key="memory_ledger_cause").set_value("out of memory").run()
    assert problems(test) == []
    asked = LedgerRunsSettings(LedgerSettings(), row="ann", task="align", cause="out of memory")
    assert ledger_runs_answer(house().workbench.ledger_runs(slurm, asked)).sentence in words(test)


def test_a_selected_line_opens_its_runs(page, slurm, house):
    test = page()
    found = library(house, slurm)
    first = found.findings[0]
    for key, select, wanted in (
        ("memory_ledger_findings", "memory_ledger_open_finding", (first.who, first.n_runs)),
        ("memory_ledger_rows", "memory_ledger_open_row", (found.rows[0].name, found.rows[0].n_runs)),
    ):
        test.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
        test.run()
        test.button(key=select).click().run()
        assert problems(test) == []
        assert test.selectbox(key="memory_ledger_row").value == wanted[0]
        assert test.query_params["memory_ledger_row"] in (wanted[0], [wanted[0]])  # so that a link lists the same runs
        assert f"{wanted[1]:,} runs wasted" in words(test)


def test_links_of_kept_results_open_with_their_settings(app, slurm, house):
    settings = LedgerSettings("task", rules=Thresholds(0.4), prices=LedgerPrices(per_gb_h=0.01))
    test = app("memory", ds=slurm, **unfolded("memory"), **by_options(LEDGER, settings))
    assert problems(test) == []
    assert ledger_sentence(library(house, slurm, settings)) in words(test)
    runs = LedgerRunsSettings(LedgerSettings("user"), row="bob", resource="cores", most=7)
    test = app("memory", ds=slurm, **unfolded("memory"), **by_options(LEDGER_RUNS, runs))
    assert problems(test) == []
    assert table(test, "memory_ledger_runs")["user"].tolist() == ["bob"] * 7


def test_a_trace_without_memory_has_a_ledger_of_what_it_has(app, home, tmp_path, house):
    rows = "".join(f"u{at % 3},t,{1.7e9 + 4000 * at},3600,800,90\n" for at in range(60))
    header = "user,task_name,start_time_s,duration_s,requested_cpu_percent,cpu_usage_percent\n"
    (tmp_path / "cores.csv").write_text(header + rows)
    hashed = house().workbench.ingest([tmp_path / "cores.csv"]).hash
    test = app("memory", ds=hashed, **unfolded("memory"))
    assert problems(test) == []
    assert "no column peak_memory_bytes" in words(test)
    assert ledger_sentence(library(house, hashed)) in words(test)
    assert "wasted_core_h" in table(test, "memory_ledger_rows").columns
    assert "wasted_gb_h" not in table(test, "memory_ledger_rows").columns
