"""The ledger's sentences, bars and tables against its own records."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from workprof.answers.ledger import (
    findings_sentence,
    first_findings,
    ledger_answer,
    ledger_runs_answer,
    ledger_sentence,
    unjudged_sentences,
)
from workprof.charts.memory.ledger import ledger_bars
from workprof.core.answer import to_frame
from workprof.memory.ledger import ledger_of, ledger_run_list
from workprof.memory.ledger_settings import LedgerPrices, LedgerRunsSettings, LedgerSettings

N = 200


def jobs(users=12, **columns):
    random = np.random.default_rng(2)
    base = {
        "row_id": np.arange(N),
        "user": [f"<b>u{at}" for at in np.minimum(random.geometric(0.25, N) - 1, users - 1)],
        "task_name": "flow:sort",
        "start_time_s": 1.7e9 + 4000.0 * np.arange(N),
        "duration_s": random.uniform(600, 7200, N),
        "requested_memory_bytes": 32e9,
        "peak_memory_bytes": random.uniform(1e9, 20e9, N),
        "requested_cpu_percent": 800.0,
        "cpu_usage_percent": random.uniform(50, 900, N),
        "status": np.where(np.arange(N) % 10 == 0, "FAILED", "COMPLETED"),
        "finished": np.arange(N) % 10 != 0,
    }
    return pd.DataFrame(base | columns)


def ledger(by="user", prices=None, **columns):
    return ledger_of({"jobs": jobs(**columns)}, LedgerSettings(by, prices=prices or LedgerPrices()))


def test_the_bars_are_the_shares_of_the_first_rows_and_sum_to_the_total():
    found = ledger(users=8)
    chart = ledger_bars(found)
    assert [trace.name for trace in chart.figure.data] == ["memory", "cores"]
    for trace in chart.figure.data:
        whole = found.totals.of(trace.name)
        assert sum(trace.x) == pytest.approx(whole.wasted / whole.requested)
        assert not any("<b>" in name for name in trace.y)
    assert chart.note == ""
    assert len(ledger_bars(ledger()).figure.data[0].x) == 8
    assert "4 users more below" in ledger_bars(ledger()).note


def test_prices_make_money_of_the_bars_one_on_the_other():
    found = ledger(prices=LedgerPrices(per_core_h=0.5), users=8)
    chart = ledger_bars(found)
    assert chart.figure.layout.barmode == "stack"
    (cores,) = chart.figure.data
    assert sum(cores.x) == pytest.approx(found.totals.of("cores").wasted * 0.5)
    assert "of the USD that are wasted" in chart.takeaway
    assert "USD" in ledger_sentence(found)
    assert "money" in to_frame(ledger_answer(found), "rows").columns
    assert "money" in to_frame(ledger_answer(found), "findings").columns


def test_few_rows_are_not_told_as_the_first_of_them():
    assert ledger_bars(ledger("task")).takeaway == "All waste is of 1 task."
    assert ledger_bars(ledger(users=3)).takeaway == "All waste is of 3 users."
    assert ledger_bars(ledger(users=4)).takeaway.startswith("The first 3 of 4 users waste ")


def test_a_finding_by_task_names_the_task_once():
    assert [words.partition(":")[0] for words in first_findings(ledger("task"), 1)] == ["sort"]


def test_the_sentence_names_who_wastes_most_and_weeks_nobody():
    found = ledger()
    assert f"{found.rows[0].name} wastes most" in ledger_sentence(found)
    assert "wastes most" not in ledger_sentence(ledger("week"))
    assert "weeks in their order" in ledger_bars(ledger("week")).takeaway


def test_who_wastes_most_is_told_by_what_is_held_not_by_time_limits():
    ann = np.arange(N) % 2 == 0
    given = {"user": np.where(ann, "ann", "bob"), "duration_s": np.where(ann, 7200.0, 3600.0)}
    found = ledger(**given, time_limit_s=np.where(ann, 900_000.0, 3600.0))
    assert found.rows[0].of("time_limit").wasted == found.totals.of("time_limit").wasted > 0
    assert "ann wastes most" in ledger_sentence(found)
    assert "time limits" not in ledger_sentence(found)


def test_headlines_leave_out_what_cannot_be_judged_and_count_what_did_not_finish():
    found = ledger()
    assert [one.label for one in ledger_answer(found).figures] == ["Wasted memory", "Wasted cores", "Not finished"]
    assert ledger_answer(found).figures[-1].value == "20 runs"
    assert to_frame(ledger_answer(found), "lost")["cause"].tolist() == ["failed"]
    (gpus,) = [words for words in unjudged_sentences(found) if "GPUs requested and not used" in words]
    assert gpus.startswith("Not judged are 'GPUs requested and not used' and 'low use of GPUs': no finished run")


def test_a_trace_without_any_request_says_so():
    found = ledger(requested_memory_bytes=np.nan, requested_cpu_percent=np.nan)
    assert ledger_sentence(found) == "No finished run has both a request and a use, so nothing can be judged."
    assert findings_sentence(found).startswith("No rule finds")
    assert first_findings(found, 5) == ()
    assert ledger_bars(found).takeaway == "Nothing can be judged."
    assert "wasted_gb_h" not in to_frame(ledger_answer(found), "rows").columns


def test_the_table_of_runs_says_what_is_listed():
    settings = LedgerRunsSettings(LedgerSettings("user"), row="<b>u0", most=5)
    found = ledger_run_list({"jobs": jobs()}, settings)
    assert to_frame(ledger_runs_answer(found))["wasted"].is_monotonic_decreasing
    assert "the 5 that wasted most are listed" in ledger_runs_answer(found).sentence
    lost = ledger_run_list({"jobs": jobs()}, LedgerRunsSettings(cause="failed"))
    assert ledger_runs_answer(lost).sentence.startswith("20 runs held ")


def test_a_finding_without_advice_has_a_dash_where_its_size_would_stand():
    found = ledger()
    first = replace(found.findings[0], requested=math.nan, row=None, lacking="no size")
    table = to_frame(ledger_answer(replace(found, findings=(first,))), "findings")
    assert table[["requested", "size", "saved", "why"]].to_numpy().tolist() == [["–", "–", "–", "no size"]]
    assert first_findings(replace(found, findings=(first,)), 1)[0].endswith(" %).")
