"""The verdict against slow versions, planted truth and its own promises."""

import dataclasses
import math
import tracemalloc
from collections import Counter
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from tests.memory.naive_chances import learned
from tests.sentences import long_ones
from workprof.answers import home
from workprof.answers.ledger import findings_sentence
from workprof.answers.verdict import (
    MEMORY_ROWS,
    curve_sentence,
    expected_words,
    notes,
    verdict_answer,
    verdict_tables,
    what_if_sentence,
    why,
)
from workprof.answers.verdict_exports import risk
from workprof.charts.memory.verdict import curve_chart
from workprof.charts.tour import decision_stop
from workprof.core.answer import to_json, to_text
from workprof.core.causes import KILLS
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.stats import Interval
from workprof.core.units import gb_h, number
from workprof.memory import origins
from workprof.memory.chances import fit_chances
from workprof.memory.decided import decided, decisions_on
from workprof.memory.decisions import DECLINED
from workprof.memory.known import SizedRuns, codes_of, dense, first_of, known_at, known_of
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import LedgerSettings
from workprof.memory.origins import APPLIED, SUBMISSION, TABLE, Sizing, Windows, advise
from workprof.memory.resources import MEMORY, TIME, resources_of
from workprof.memory.verdict import Cells, CurvePoint, VerdictSettings, _kill_interval, _next_window, verdict_of
from workprof.memory.verdict_rows import (
    ABOVE,
    BOUND,
    FEW,
    KEEP,
    KILLED,
    KILLS_PAY,
    LOWER,
    RAISE,
    ROOM,
    ROOM_ABOVE,
    STEPS,
    TOO_SHORT,
)
from workprof.memory.verdict_sizes import Sizes
from workprof.memory.what_if import WhatIfSettings

SIZING = Sizing(step=0.1, floor=0.1, acceptable_share=None, price=None)


def record_chance(record, weight):
    """Return the chance that the next run exceeds the largest known use."""
    return np.clip(np.exp(record[0] - record[1] * np.log(weight + 1)), 0.0, 0.95)


def sized(seed=0, n=400, n_keys=8, spread=0.2):
    """Runs that overlap and tie, of keys with a spread of their own around a share of their request."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, n_keys, n)
    request = rng.choice([8.0, 32.0], n_keys)[key]
    submit = np.sort(rng.integers(0, n * 10, n) * 1.0)
    use = request * rng.uniform(0.05, 0.7, n_keys)[key] * rng.lognormal(0, spread, n)
    seconds = rng.choice([1e-6, 5.0, 300.0], n)
    nothing = np.zeros(n, dtype=bool)
    finest, coarse = key.astype(np.int64), (key % 3).astype(np.int64)
    return SizedRuns(
        np.arange(n),
        use,
        request,
        seconds / 3600,
        submit,
        submit,
        submit + seconds,
        nothing,
        nothing,
        False,
        (finest, coarse),
    )


def jobs(seed=0, n=600, n_users=4, **columns):
    rng = np.random.default_rng(seed)
    user, task = rng.integers(0, n_users, n), rng.integers(0, 3, n)
    submit = np.sort(rng.uniform(0, 1e6, n))
    seconds = rng.lognormal(6, 1, n)
    share = np.random.default_rng(99).uniform(0.05, 0.6, (n_users, 3))[user, task]
    return pd.DataFrame(
        {
            "user": [f"u{one}" for one in user],
            "task_name": [f"t{one}" for one in task],
            "requested_memory_bytes": 32e9,
            "peak_memory_bytes": 32e9 * share * rng.lognormal(0, 0.1, n),
            "submit_time_s": submit,
            "start_time_s": submit,
            "end_time_s": submit + seconds,
            "duration_s": seconds,
            "status": "COMPLETED",
            "finished": True,
        }
        | columns
    )


def verdict(table, **settings):
    return verdict_of({"jobs": table}, VerdictSettings(**settings))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_known_equals_a_look_at_every_run(seed):
    rng = np.random.default_rng(seed)
    runs = dataclasses.replace(sized(seed, spread=0.8), enforced=True, killed=rng.random(400) < 0.1)
    query = rng.permutation(runs.submit_s)
    for level, key in enumerate(runs.levels):
        known = known_at(runs, level, query)
        for at, moment in enumerate(query):
            mates = key == key[at]
            ended, begun = mates & (runs.end_s <= moment), mates & (runs.submit_s < moment)
            use = runs.use[ended]
            assert known.n[at] == ended.sum()
            assert known.running[at] == max(0, begun.sum() - ended.sum())
            assert known.largest[at] == use.max(initial=0.0)
            assert known.hours[at] == pytest.approx(runs.hours[ended].sum())
            assert known.squares[at] == pytest.approx(
                ((np.log(use) - np.log(use).mean()) ** 2).sum() if len(use) else 0
            )
            assert known.above[at] == ((use > runs.request[ended]) & ~runs.killed[ended]).sum()
            assert known.cut[at] == runs.killed[ended].sum()
            assert known.asked[at] == (runs.request[begun][-1] if begun.any() else 0.0)
            assert known.cut_use[at] == runs.use[ended & runs.killed].max(initial=0.0)


def obvious_size(asked, one, model, factor, sizing, price):
    """Return the size of least expected charge of one key, by trying them all."""
    spread = math.sqrt((one["squares"] + 3 * model.spread**2) / (max(one["n"] - 1, 0) + 3))
    kept = (one["above"] + 0.5) / (one["n"] + 1) if one["above"] else 0.0
    lost = one["mean_hours"] * model.longer
    own_price = origins.OWN_RUNS * one["mean_hours"] * asked
    sizes = [(asked, kept, 1.5 * asked)]
    for multiple in origins.MULTIPLES:
        size = max(sizing.floor, math.ceil(multiple * one["largest"] / sizing.step * (1 - 1e-12)) * sizing.step)
        if size == asked or (size > asked and not kept):
            continue
        log_ratio = math.log(max(1.0, size / one["largest"]))
        z = log_ratio * math.sqrt(2 * math.log(one["weight"] + 1)) / spread
        tail = (1 - model.heavy_share) * (1 + z / 3) ** (-3 * model.tail)
        tail += model.heavy_share * math.exp(-log_ratio / model.heavy_scale)
        chance = min(1.0, record_chance(model.record, one["weight"]) * factor * tail)
        sizes.append((size, chance, asked if size < asked else 1.5 * size))

    def least(of, toll):
        return min(of, key=lambda found: one["mean_hours"] * found[0] + found[1] * (lost * found[2] + toll))

    return least(
        [least([found for found in sizes if found[0] <= asked], price), *(f for f in sizes if f[0] > asked)], own_price
    )[:2]


@pytest.mark.parametrize("enforced", [False, True])
def test_sizes_are_those_of_least_expected_charge(enforced):
    runs, sizing = dataclasses.replace(sized(3, spread=0.6), enforced=enforced), SIZING
    windows = Windows(runs, SUBMISSION)
    origin = windows.learned(300, sizing, float(runs.submit_s[300]))
    rows = np.r_[:5, 300:400]  # of the first ones nothing is known
    found = windows.advised(rows, (origin.chances[0], None), sizing, origin.price)
    model, known = origin.chances[0], windows.known[0].take(rows)
    names = ("n", "weight", "squares", "largest", "mean_hours", "above")
    for at, row in enumerate(rows):
        one = {name: float(getattr(known, name)[at]) for name in names}
        factor = float(model.key_factor[runs.levels[0][row]])
        if one["n"] < 2:
            assert found.level[at] == -1
            continue
        size, chance = obvious_size(float(known.asked[at]), one, model, factor, sizing, origin.price)
        assert found.size[at] == pytest.approx(size)
        assert found.chance[at] == pytest.approx(chance)
    assert (found.level[:2] == -1).all()
    assert (found.size < runs.request[rows]).any()


@pytest.mark.parametrize(("seed", "n_keys", "apart"), [(0, 5, 1.0), (1, 40, 1.0), (2, 150, 1.0), (3, 5, 500.0)])
def test_chances_are_those_of_a_slow_climb(seed, n_keys, apart):
    """With 5 keys runs share cells of (ended, running); with many they have one each."""
    runs = sized(seed, n=500, n_keys=n_keys, spread=0.5)
    runs = dataclasses.replace(runs, submit_s=runs.submit_s // apart * apart)
    known = known_at(runs, 0, runs.submit_s)
    past = np.flatnonzero(np.random.default_rng(seed).random(500) < 0.8)
    names = ("n", "running", "largest", "squares", "mean_hours")
    rows = [
        {name: float(getattr(known, name)[at]) for name in names}
        | {"use": runs.use[at], "request": runs.request[at], "hours": runs.hours[at], "key": int(runs.levels[0][at])}
        for at in past.tolist()
    ]
    record, beyond, spread, seen, chances = learned(rows)
    model = fit_chances(runs, known, 0, past, n_keys, 0.1)
    assert model.record == pytest.approx(record, abs=1e-4)
    assert (model.tail, model.heavy_share, model.heavy_scale) == pytest.approx(beyond, rel=1e-9)
    assert model.spread == pytest.approx(spread, rel=1e-9)
    above = [row for row in rows if row.get("exceeds")]
    together = Counter(
        (row["key"], runs.submit_s[at]) for row, at in zip(rows, past.tolist(), strict=True) if row.get("exceeds")
    )
    weighs = 2 * sum(n**2 for n in together.values()) / len(above)
    assert (weighs > 3) == (apart > 1)
    for key, n_seen in seen.items():
        assert model.key_factor[key] == pytest.approx((n_seen + weighs) / (chances[key] + weighs), rel=1e-3)
    own = sum(row["request"] * row["hours"] for row in above)
    usual = sum(row["request"] * row["mean_hours"] for row in above)
    assert model.longer == pytest.approx(np.clip((own + 0.5) / (usual + 0.5), 1, 5))
    assert (model.n_runs, model.n_records) == (sum(row["n"] >= 2 for row in rows), len(above))


@pytest.mark.parametrize("largest", [3, 2_000, 2**40])
def test_codes_of_combinations_are_their_ranks(largest):
    rng = np.random.default_rng(largest)
    parts = [rng.integers(-1, largest, 300) for _ in range(3)]
    ranks = np.unique(np.stack(parts), axis=1, return_inverse=True)[1]
    np.testing.assert_array_equal(codes_of(parts), ranks.ravel())
    _, first, place = np.unique(parts[0], return_index=True, return_inverse=True)
    for found, expected in zip(first_of(parts[0]), (first, place), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(dense(parts[0] / 7), np.unique(parts[0], return_inverse=True)[1])


def test_levels_that_tell_the_same_runs_apart_share_what_is_known():
    runs = sized(4)
    again = (runs.levels[0], runs.levels[0].max() - runs.levels[0], runs.levels[1])
    runs = dataclasses.replace(runs, levels=again)
    found = known_of(runs, runs.submit_s)
    assert found[1] is found[0]
    for level, one in enumerate(found):
        for name in ("n", "largest", "hours", "asked"):
            np.testing.assert_array_equal(getattr(one, name), getattr(known_at(runs, level, runs.submit_s), name))


def test_records_of_independent_runs_are_as_rare_as_theory_says():
    runs = sized(1, n=6000, n_keys=30)
    known = known_at(runs, 0, runs.submit_s)
    model = fit_chances(runs, known, 0, np.arange(len(runs)), 30, 1.0)
    weight = np.array([10.0, 50.0, 150.0])
    np.testing.assert_allclose(record_chance(model.record, weight), 1 / (weight + 1), rtol=0.35)
    assert model.spread == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("applied", APPLIED)
def test_the_future_changes_no_earlier_size(applied):
    runs = sized(5, n=800)
    at = 600
    now = runs.submit_s[at]
    later = np.arange(len(runs)) >= at
    running = ~later & (runs.end_s > now)
    changed = dataclasses.replace(
        runs,
        use=np.where(later | running, runs.use * 7, runs.use),
        hours=np.where(later | running, runs.hours * 3, runs.hours),
        end_s=np.where(later, runs.end_s + 500, runs.end_s),
        killed=later,
    )
    before, after = (Windows(one, applied).judge(SIZING) for one in (runs, changed))
    known = slice(0, at - before.first)
    np.testing.assert_array_equal(before.size[known], after.size[known])
    assert (before.size != after.size).any()


@pytest.mark.parametrize("applied", APPLIED)
def test_how_long_runs_will_go_on_decides_no_size(applied):
    """What a run uses and how long it takes is known from its end on: until then it sets no price of a kill either."""
    runs = sized(5, n=800)
    at = Windows(runs, applied).edges[1]
    now = float(runs.submit_s[at])
    unknown = runs.end_s > now
    assert unknown[:at].any()
    changed = dataclasses.replace(
        runs,
        use=np.where(unknown, runs.use * 7, runs.use),
        hours=np.where(unknown, runs.hours * 300, runs.hours),
    )
    learned = [Windows(one, applied).learned(at, SIZING, now) for one in (runs, changed)]
    assert (learned[0].price, learned[0].n_known) == (learned[1].price, learned[1].n_known)
    for one, other in zip(learned[0].chances, learned[1].chances, strict=True):
        assert repr(one) == repr(other)


@pytest.mark.parametrize("killed", [False, True])
def test_kills_at_a_smaller_request_bound_what_a_larger_one_is_lowered_to(killed):
    """Half of the users went from 16 to 3 GB, and some of their runs were killed there."""
    table, small = jobs(7, n_users=1), np.arange(600) % 2 == 1
    over = killed & small & (np.arange(600) % 10 == 1)
    use = 2.2e9 * np.random.default_rng(7).lognormal(0, 0.05, 600)
    table = table.assign(
        requested_memory_bytes=np.where(small, 3e9, 16e9),
        peak_memory_bytes=np.where(over, 3e9, use),
        status=np.where(over, "OUT_OF_MEMORY", "COMPLETED"),
        finished=~over,
    )
    rows = [row for row in verdict(table).memory.rows if row.request == 16]
    assert [row.action for row in rows] == [LOWER] * 3
    assert all((row.size > 3) == killed for row in rows)
    assert {row.reason for row in rows} == {ROOM_ABOVE if killed else ROOM}
    if killed:
        assert why(rows[0], MEMORY, "GB").endswith("of 16 GB; runs of a smaller request were killed")


@pytest.mark.parametrize("applied", APPLIED)
def test_rows_add_up_to_the_headline(applied):
    result = verdict(jobs(), applied=applied).memory
    assert sum(row.saved for row in result.rows) == pytest.approx(result.judged.saved_share * result.today.booked)
    assert sum(row.kills for row in result.rows) == result.judged.kills
    assert sum(row.n_judged for row in result.rows) == result.judged.n_runs == result.today.n_runs
    assert sum(row.booked for row in result.rows) == pytest.approx(result.today.booked)
    assert sum(origin.saved for origin in result.judged.origins) == pytest.approx(result.judged.saved)
    assert result.judged.saved_share > 0.3
    assert result.otherwise.applied != applied


@pytest.mark.parametrize("origin", [1, 2, 3, 4])
def test_the_table_of_an_origin_replayed_is_its_part_of_the_headline(origin):
    table = jobs(2)
    result = verdict(table, as_of=str(origin)).memory
    sizes = {(row.key["user"], row.key["task_name"]): row.size for row in result.rows}
    block = np.array_split(np.arange(300, 600), 4)[origin - 1]
    saved = 0.0
    for at in block:
        run = table.iloc[at]
        request, use = run["requested_memory_bytes"] / 1e9, run["peak_memory_bytes"] / 1e9
        size = min(request, sizes[run["user"], run["task_name"]])
        killed = size < request and size < use
        saved += (request - size - killed * max(request, use)) * run["duration_s"] / 3600
    assert saved == pytest.approx(result.judged.origins[origin - 1].saved)


def test_a_key_that_was_killed_for_memory_is_raised_and_a_bound_never_lowers():
    table = jobs(4)
    killed = table["user"].eq("u1") & (np.arange(len(table)) % 4 == 0)
    table.loc[killed, ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    table["peak_memory_is_lower_bound"] = np.where(table["user"] == "u2", 1.0, 0.0)
    result = verdict(table).memory
    by_user = {user: [row for row in result.rows if row.key["user"] == user] for user in ("u0", "u1", "u2")}
    assert {row.action for row in by_user["u1"]} == {RAISE}
    assert {row.reason for row in by_user["u1"]} == {KILLED}
    assert {(row.action, row.reason) for row in by_user["u2"]} == {(KEEP, BOUND)}
    assert LOWER in {row.action for row in by_user["u0"]}
    assert result.today.kills == int((killed & (table.index >= 300)).sum())
    assert result.trace.kills == int(killed.sum())
    assert all(row.saved <= 0 for row in by_user["u1"])


@pytest.mark.parametrize("rest", ["lowered", "full"])
def test_what_raises_hold_more_is_never_told_as_saved(rest):
    table = jobs(4, n_users=2)
    killed = table["user"].eq("u1") & (np.arange(len(table)) % 4 == 0)
    table.loc[killed, ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    most = ["requested_memory_bytes", "peak_memory_bytes"]
    table.loc[table["user"] == "u1", most] = 1024e9  # so that these weigh more than the others
    if rest == "full":
        table["peak_memory_bytes"] = table["requested_memory_bytes"]
    found = verdict(table)
    assert {row.action for row in found.memory.rows} == {RAISE, LOWER if rest == "lowered" else KEEP}
    assert found.memory.judged.saved < 0
    more = -sum(row.saved for row in found.memory.rows if row.action == RAISE)
    said = found.reason
    because = f"{killed.sum()} of {len(table)} runs were killed"
    assert said.startswith(f"Larger requests hold {gb_h(more)} more, as {because}")
    assert ("; smaller ones save" in said) is (rest == "lowered")
    assert "save -" not in to_text(verdict_answer(found)) and "Held more" in to_text(verdict_answer(found))
    assert not long_ones([said, curve_chart(found).takeaway], 20)
    assert decision_stop(found, None, None, (), ".").headline == said
    figure = home.saved_figure(found)
    assert figure.label == "Held more" and not figure.value.startswith("-")
    assert said.endswith(f" {figure.detail}.") and "foreseen" in figure.detail
    assert to_json(verdict_answer(found))["saved_share"] == found.memory.judged.saved_share < 0
    findings = findings_sentence(ledger_of({"jobs": table}, LedgerSettings()))
    assert f"{number(-found.memory.judged.saved)} GB·h more" in findings and " -" not in findings


def test_a_rise_beside_larger_savings_is_told_with_them():
    table = jobs(4)
    killed = table["user"].eq("u1") & (np.arange(len(table)) % 4 == 0)
    table.loc[killed, ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    found = verdict(table)
    raised = sum(row.n_killed for row in found.memory.rows if row.action == RAISE)
    assert found.reason.startswith("Smaller requests save ") and raised
    assert found.reason.endswith(f" more, as {raised} of {len(table)} runs were killed.")


def test_runs_of_other_states_are_left_out_with_their_number():
    table = jobs(4)
    table.loc[::5, ["status", "finished"]] = ["RUNNING", False]
    table.loc[1::5, ["status", "finished"]] = ["FAILED", False]
    table.loc[2::50, ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    n, found = len(table.iloc[::5]) + len(table.iloc[1::5]), verdict(table)
    assert found.memory.trace.n_runs + n == len(table)
    assert f"Left out: {n} with a state other than finished or killed for memory." in notes(found)
    assert "Left out" not in " ".join(notes(verdict(jobs(4))))
    table.loc[2::50, ["requested_memory_bytes", "peak_memory_bytes"]] = np.nan
    lost = len(table.iloc[2::50])
    told = f"Left out: {n} with a state other than finished or killed for memory and {lost} with a kill for memory, "
    assert told + "but neither limit nor use, or no run time." in notes(verdict(table))


def test_runs_without_any_time_save_nothing_that_is_known():
    assert "no saving can be measured" in verdict(jobs(4, duration_s=0.0)).reason
    full = jobs(4, peak_memory_bytes=32e9)
    assert verdict(full).reason.endswith("The later runs left 0.0 % of them unused.")


def test_nodes_are_those_of_runs_with_a_time_on_all_their_nodes():
    table = jobs(4)

    def asked(of, node_bytes=32e9):
        return verdict(of, what_if=WhatIfSettings(node_bytes=node_bytes))

    now = asked(table).memory.what_if.nodes
    assert asked(table.assign(NNodes=3)).memory.what_if.nodes.before_peak == 3 * now.before_peak
    assert (now.n_too_large, now.n_untimed) == (0, 0)
    small = asked(table, 16e9)
    assert small.memory.what_if.nodes.n_too_large == 300
    assert "300 runs request more than such a node has." in what_if_sentence(small)
    changed = verdict(table, what_if=WhatIfSettings(times=0.5, node_bytes=16e9))
    assert "with these sizes at least" in what_if_sentence(small)
    told = what_if_sentence(changed)  # the nodes are not of the changed requests, and not of all runs
    assert "At the peak of the later runs, as requested today, at least" in told
    assert "with the sizes of the plan at least" in told and "these sizes" not in told
    times = ["submit_time_s", "start_time_s", "end_time_s"]
    half = asked(table.mask((table.index >= 450)[:, None] & table.columns.isin(times)))
    early = asked(table[:450]).memory.what_if.nodes
    assert half.memory.what_if.nodes.n_untimed == half.memory.n_untimed == 150
    assert half.memory.what_if.nodes.before_peak <= early.before_peak  # none of them beside each other
    assert any(note.startswith("150 of these have no time") for note in notes(half))
    none = asked(table.drop(columns=times))
    assert "Nodes cannot be counted" in what_if_sentence(none)
    assert not any("when it started" in note for note in notes(none))


def test_a_price_and_requests_that_break_nothing_are_told_in_text():
    found = verdict(jobs(4), what_if=WhatIfSettings(price_gb_h=0.5))
    money = f"At 0.5 USD per GB·h the plan saves {number(found.memory.judged.saved / 2)} USD on the later runs."
    assert what_if_sentence(found) == money and money in to_text(verdict_answer(found))
    twice = to_text(verdict_answer(verdict(jobs(4), what_if=WhatIfSettings(times=2.0, price_gb_h=0.5))))
    held = verdict(jobs(4)).memory.trace.booked
    assert f"All requests times 2: adds 100 % ({number(held / 2)} USD), kills 0 of 600 runs." in twice
    assert [one.name for one in verdict_answer(verdict(jobs(4))).tables] == ["rows"]


def test_a_cost_per_kill_stands_for_the_acceptable_kills():
    found = verdict(jobs(4), cost_per_kill_gb_h=2.0, acceptable_kills="0")
    assert to_json(verdict_answer(found))["recommended"]["setting"] == "a kill costs 2 GB·h"
    assert any("acceptable kills are not looked at" in note for note in notes(found))
    assert not any("not looked at" in note for note in notes(verdict(jobs(4), cost_per_kill_gb_h=2.0)))


@pytest.mark.parametrize("n", [1, 3, 5])
def test_few_runs_have_sizes_as_of_every_moment(n):
    for as_of in ("1", "2", "3", "4"):
        assert {row.action for row in verdict(jobs(4)[:n], as_of=as_of).memory.rows} == {KEEP}


def test_rows_as_of_before_say_that_their_runs_had_not_ended():
    rows = verdict(jobs(4).assign(user=["early"] * 450 + ["late"] * 150), as_of="1").memory.rows
    late = [row for row in rows if row.key["user"] == "late"]
    assert {row.reason for row in late} == {FEW}
    assert all(why(row, MEMORY, "GB") == f"kept: too few of {row.n_runs} runs had ended" for row in late)


@pytest.mark.parametrize("spread", [0.1, 0.4, 0.8])
def test_killed_runs_are_among_the_kills_of_the_next_thousand(spread):
    rng, held = np.random.default_rng(8), []
    for _ in range(4):
        use = 8e9 * rng.lognormal(0, spread, 600)
        killed, status = use > 10e9, np.where(use > 10e9, "OUT_OF_MEMORY", "COMPLETED")
        table = jobs(0, peak_memory_bytes=np.minimum(use, 10e9), requested_memory_bytes=10e9, status=status)
        found = verdict(table.assign(finished=~killed, user="u")).memory
        rows = [row for row in found.rows if row.n_killed]
        for row in rows:
            truth = 1000 * (1 - NormalDist(math.log(8), spread).cdf(math.log(row.size)))
            held.append(row.kills_per_1000.low <= truth <= row.kills_per_1000.high)
        foreseen = 1000 * found.judged.expected_kills / found.judged.n_runs
        assert min(row.kills_per_1000.low for row in rows) < foreseen < max(row.kills_per_1000.high for row in rows)
    assert np.mean(held) > 0.9  # of 95 % intervals


def test_a_request_that_is_kept_kills_as_often_as_it_did():
    killed = np.arange(600) % 4 == 0
    table = jobs(4, status=np.where(killed, "OUT_OF_MEMORY", "COMPLETED"), finished=~killed, user="u", task_name="t")
    (short,) = verdict(table[:40]).memory.rows
    assert (short.action, short.reason) == (KEEP, TOO_SHORT)
    found = verdict(table)
    (row,) = found.memory.rows
    on = decisions_on([(found.memory, row)], DECLINED, None, "ann")
    (declined,) = decided(found, on).memory.rows
    for kept in (short, declined):
        assert kept.kills_per_1000.low < 250 < kept.kills_per_1000.high


@pytest.mark.parametrize("over", [0.005, 0.05, 0.5])
def test_a_raise_pays_by_the_kills_that_it_prevents(over):
    """What comes after a kill is half as much more, of a request that is kept and of a larger one alike."""
    step, actions = 0.1, set()
    for seed in range(6):
        use = 10e9 * np.random.default_rng(seed).lognormal(-0.3 * NormalDist().inv_cdf(1 - over), 0.3, 600)
        killed, status = use > 10e9, np.where(use > 10e9, "OUT_OF_MEMORY", "COMPLETED")
        own = {"requested_memory_bytes": 10e9, "user": "u", "task_name": "t"}
        table = jobs(seed, peak_memory_bytes=np.minimum(use, 10e9), status=status, finished=~killed, **own)
        found = verdict(table)
        (row,) = found.memory.rows
        actions.add(row.action)
        if row.action == RAISE:
            assert row.size > row.request + step  # the next step alone prevents hardly any
        else:
            assert row.reason == KILLS_PAY
            assert found.reason.endswith("The kills that happened cost less than larger requests.")
            assert why(row, MEMORY, "GB").startswith(f"kept: {killed.sum()} of 600 runs were killed for memory")
    assert actions == ({KEEP} if over < 0.01 else {RAISE})


def test_acceptable_kills_change_no_raise():
    table = jobs(4)
    killed = table["user"].eq("u1") & (np.arange(len(table)) % 4 == 0)
    table.loc[killed, ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    raises = [
        {tuple(row.key.items()): row.size for row in verdict(table, acceptable_kills=kills).memory.rows if row.n_killed}
        for kills in ("0", "0.1%", "")
    ]
    assert raises[0] == raises[1] == raises[2] and min(raises[0].values()) > 32


def test_a_longer_limit_is_worth_the_runs_that_time_out():
    late = np.arange(600) % 100 == 0
    table = jobs(4, time_limit_s=36_000.0, status=np.where(late, "TIMEOUT", "COMPLETED"), finished=~late)
    table["duration_s"] = np.where(late, 36_000.0, table["duration_s"])
    rows = [row for row in verdict(table).resources[-1].rows if row.n_killed]
    assert {(row.action, row.reason) for row in rows} == {(KEEP, KILLS_PAY)}
    assert why(rows[0], TIME, "h").endswith(" timed out, which costs less than a longer limit")


def test_use_above_the_request_raises_only_where_requests_are_enforced():
    table = jobs(6, n_users=2)
    table.loc[table["user"] == "u0", "peak_memory_bytes"] *= 6
    above = {row.action for row in verdict(table).memory.rows if row.key["user"] == "u0" and row.n_above}
    assert RAISE not in above
    pods = table.rename(columns={"user": "namespace"})
    rows = [row for row in verdict(pods).memory.rows if row.key["namespace"] == "u0" and row.n_above > 20]
    assert {(row.action, row.reason) for row in rows} == {(RAISE, ABOVE)}
    assert all(row.size >= row.largest for row in rows)


def test_no_size_is_above_a_request_that_it_lowers():
    result = verdict(jobs(7)).memory
    for row in result.rows:
        assert (row.size < row.request) == (row.action == LOWER)
        assert row.size == pytest.approx(round(row.size / 0.1) * 0.1) or row.action == KEEP
        assert row.retry[0] >= row.size


@pytest.mark.parametrize("column", ["status", KILLS, None])
def test_kills_of_today_are_known_where_the_trace_says_how_runs_ended(column):
    table = jobs(4).drop(columns="status", errors="ignore")
    found = verdict(table if column is None else table.assign(**{column: 0}))
    told = "not known today" not in to_text(verdict_answer(found)), "not say how runs" not in " ".join(notes(found))
    assert told == (column is not None, column is not None)


def test_few_runs_keep_everything_and_say_so():
    result = verdict(jobs(1, n=40)).memory
    assert result.problem == TOO_SHORT
    assert {(row.action, row.reason) for row in result.rows} == {(KEEP, TOO_SHORT)}
    assert result.judged.saved == 0
    assert result.trace.booked > result.trace.unused > 0
    thin = verdict(jobs(1, n=300, task_name=[f"once{at}" for at in range(300)], user="u")).memory
    assert {row.reason for row in thin.rows} == {FEW}


def test_a_small_key_beside_a_large_one_does_not_make_the_saving_of_a_next_window_doubtful():
    table = jobs(3, n=200, task_name="align", user="u", peak_memory_bytes=3e9)
    table.loc[[40, 90, 150], ["task_name", "requested_memory_bytes", "peak_memory_bytes"]] = "small", 4e9, 4e9
    table.loc[[40, 90, 150], ["status", "finished"]] = "OUT_OF_MEMORY", False
    found = verdict(table).memory
    assert {row.key["task_name"]: row.action for row in found.rows} == {"align": LOWER, "small": RAISE}
    assert 0 < found.judged.interval.low < found.judged.saved_share < found.judged.interval.high


def test_the_order_of_a_file_changes_no_figure_and_no_interval():
    table = jobs(8)
    table["submit_time_s"] += np.arange(len(table)) * 1e-3  # no two at once
    said = [verdict(table.sample(frac=1, random_state=seed) if seed else table).memory.judged for seed in (0, 1, 2)]
    assert said[0].expected_kills > 0
    for one in said[1:]:
        assert (one.kills, one.kill_interval) == (said[0].kills, said[0].kill_interval)
        assert one.saved == pytest.approx(said[0].saved)
        assert (one.interval.low, one.interval.high) == pytest.approx((said[0].interval.low, said[0].interval.high))


@pytest.mark.parametrize(("n_keys", "expected"), [(4, 0.03), (40, 0.01), (3, 0.9)])
def test_the_ends_of_kills_are_those_of_many_draws(n_keys, expected):
    """Against the same model drawn run by run, without a shortcut."""
    n = np.linspace(20, 400, n_keys).astype(int)
    zeros, chance = np.zeros(n_keys, dtype=int), np.full(n_keys, expected)
    cells = Cells(zeros, np.arange(n_keys), zeros, zeros, n, *[zeros * 1.0] * 4, zeros, chance)
    rng, drawn = np.random.default_rng(5), []
    for _ in range(20_000):
        window, kills = rng.gamma(0.5, 2.0), 0
        for runs in n:
            if rng.random() < expected / (1 + (runs - 1) / 4) * window:
                kills += 1 + rng.binomial(runs - 1, rng.beta(0.5, 1.5))
        drawn.append(kills)
    low, *ends = np.quantile(drawn, [0.025, 0.971, 0.979])
    told = _kill_interval(cells)
    assert told.low == low
    assert np.floor(ends[0]) <= told.high <= np.ceil(ends[1])


def test_of_kills_that_save_as_much_the_fewest_are_named():
    points = [CurvePoint(share, saved, 0, 0.0) for share, saved in ((0, 0.51), (0.01, 0.5321), (0.05, 0.5322))]
    assert curve_sentence(points) == "At most 1.0 % kills save most: 53.2 %."
    assert curve_sentence(points[:1]) == "Most is saved where no kill is acceptable: 51.0 %."
    assert curve_sentence([CurvePoint(0.05, 0.0, 0, 0.0)]) == "Nothing is saved at up to 5.0 % kills."


def test_intervals_of_many_keys_take_little_memory():
    n = 100_000
    zeros, ones = np.zeros(n, dtype=int), np.ones(n)
    cells = Cells(zeros, np.arange(n), zeros, zeros, ones.astype(int), *[ones] * 4, zeros, np.full(n, 1e-3))
    tracemalloc.start()
    try:
        kills, saved = _kill_interval(cells), _next_window(cells.key, cells.block, ones, np.linspace(0, 1, n))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6  # 400 draws of all keys at once are 320 MB
    assert kills.low < 100 < kills.high
    assert saved.low < 0.5 < saved.high


def test_jobs_of_ever_new_names_are_sized_by_their_user():
    table = jobs(8)
    table["task_name"] = [f"job{at}" for at in range(len(table))]
    result = verdict(table).memory
    lowered = [row for row in result.rows if row.action == LOWER]
    assert lowered
    assert all("task_name" not in row.key for row in lowered)
    assert result.judged.saved_share > 0.1


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_a_row_of_further_requests_shows_one_of_them(share):
    table = jobs(n_users=1)
    further = np.random.default_rng(1).random(len(table)) < 0.5
    table["requested_memory_bytes"] = np.where(further, 40e9 + 1e8 * np.arange(len(table)), 32e9)
    table.loc[len(table) - 1, ["task_name", "requested_memory_bytes"]] = "t0", 32e9  # the latest of its task
    table["peak_memory_bytes"] = np.where(further, share, 1) * table["peak_memory_bytes"]
    found = verdict(table).memory
    rows = [row for row in found.rows if row.by == ("user", "task_name")]
    assert len(rows) == 3 and all(row.request > 40 and row.action == LOWER for row in rows)
    for row in rows:
        alike = [one.size for one in found.rows if one.key == row.key]
        assert len(alike) == 2 and Sizes(found).find(row.key, None).size == max(alike)


@pytest.mark.parametrize("text", ["-1", "nan", "1e3", "101%", "1_0", "٣"])
def test_acceptable_kills_are_a_plain_number_or_share(text):
    with pytest.raises(SettingsError, match="a number such as 3"):
        VerdictSettings(acceptable_kills=text)


@pytest.mark.parametrize("coarse", [{"step_bytes": 64e9}, {"floor_bytes": 40e9}])
def test_steps_above_every_request_are_why_nothing_is_lowered(coarse):
    found = verdict(jobs(9), **coarse)
    roomy = [row for row in found.memory.rows if row.largest < 0.8 * row.request]
    assert roomy and {(row.action, row.reason) for row in roomy} == {(KEEP, STEPS)}
    assert found.reason.endswith("Smaller steps, or a lower smallest size, would change that.")
    assert why(roomy[0], MEMORY, "GB").endswith(" and 32 GB")


def test_the_smallest_size_is_a_multiple_of_the_steps():
    sizes = {row.size for row in verdict(jobs(), step_bytes=3e9, floor_bytes=10e9).memory.rows if row.action == LOWER}
    assert min(sizes) == 12 and all(size % 3 == 0 for size in sizes)


def test_zero_acceptable_kills_lowers_only_what_is_sure():
    table = jobs(9)
    default, none = verdict(table).memory, verdict(table, acceptable_kills="0").memory
    assert none.judged.expected_kills < 0.3 < default.judged.saved_share
    assert none.judged.expected_kills <= default.judged.expected_kills
    assert none.least_price > default.least_price
    assert none.acceptable_share == 0


def test_a_table_without_memory_is_refused_with_where_its_other_resources_stand():
    table = jobs(requested_gpu_percent=400.0, gpu_usage_percent=90.0)
    for other in (table.drop(columns="peak_memory_bytes"), table.assign(requested_memory_bytes=math.nan)):
        with pytest.raises((ColumnMissing, NotEnoughData), match=r"; the ledger says what to request of GPUs$"):
            verdict(other)
        findings = ledger_of({"jobs": other}, LedgerSettings()).findings
        assert any(one.row for one in findings) and not any("the ledger" in one.lacking for one in findings)


def test_other_resources_have_rows_of_their_own():
    table = jobs(
        10,
        requested_cpu_percent=800.0,
        cpu_usage_percent=np.random.default_rng(0).normal(210, 5, 600),
        time_limit_s=36_000.0,
    )
    result = verdict(table)
    assert [one.resource for one in result.resources] == ["memory", "cpu", "time limit"]
    cpu = result.resources[1]
    assert cpu.unit == "cores"
    assert {row.size for row in cpu.rows if row.action == LOWER} == {3.0}
    assert {one.name for one in resources_of(table, "peak_rss", 0.0)} == {MEMORY, "cpu", "time limit"}
    for share, words in ((0.31, "31.0 % less is enough"), (-0.02, "2.0 % more is advised")):
        told = dataclasses.replace(cpu, judged=dataclasses.replace(cpu.judged, saved_share=share))
        of_cpu = verdict_tables(dataclasses.replace(result, resources=(result.memory, told)))[1]
        assert of_cpu.title.endswith(words)
    one = dataclasses.replace(cpu.rows[0], request=1.0, largest=0.6)
    assert why(one, "cpu", "cores").startswith(f"largest of {one.n_runs} runs used 0.6 of 1 core")
    assert "cores" not in why(one, "cpu", "cores")


@pytest.mark.parametrize(("ends", "words"), [((5.1e-15, 17.0), "0 to 17"), ((0.94, 62.1), "0.94 to 62"), ((0, 0), "0")])
def test_hardly_any_kill_is_told_as_none(ends, words):
    (row, *_) = verdict(jobs(4)).memory.rows
    row = dataclasses.replace(row, kills_per_1000=Interval(*map(float, ends)))
    (column,) = (one for one in MEMORY_ROWS if one.name == "kills_per_1000_low")
    assert column.cell(row) == words and column.of(row) == ends[0]
    assert risk(row, MEMORY) == f"{words} kills in the next 1,000 runs"


def test_kills_that_are_foreseen_are_those_that_come():
    seen = foreseen = 0.0
    for seed in range(12):
        runs = sized(seed, n=1500, n_keys=12)
        judged = Windows(runs, TABLE).judge(dataclasses.replace(SIZING, acceptable_share=0.03))
        seen, foreseen = seen + judged.killed.sum(), foreseen + judged.chance.sum()
    assert 0.5 <= foreseen / seen <= 2


@pytest.mark.parametrize("applied", APPLIED)
def test_arrays_whose_runs_are_alike_are_killed_no_more_than_is_acceptable(applied):
    kills = runs = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        key = np.repeat(rng.integers(0, 6, 60), 40)
        start = np.repeat(np.sort(rng.uniform(0, 60 * 86_400, 60)), 40)
        array = np.repeat(rng.lognormal(0, 0.2, 60), 40)  # arrays differ, the runs of one hardly do
        mean = rng.lognormal(1.6, 0.5, 6)[key]
        use, took = mean * array * rng.lognormal(0, 0.06, len(key)), rng.lognormal(8.2, 0.5, len(key))
        table = pd.DataFrame(
            {
                "task_name": key.astype(str),
                "requested_memory_bytes": 4e9 * mean,
                "peak_memory_bytes": 1e9 * use,
                "submit_time_s": start,
                "start_time_s": start,
                "end_time_s": start + took,
                "duration_s": took,
            }
        )
        judged = verdict(table, applied=applied).memory.judged
        kills, runs = kills + judged.kills, runs + judged.n_runs
    assert kills <= 0.005 * runs


def test_advice_of_nothing_known_is_the_request():
    runs = sized(0, n=20)
    known = known_at(runs, 0, np.full(20, -1.0))
    found = advise(runs.request, (known,), (runs.levels[0],), (None,), SIZING, 1.0)
    np.testing.assert_array_equal(found.size, runs.request)
    assert (found.level == -1).all()


@pytest.mark.parametrize(("kills", "words"), [(0.0, "0"), (0.0018, "under 0.1"), (5.213, "5.21")])
def test_expected_kills_are_no_finer_than_they_are_known(kills, words):
    assert expected_words(kills) == words
