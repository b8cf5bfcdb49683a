"""Memory over time: against a loop over every run and bin, the ledger's sums, and a burst that was planted."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from workprof.answers.over_time import moment, over_time_sentence, row_names
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.scope import bounds
from workprof.memory import over_time
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import MEMORY, USER, LedgerSettings
from workprof.memory.over_time import (
    BIN_WORDS,
    ENOUGH_BINS,
    MOST_ROWS,
    OTHERS,
    WIDTHS,
    OverTimeRunsSettings,
    OverTimeSettings,
    over_time_of,
    over_time_runs_of,
    usual_over_time_rows,
)

GB, DAY = 1e9, 86_400.0
CLOCK = 1_700_000_000.0


def trace(n=400, seed=0, days=30.0, **columns):
    """Return runs of four tasks that last from no time to ten days, some of which lack something or did not finish."""
    draw = np.random.default_rng(seed)
    start = CLOCK + draw.uniform(0, days * DAY, n)
    seconds = np.where(draw.random(n) < 0.1, 0.0, draw.exponential(DAY, n))
    jobs = pd.DataFrame(
        {
            "row_id": np.arange(n),
            "task_name": draw.choice(["a", "b", "c", "d"], n),
            "user": draw.choice(["ann", "bob"], n),
            "start_time_s": start,
            "end_time_s": start + seconds,
            "duration_s": seconds,
            "requested_memory_bytes": np.where(draw.random(n) < 0.1, np.nan, draw.uniform(1, 64, n) * GB),
            "peak_memory_bytes": np.where(draw.random(n) < 0.1, np.nan, draw.uniform(0.1, 70, n) * GB),
            "finished": draw.random(n) < 0.9,
            "status": "finished",
        }
    )
    jobs.loc[~jobs["finished"], "status"] = "failed"
    return jobs.assign(**columns)


def judged(jobs):
    whole = jobs[["requested_memory_bytes", "peak_memory_bytes", "duration_s"]].notna().all(axis=1)
    return jobs[whole & jobs["finished"]]


def by_hand(jobs, rows, edges):
    """Return requested, used and unused GB·h and runs of (rows, bins), run by run and bin by bin."""
    sums, counts = np.zeros((3, len(rows), len(edges) - 1)), np.zeros((len(rows), len(edges) - 1), dtype=int)
    for one in judged(jobs).itertuples():
        row, end = rows.index(one.task_name), one.start_time_s + one.duration_s
        for place in range(len(edges) - 1):
            inside = min(end, edges[place + 1]) - max(one.start_time_s, edges[place])
            at_once = one.duration_s == 0 and edges[place] <= one.start_time_s < edges[place + 1]
            if inside > 0 or at_once:
                request, use = one.requested_memory_bytes / GB, one.peak_memory_bytes / GB
                for kind, rate in enumerate((request, use, max(request - use, 0.0))):
                    sums[kind, row, place] += rate * inside / 3600
                counts[row, place] += 1
    return sums, counts


@pytest.mark.parametrize("bins", ["", "hour", "6h", "day", "week", "4weeks", "year"])
def test_cells_are_those_of_a_loop_over_every_run_and_bin(bins):
    jobs = trace(200, days=12)
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins=bins))
    (requested, used, unused), counts = by_hand(jobs, list(found.rows), found.edges_s)
    np.testing.assert_allclose(found.requested, requested, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.used, used, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.unused, unused, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.n_runs, counts)
    assert (found.requested[counts == 0] == 0).all()  # the ground of the picture, without a rest of rounding


def test_pieces_of_many_runs_give_the_sums_of_all_at_once(monkeypatch):
    jobs = trace()
    whole = over_time_of({"jobs": jobs}, OverTimeSettings(by="task"))
    monkeypatch.setattr(over_time, "AT_ONCE", 7)
    monkeypatch.setattr("workprof.core.long_table.AT_ONCE", 7)
    pieces = over_time_of({"jobs": jobs}, OverTimeSettings(by="task"))
    np.testing.assert_allclose(pieces.unused, whole.unused, rtol=1e-9)
    np.testing.assert_array_equal(pieces.n_runs, whole.n_runs)


@pytest.mark.parametrize("by", ["task", "user", "profile"])
def test_sums_are_those_of_the_ledger(by):
    jobs = trace(seed=3, **{PROFILE_COLUMN: np.random.default_rng(1).integers(-1, 3, 400).astype(float)})
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by=by))
    ledger = ledger_of({"jobs": jobs}, LedgerSettings(by=by))
    memory = ledger.totals.of(MEMORY)
    assert found.total_requested == pytest.approx(memory.judged_requested)
    assert found.total_used == pytest.approx(memory.judged_used)
    assert found.total_unused == pytest.approx(memory.wasted)
    assert found.n_judged == memory.n_judged
    assert found.unused.sum() == pytest.approx(memory.wasted)
    by_row = {row.name: row.of(MEMORY).wasted for row in ledger.rows}
    assert dict(zip(found.rows, found.unused.sum(axis=1), strict=True)) == pytest.approx(by_row)
    assert list(found.unused.sum(axis=1)) == sorted(found.unused.sum(axis=1), reverse=True)


def test_runs_that_do_not_say_when_they_ran_are_counted_and_in_no_bin():
    jobs = trace(100)
    lost = judged(jobs).index[:7]
    jobs.loc[lost, ["start_time_s", "end_time_s"]] = np.nan
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task"))
    assert found.n_without_time == 7
    assert found.n_judged == len(judged(jobs))
    assert found.n_not_judged == int(jobs["finished"].sum()) - found.n_judged
    assert found.n_unfinished == int((~jobs["finished"]).sum()) > 0
    shown = judged(jobs).drop(lost)
    held = (shown["requested_memory_bytes"] * shown["duration_s"]).sum() / GB / 3600
    assert found.requested.sum() == pytest.approx(held)
    assert held < found.total_requested


def test_bins_are_round_in_local_time_and_few_enough():
    for days, expected in ((0.05, "minute"), (0.5, "10min"), (4, "hour"), (20, "6h"), (100, "day"), (700, "week")):
        jobs = trace(200, days=days, seed=2)
        jobs["duration_s"] = 30.0
        found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task"))
        assert found.settings.bins == expected
        assert len(found.edges_s) - 1 <= ENOUGH_BINS
        assert np.diff(found.edges_s) == pytest.approx(WIDTHS[expected])
        assert found.dated
    days = trace()
    days.attrs["utc_offset_s"] = 8 * 3600.0
    found = over_time_of({"jobs": days}, OverTimeSettings(by="task", bins="day"))
    assert ((found.edges_s + 8 * 3600) % DAY == 0).all()
    weeks = over_time_of({"jobs": trace(days=100)}, OverTimeSettings(by="task", bins="week"))
    assert {pd.Timestamp(edge, unit="s").day_name() for edge in weeks.edges_s} == {"Monday"}
    assert set(BIN_WORDS) == set(WIDTHS)


@pytest.mark.parametrize(("bins", "days"), [("day", 1), ("week", 7)])
def test_days_and_weeks_of_a_clock_without_dates_are_those_of_a_period(bins, days):
    jobs = trace(days=30)
    jobs[["start_time_s", "end_time_s"]] -= CLOCK - 5.3 * DAY
    jobs.attrs["utc_offset_s"] = 8 * 3600.0
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins=bins))
    for place, edge in enumerate(found.edges_s[:-1].tolist()):
        period = f"{moment(found, place).removeprefix('day ')}..{edge / DAY + days:g}"
        assert bounds(period, dates=False, utc_offset_s=8 * 3600.0) == (edge, edge + days * DAY)
    assert found.edges_s[0] % (days * DAY) == 0
    weeks = (jobs.loc[jobs["finished"], "start_time_s"] // (7 * DAY)).value_counts()
    ledger = ledger_of({"jobs": jobs}, LedgerSettings(by="week"))
    assert {row.name: row.n_runs for row in ledger.rows} == {f"week {week:.0f}": n for week, n in weeks.items()}


def test_bins_that_are_too_many_are_refused_with_what_to_choose():
    with pytest.raises(SettingsError, match=r"bins of one minute; choose 10min or longer"):
        over_time_of({"jobs": trace()}, OverTimeSettings(by="task", bins="minute"))


def test_rows_beyond_the_most_are_added_up_in_one():
    names = [f"user {n}" for n in range(60)]
    jobs = trace(1_000, user=np.random.default_rng(4).choice(names, 1_000))
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="user"))
    assert len(found.rows) == MOST_ROWS
    assert found.rows[-1] == OTHERS
    assert found.unused.sum() == pytest.approx(found.total_unused)
    runs = over_time_runs_of({"jobs": jobs}, OverTimeRunsSettings(found.settings, row=OTHERS, most=1_000))
    assert not set(runs.names) & set(found.rows)
    assert runs.unused_gb_h == pytest.approx(found.unused[-1].sum())


def burst():
    """Return a month of even work, in which task b leaves far more idle on the eleventh day of the trace."""
    jobs = trace(600)
    jobs["duration_s"] = 3600.0
    more = jobs.head(100).assign(
        task_name="b",
        finished=True,
        status="finished",
        requested_memory_bytes=500 * GB,
        peak_memory_bytes=5 * GB,
        start_time_s=(np.floor(CLOCK / DAY) + 10) * DAY + 7_200,
    )
    return pd.concat([jobs, more.assign(end_time_s=np.nan)], ignore_index=True).assign(
        row_id=np.arange(len(jobs) + 100)
    )


def test_a_planted_burst_is_named_and_can_be_excluded():
    jobs = burst()
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins="day"))
    (one,) = found.bursts
    assert (one.row, one.bin) == ("b", 10)
    assert one.unused_gb_h == pytest.approx(found.unused[found.rows.index("b"), 10])
    assert one.n_runs >= 100
    without = over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins="day", leave_out_bursts=True))
    assert without.bursts == found.bursts
    assert "Without peaks, of all tasks, " in over_time_sentence(without, row_names(without))
    assert without.unused.sum() == pytest.approx(found.unused.sum() - one.unused_gb_h)
    assert without.total_unused == found.total_unused
    assert not without.n_runs[found.rows.index("b"), 10]


def test_even_work_and_short_traces_have_no_bursts():
    assert not over_time_of({"jobs": trace()}, OverTimeSettings(by="task", bins="day")).bursts
    assert not over_time_of({"jobs": burst()}, OverTimeSettings(by="task", bins="week")).bursts  # five bins


def test_the_runs_of_a_cell_make_its_number():
    jobs = trace(seed=5)
    found = over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins="day"))
    for row, place in ((0, 3), (1, 12), (3, 20)):
        settings = OverTimeRunsSettings(found.settings, row=found.rows[row], cell=place, most=10_000)
        runs = over_time_runs_of({"jobs": jobs}, settings)
        assert runs.n_runs == found.n_runs[row, place] == len(runs.row_ids)
        assert runs.unused_gb_h == pytest.approx(found.unused[row, place])
        assert set(runs.names) <= {found.rows[row]}
        assert list(runs.unused_each_gb_h) == sorted(runs.unused_each_gb_h, reverse=True)
        spare = np.maximum(runs.requested_gb - runs.used_gb, 0)
        np.testing.assert_allclose(runs.unused_each_gb_h, spare * runs.hours_inside)
        own = jobs.set_index("row_id").loc[runs.row_ids]
        np.testing.assert_allclose(runs.requested_gb, own["requested_memory_bytes"] / GB)
    every = over_time_runs_of({"jobs": jobs}, OverTimeRunsSettings(found.settings, most=5))
    assert (every.n_runs, len(every.row_ids)) == (found.n_judged, 5)
    assert every.unused_gb_h == pytest.approx(found.total_unused)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (OverTimeRunsSettings(OverTimeSettings("task"), row="z"), r"no row 'z'; choose one of"),
        (OverTimeRunsSettings(OverTimeSettings("task", "day"), cell=999), r"no bin 999; the last of"),
    ],
)
def test_what_there_is_not_is_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        over_time_runs_of({"jobs": trace()}, settings)


def test_a_table_that_cannot_answer_is_refused_with_what_it_lacks():
    ask = OverTimeSettings(by="task")
    with pytest.raises(NotEnoughData, match="no finished run has a memory request"):
        over_time_of({"jobs": trace(peak_memory_bytes=np.nan)}, ask)
    with pytest.raises(NotEnoughData, match="map start_time_s"):
        over_time_of({"jobs": trace(start_time_s=np.nan, end_time_s=np.nan)}, ask)
    with pytest.raises(ColumnMissing, match="group"):
        over_time_of({"jobs": trace()}, OverTimeSettings(by="group"))


def test_rows_are_what_tells_runs_apart_where_nothing_is_named():
    assert usual_over_time_rows({"task_name": 4, "user": 9}, clustered=True) == "profile"
    assert usual_over_time_rows({"task_name": 4, "user": 9}, clustered=False) == "task"
    assert usual_over_time_rows({"task_name": 1, "user": 9}, clustered=False) == "user"
    assert usual_over_time_rows({"user": 1, "group": 3}, clustered=False) == "group"
    assert usual_over_time_rows({}, clustered=False) == "task"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_bins_that_runs_overlap():
    jobs = trace(50_000, days=100)
    jobs["duration_s"] = 90 * DAY
    jobs["end_time_s"] = jobs["start_time_s"] + jobs["duration_s"]

    def peak(bins):
        tracemalloc.start()
        over_time_of({"jobs": jobs}, OverTimeSettings(by="task", bins=bins))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak("hour") < 1.2 * peak("year")


@pytest.mark.slow
def test_a_table_that_is_read_in_parts_gives_so_many_times_the_figures_of_one_part():
    jobs, times = trace(n=1_001), 300
    whole = pd.concat([jobs, *(jobs.assign(row_id=-1) for _ in range(times - 1))], ignore_index=True)
    assert len(whole) > over_time.AT_ONCE
    settings = OverTimeSettings(by=USER)
    found, one = over_time_of({"jobs": whole}, settings), over_time_of({"jobs": jobs}, settings)
    assert found.rows == one.rows
    assert found.unused == pytest.approx(times * one.unused)
    assert (found.n_runs == times * one.n_runs).all()
    assert (found.n_judged, found.n_not_judged) == (times * one.n_judged, times * one.n_not_judged)
    assert found.total_unused == pytest.approx(times * one.total_unused)
    first = OverTimeRunsSettings(over=settings, row=one.rows[0], most=times)
    listed, alone = (over_time_runs_of({"jobs": table}, first) for table in (whole, jobs))
    assert listed.n_runs == times * alone.n_runs
    assert listed.unused_each_gb_h == pytest.approx(alone.unused_each_gb_h[0])
