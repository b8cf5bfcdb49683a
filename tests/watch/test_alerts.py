"""Alerts: a rule is read or refused, a check tells by its status what it found, a service shows a gauge."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.command_line import run_here
from workprof.answers.alerts import NUMBERS
from workprof.core.alerts import Alert, Checked, Told, alert_of
from workprof.core.errors import SettingsError
from workprof.service.metrics import Metrics
from workprof.store.reports import IngestOptions
from workprof.watch.numbers import READERS, checked, value_of


@pytest.mark.parametrize(
    ("when", "number", "sign", "limit"),
    [
        ("kills_per_day > 5", "kills_per_day", ">", 5),
        ("unused_share>=60 %", "unused_share", ">=", 0.6),
        (" memory.verdict:today.kills != -1e2 ", "memory.verdict:today.kills", "!=", -100),
    ],
)
def test_a_rule_is_read_and_can_be_given_again(when, number, sign, limit):
    found = alert_of("a", "jobs", when)
    assert (found.number, found.sign, found.limit) == (number, sign, pytest.approx(limit))
    assert alert_of("a", "jobs", found.when) == found


@pytest.mark.parametrize(
    "when",
    ["", "kills", "kills >", "> 5", "kills > x", "kills => 5", "a() > 1", "a > 1; b", "__import__('os') > 1",
     "a > 1 > 2", "kills > 1e999", "kills > ٣", "k\nills > 1"],
)  # fmt: skip
def test_another_text_is_refused(when):
    with pytest.raises(SettingsError, match="--when"):
        alert_of("a", "jobs", when)


@pytest.mark.parametrize("name", ["", " ", "a\nb", 'a"} 1', "x" * 81])
def test_a_name_that_could_break_out_is_refused(name):
    with pytest.raises(SettingsError, match="the alert is called"):
        alert_of(name, "jobs", "kills_per_day > 5")


def test_every_short_name_is_declared_and_read():
    assert READERS.keys() == NUMBERS.keys()


@pytest.mark.parametrize(("moment", "words"), [(5e5, "shows no dates"), (4.2e9, "in the future")])
def test_an_age_that_is_none_is_not_computed(bench, tmp_path, moment, words):
    name = f"jobs of {moment:.0f}"
    (tmp_path / "a.csv").write_text(f"job_name,start_time_s,end_time_s\nj1,{moment},{moment + 60}\n")
    bench.ingest(tmp_path / "a.csv", IngestOptions(name=name))
    (found,) = checked(bench, [alert_of("old", name, "age_h > 24")])
    assert (found.state, found.fired) == ("not computed", False)
    assert words in found.problem


@pytest.mark.slow
def test_numbers_are_those_of_the_answers(bench):
    changes, verdict = bench.changes("jobs"), bench.verdict("jobs")
    assert value_of(bench, "jobs", "kills_per_day") == 12 / 7
    assert value_of(bench, "jobs", "waste_share") == changes.compared.sides[1].totals.of("memory").wasted_share
    assert value_of(bench, "jobs", "memory.plan:recommended.saved_share") == verdict.memory.judged.saved_share
    assert value_of(bench, "jobs", "memory.plan:rows.0.request_gb") == 64
    for wrong in ("kills", "memory.plam:today", "memory.plan:today", "memory.plan:today.kils", "memory.plan:reason"):
        with pytest.raises(SettingsError):
            value_of(bench, "jobs", wrong)


@pytest.mark.slow
def test_a_path_that_an_answer_does_not_have_is_refused_or_named(bench):
    home = bench.settings.home

    def add(when):
        return run_here("alert", "add", "saving", "--when", when, "--dataset", "jobs", home=home)

    later = add("memory.plan:recommended.nothing > 5")
    assert (later.status, "whether there is such a number, `workprof check saving` tells" in later.err) == (0, True)
    assert run_here("alert", "remove", "saving", home=home).status == 0
    bench.verdict("jobs")
    refused = add("memory.plan:recommended.nothing > 5")
    assert (refused.status, "there is no 'nothing'; there is" in refused.err) == (2, True)
    assert bench.alerts() == ()
    fine = add("memory.plan:recommended.saved_share > 5")
    assert (fine.status, "whether there is" in fine.err) == (0, False)


@pytest.mark.slow
def test_check_ends_with_the_status_that_cron_looks_at(bench):
    home = bench.settings.home

    def run(*words):
        return run_here(*words, "--json", home=home)

    assert run("check").status == 0
    assert run("alert", "add", "kills", "--when", "kills_per_day > 5", "--dataset", "jobs").status == 0
    fine = run("check")
    assert (fine.status, fine.json["alerts"][0]["state"]) == (0, "fine")
    assert run("alert", "add", "drift", "--when", "drifting_targets > 0", "--dataset", "jobs").status == 0
    unknown = run("check")
    assert (unknown.status, unknown.json["not_computed"]) == (2, 1)
    assert "no finished run was observed" in unknown.json["alerts"][0]["problem"]
    assert run("alert", "add", "kills", "--when", "kills_per_day > 0.5", "--dataset", "jobs").status == 0
    fired = run("check")
    assert (fired.status, fired.json["fired"]) == (1, 1)
    assert fired.json["alerts"][1]["value"] == pytest.approx(12 / 7)
    assert run("alert", "add", "odd", "--when", "nothing > 0", "--dataset", "jobs").status == 2
    assert run("alert", "remove", "odd").status == 2
    assert run("alert", "remove", "kills").status == 0
    assert [one["alert"] for one in run("alert", "list").json["alerts"]] == ["drift"]
    bench.remove("jobs")
    assert "jobs" in run("check").json["alerts"][0]["problem"]


@pytest.mark.slow
def test_rules_of_a_file_are_checked_and_not_kept(bench, tmp_path):
    def run(text):
        (tmp_path / "rules.toml").write_text(text)
        return run_here("check", tmp_path / "rules.toml", "--json", home=bench.settings.home)

    rule = '[{}]\ndataset = "jobs"\nwhen = "{}"\n'
    both = run(rule.format("calm", "kills_per_day > 5") + rule.format("kills", "kills_per_day > 0.5"))
    assert (both.status, [one["state"] for one in both.json["alerts"]]) == (1, ["fine", "fired"])
    assert run(rule.format("calm", "kills_per_day > 5")).status == 0
    assert bench.alerts() == ()
    for text, words in {
        "": "has no rule",
        "a = 3": "write a table [a]",
        '[a]\nwhen = "kills_per_day > 5"': "a: dataset is None",
        '[a]\ndataset = "jobs"\nwhen = "kills_per_day"': "a: --when is 'kills_per_day'",
        '[a]\ndataset = "jobs"\nwhen = "nothing > 5"': "no number is called 'nothing'",
        '[a]\ndataset = "jobs"\nwhen = "kills_per_day > 5"\ncolour = 1': "'colour' is not known",
        "[a": "the rules cannot be read",
    }.items():
        refused = run(text)
        assert (refused.status, words in refused.err) == (2, True), refused.err


@pytest.mark.slow
def test_what_is_watched_and_told_of_a_dataset_follows_its_new_name(bench):
    bench.add_alert("kills", "jobs", "kills_per_day > 0.5")
    bench.add_alert("late", "jobs?period=2026", "age_h > 5")
    bench.told([Told("jobs\nana", "row", 5.0), Told("jobs2\nana", "row", 6.0), Told("others\nana", "row", 1.0)])
    bench.rename("jobs", "others")
    assert [one.dataset for one in bench.alerts()] == ["others", "others?period=2026"]
    assert bench.told_before() == {("others\nana", "row"): 5.0, ("jobs2\nana", "row"): 6.0}
    (kills,) = checked(bench, bench.alerts()[:1])
    assert kills.fired


@pytest.mark.slow
def test_the_service_has_a_gauge_for_every_alert(bench):
    bench.add_alert("kills", "jobs", "kills_per_day > 0.5")
    found = [*checked(bench, bench.alerts()), Checked(Alert("b", 'a"\\\n', "x", ">", 1.0), math.nan, "why")]
    told = {
        (sample.name, sample.labels["alert"], sample.labels["dataset"]): sample.value
        for family in text_string_to_metric_families(Metrics().text(found).decode())
        for sample in family.samples
        if "alert" in sample.labels
    }
    assert told["workprof_alert_fired", "kills", "jobs"] == 1
    assert told["workprof_alert_value", "kills", "jobs"] == pytest.approx(12 / 7)
    assert math.isnan(told["workprof_alert_fired", "b", 'a"\\\n'])
