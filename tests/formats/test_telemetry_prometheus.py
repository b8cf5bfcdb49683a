"""Prometheus' answers: totals and gauges, labels, hosts, resets, missing steps, stairs and plateaus, refusals."""

import json

import numpy as np
import pytest

from tests.formats.telemetry_files import checks, imported
from workprof.core.errors import TraceError

T0 = 1764174327


def answer(*series, **more):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(series)}} | more)


def series(name, values, start=T0, step=1, **labels):
    metric = {"__name__": name, "job": "node", "instance": "h1:9100"} | labels
    points = [[start + step * at, str(value)] for at, value in enumerate(values) if value is not None]
    return {"metric": {key: value for key, value in metric.items() if value is not None}, "values": points}


def test_totals_become_rates_and_labels_are_added_up(tmp_path):
    text = answer(
        series("node_cpu_seconds_total", [10, 10.5, 11.5], cpu="0", mode="user"),
        series("node_cpu_seconds_total", [20, 20.25, 20.5], cpu="1", mode="user"),
        series("node_cpu_seconds_total", [5, 5, 5], cpu="0", mode="idle"),
        series("node_memory_MemFree_bytes", [800, 900, 1000]),
    )
    found = imported(tmp_path, "prom.json", text).frame
    assert found["t"].tolist() == [0, 1, 2]
    assert np.isnan(found['node_cpu_seconds_total{mode="user"}/s'].iloc[0])
    assert found['node_cpu_seconds_total{mode="user"}/s'].iloc[1:].tolist() == [0.75, 1.25]
    assert found['node_cpu_seconds_total{mode="idle"}/s'].iloc[1:].tolist() == [0, 0]
    assert found["node_memory_MemFree_bytes"].tolist() == [800, 900, 1000]
    assert found["run"].unique().tolist() == ["prom"]


def test_temperatures_of_several_sensors_are_averaged_and_said_so(tmp_path):
    text = answer(
        *(series("node_hwmon_temp_celsius", [50 + at, 60 + at], chip="c0", sensor=f"t{at}") for at in (0, 10)),
        *(series("node_memory_used_bytes", [1, 2], device=f"d{at}") for at in range(3)),
        series("node_load1", [1, 2]),
    )
    found = imported(tmp_path, "prom.json", text)
    assert found.frame["node_hwmon_temp_celsius"].tolist() == [55, 65]
    assert found.frame["node_memory_used_bytes"].tolist() == [3, 6]
    [check] = [one for one in found.checks if one.name == "several_series"]
    assert check.message.endswith(
        "2 counters are of several series each, added up: node_memory_used_bytes; of which the mean counts: "
        "node_hwmon_temp_celsius"
    )


def test_series_alone_are_an_answer(tmp_path):
    """What `promtool query range -o json` writes."""
    text = json.dumps([series("node_load1", [1, 2, 3])])
    assert imported(tmp_path, "prom.json", text).frame["node_load1"].tolist() == [1, 2, 3]


def test_a_total_that_fell_was_reset(tmp_path):
    found = imported(tmp_path, "prom.json", answer(series("x_total", [10, 20, 3, 4])))
    assert found.frame["t"].tolist() == [1, 2, 3]
    assert found.frame["x_total/s"].tolist()[::2] == [10, 1]
    assert np.isnan(found.frame["x_total/s"].iloc[1])
    assert checks(found)["resets"] == 1


def test_a_value_that_repeats_a_time_is_counted(tmp_path):
    one = series("g", [1, 2, 3])
    one["values"].append([T0 + 1, "7"])
    found = imported(tmp_path, "prom.json", answer(one))
    assert found.frame["g"].tolist() == [1, 7, 3]
    assert checks(found)["repeated_points"] == 1


def test_hosts_are_runs_and_missing_steps_are_holes(tmp_path):
    text = answer(series("g", [1, 2, None, None, 5, 6]), series("g", [7, 8, 9, 1, 2, 3], instance="h2:9100"))
    found = imported(tmp_path, "prom.json", text)
    assert found.frame["run"].tolist() == ["h1:9100"] * 4 + ["h2:9100"] * 6
    assert checks(found)["holes"] == 1


def test_special_values_and_queries_without_a_name(tmp_path):
    text = answer(series(None, ["NaN", "+Inf", 3], mode="user"))
    found = imported(tmp_path, "prom.json", text)
    assert found.frame['{mode="user"}'].isna().tolist() == [True, True, False]
    assert checks(found)["infinite"] == 1


def test_a_slow_scrape_gives_stairs(tmp_path):
    rising = np.repeat(np.arange(10) * 7.0 + 1, 15)
    found = imported(tmp_path, "prom.json", answer(series("x_total", rising), series("steady", [5] * 150)))
    stairs = next(check for check in found.checks if check.name == "stairs")
    assert "change every 15 s although a point is given every 1 s" in stairs.message
    assert "stale_end" not in checks(found)


def test_a_target_that_went_leaves_a_plateau(tmp_path):
    found = imported(tmp_path, "prom.json", answer(series("g", [*np.arange(60.0), *[59.0] * 100])))
    assert checks(found)["stale_end"] == 100
    assert "stairs" not in checks(found)


def test_what_prometheus_says_is_passed_on(tmp_path):
    histogram = {"metric": {"__name__": "h"}, "histograms": [[T0, {"count": "1"}]]}
    text = answer(series("g", [1, 2]), histogram, {"metric": {}}, warnings=["partial"], infos=["odd name"])
    found = imported(tmp_path, "prom.json", text)
    assert checks(found)["without_values"] == 2
    told = next(check for check in found.checks if check.name == "prometheus_says")
    assert (told.count, told.message) == (2, "Prometheus says: partial; odd name")


def test_a_full_answer_may_be_cut(tmp_path):
    assert checks(imported(tmp_path, "p.json", answer(series("g", range(11_000)))))["full_series"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"status":"error","errorType":"bad_data","error":"parse error"}', r"an error \(parse error\)"),
        ('{"status":"success","data":{"resultType":"vector","result":[]}}', "type 'vector', one moment"),
        ('{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}', "type 'scalar'"),
        ('{"status":"success","data":{"resultType":"matrix","result":[]}}', "no series with values"),
        ('{"status":"success","data":{"resultType":"matrix","result":[', "broken JSON"),
    ],
)
def test_other_answers_are_refused(tmp_path, text, reason):
    with pytest.raises(TraceError, match=reason):
        imported(tmp_path, "prom.json", text)


def test_points_are_taken_in_the_order_of_time(tmp_path):
    one = series("x_total", [10, 20, 40])
    turned = one | {"values": one["values"][::-1]}
    assert imported(tmp_path, "prom.json", answer(turned)).frame["x_total/s"].tolist() == [10, 20]


def test_totals_without_their_ending_are_doubted(tmp_path):
    """`node_vmstat_pgfault` and the like are totals, and are not named so."""
    text = answer(
        series("node_vmstat_pgfault", [at * 7 for at in range(12)]), series("node_load1", [at % 3 for at in range(12)])
    )
    found = imported(tmp_path, "prom.json", text)
    (told,) = [one for one in found.checks if one.name == "totals"]
    assert told.message == "1 counter has values that never fall: node_vmstat_pgfault; of totals, give the rates"
