"""Home tells how far the way from a trace to a plan has been gone, from what is kept alone."""

import numpy as np
import pandas as pd
import pytest
from streamlit.proto.Block_pb2 import Block

from pages._frame import look
from pages._frame.visit import SAMPLES
from tests.pages.conftest import SAMPLE, problems
from workprof.answers.changes import changes_sentence, worse_words
from workprof.answers.home import deeds
from workprof.answers.ledger import first_findings, ledger_sentence
from workprof.answers.over_time import (
    cell_words,
    judged_sentence,
    largest_named,
    memory_sentence,
    over_time_runs_answer,
    over_time_sentence,
    row_names,
)
from workprof.answers.verdict import kills_words, sentence
from workprof.core.settings import from_environment
from workprof.core.units import format_share, gb_h, grouped
from workprof.memory.over_time import OverTimeRunsSettings, OverTimeSettings
from workprof.memory.questions import VERDICT
from workprof.memory.rollup import RollupSettings
from workprof.memory.verdict import VerdictSettings
from workprof.memory.verdict_rows import KEEP
from workprof.workbench import Workbench


def opened(app, *folds, **parameters):
    return app("home", **dict.fromkeys(folds, "true"), **parameters)


def steps(test):
    return [item.value for item in test.markdown if str(item.value).startswith(":material/")]


def test_the_checklist_names_what_is_done_and_what_is_next(app, loaded):
    test = opened(app, "home_steps")
    assert problems(test) == []
    data, profiles, classifier, plan = steps(test)
    assert "done · Data: 15,000 finished runs ready" in data
    assert "done · Profiles:" in profiles
    assert "next · Classifier: not trained yet" in classifier
    assert "done · Requests: " in plan.replace("\\", "")  # some seconds: computed with the page


def test_the_verdict_stands_on_home_with_its_saving_its_kills_and_its_first_rows(app, loaded):
    with Workbench(from_environment()) as workbench:
        found = workbench.verdict(loaded.hash, VerdictSettings())
    test = opened(app, "home_steps")
    assert problems(test) == []
    told = " ".join(str(one.value) for one in test.markdown).replace("\\", "")
    assert f"**{sentence(found)}**" in told
    changes = [row for row in found.memory.rows if row.action != KEEP]
    assert changes
    done = [one.label.replace("\\", "") for one in test.button]
    for deed in deeds(found, 4):
        assert f"{deed.what} **{deed.saves}**" in done
    assert f"done · Requests: {sentence(found)}"[:150] in steps(test)[3].replace("\\", "")
    figures = {item.label: item.value for item in test.metric}
    judged = found.memory.judged
    assert figures["Saved"] == format_share(judged.saved_share)
    details = {item.label: item.delta for item in test.metric}
    assert details["Saved"] == f"at {kills_words(judged.kills)} in {judged.n_runs:,} later runs"
    above = found.memory.trace.above + found.memory.trace.kills
    assert f"What breaks: {above:,} runs if requests were enforced" in [one.label for one in test.button]
    test.button(key="home_verdict_link").click().run()
    assert test.query_params["memory_tab"] in (VERDICT.tab, [VERDICT.tab])


def test_a_deed_opens_its_row_and_a_price_makes_money_of_it(app, loaded, house):
    first = deeds(house().workbench.verdict(loaded.hash), 1)[0].row
    test = app("home", ds=loaded.hash, home_price="0.5")
    assert problems(test) == []
    label = test.button(key="home_do_0").label.replace("\\", "")
    assert f"**−{gb_h(first.saved)}, {grouped(first.saved / 2)} USD**" in label
    test.button(key="home_do_0").click().run()
    assert problems(test) == []
    (shown,) = [one.value for one in test.dataframe if "request_gb" in one.value]
    assert shown["user"].unique().tolist() == [first.key["user"]]
    assert first.request in shown["request_gb"].tolist()


def test_home_says_which_columns_the_verdict_needs(app, house, home):
    rows = pd.DataFrame({"task_name": "a", "duration_s": [60.0] * 90, "peak_memory_bytes": 1e9})
    rows.to_parquet(home.parent / "bare.parquet")
    test = opened(app, "home_steps", ds=house().workbench.ingest([home.parent / "bare.parquet"]).hash)
    assert problems(test) == []
    assert "the trace has no requested memory" in steps(test)[3].replace("\\", "")
    assert {item.value for item in test.metric} == {"no data"}
    assert not test.get("plotly_chart")


def test_home_of_a_trace_without_memory_answers_for_its_gpus(app, house, home):
    rows = pd.DataFrame({"task_name": ["a", "b"] * 45, "duration_s": 3600.0, "requested_gpu_percent": 400.0})
    rows.assign(gpu_usage_percent=90.0).to_parquet(home.parent / "gpus.parquet")
    test = opened(app, "home_steps", ds=house().workbench.ingest([home.parent / "gpus.parquet"]).hash)
    assert problems(test) == []
    assert {item.label: item.value for item in test.metric}["Wasted GPUs"] == "77.5 %"
    told = [str(item.value).replace("\\", "") for item in test.markdown]
    assert any(text.startswith("**78 % of requested GPUs are never used: 279 of 360 GPU·h.") for text in told)
    assert any(text.startswith("1. a: low use of GPUs in 45 of 45 runs, 139 GPU·h wasted") for text in told)


def test_the_first_screen_is_answer_four_figures_and_the_chart(app, loaded, house):
    test = app("home")
    assert problems(test) == []
    bench = house().workbench
    found, counts = bench.over_time(loaded.hash), bench.counts(loaded.hash)
    told = [str(item.value).replace("\\", "") for item in test.markdown]
    assert f"**{memory_sentence(found)}**" in told
    captions = [str(item.value).replace("\\", "") for item in test.caption]
    assert f"{judged_sentence(found, counts.runs, counts.users)} As of day 71." in captions
    changed = bench.changes(loaded.hash)
    assert changes_sentence(changed) in [str(one.value).replace("\\", "") for one in test.header]
    assert f"Worse: {worse_words(changed.worse[0])}" in [str(one.label).replace("\\", "") for one in test.button]
    figures = {item.label: item.value for item in test.metric}
    assert list(figures) == ["Requested", "Unused", "Saved", "Killed or failed"]
    assert figures["Saved"].endswith(" %")
    assert figures["Killed or failed"] == "0"  # all 15,000 runs of the sample finished
    assert [item.help for item in test.metric if not item.help] == []
    (chart,) = test.get("plotly_chart")
    assert "heat map of what each of" in chart.proto.alt
    assert over_time_sentence(found, row_names(found, bench.profile_names(loaded.hash))) in " ".join(told)


def test_the_controls_change_rows_and_bins_and_stand_in_the_address(app, loaded, house):
    test = app("home", home_by="user", home_bin="week", home_bursts="true")
    assert problems(test) == []
    found = house().workbench.over_time(loaded.hash, OverTimeSettings("user", "week", leave_out_bursts=True))
    told = " ".join(str(item.value) for item in test.markdown).replace("\\", "")
    assert over_time_sentence(found, row_names(found, ())) in told
    assert test.selectbox(key="home_by").value == "user"
    test.selectbox(key="home_bin").set_value("auto").run()
    assert problems(test) == []
    assert "home_bin" not in test.query_params


def test_a_clicked_cell_opens_its_runs(app, loaded, house):
    test = app("home")
    bench = house().workbench
    found = bench.over_time(loaded.hash)
    row, place = (int(at) for at in np.unravel_index(found.unused.argmax(), found.unused.shape))
    test = app("home", home_cell="true", home_cell_row=found.rows[row], home_cell_bin=str(place))
    assert problems(test) == []
    runs = bench.over_time_runs(loaded.hash, OverTimeRunsSettings(found.settings, found.rows[row], place))
    names = row_names(found, bench.profile_names(loaded.hash))
    told = " ".join(str(item.value) for item in test.markdown).replace("\\", "")
    assert over_time_runs_answer(runs, cell_words(found, runs, names)).sentence in told
    assert test.dataframe[0].value["row_id"].tolist() == runs.row_ids.tolist()
    test.button(key="home_cell_map").click().run()
    assert test.title[0].value == "Profiles"


def test_before_the_profiles_there_is_the_chart_by_task_already(app, house):
    hashed = house().workbench.ingest([SAMPLE]).hash
    test = app("home")
    assert problems(test) == []
    (chart,) = test.get("plotly_chart")
    assert "heat map of what each of" in chart.proto.alt
    assert house().workbench.over_time.resolved(hashed).by == "task"
    assert "Profile" not in test.selectbox(key="home_by").options


def test_profiles_by_size_and_times_are_folded(app, loaded):
    test = opened(app, "home_profiles", "home_data")
    assert problems(test) == []
    alts = [chart.proto.alt for chart in test.get("plotly_chart")]
    assert len(alts) == 3
    assert any("Runs start over " in alt and "Bars of runs per " in alt for alt in alts)
    assert {"Jobs", "Nodes", "Median duration", "Median peak memory"} < {item.label for item in test.metric}


def test_home_says_nothing_of_other_datasets(app, loaded, house):
    workbench = house().workbench
    ranking = workbench.node_ranking(workbench.ingest([SAMPLES["benchmarks"].path]).hash)
    test = app("home", ds=loaded.hash)
    labels = [one.label for one in test.button]
    assert any(one.startswith("Biggest waste: ") for one in labels)
    told = " ".join([*labels, *(str(one.value) for one in test.markdown)])
    assert not any(one.node in told for one in ranking.nodes)


def test_the_biggest_waste_opens_where_it_is_shown(app, loaded, house):
    bench = house().workbench
    found = bench.over_time(loaded.hash)
    row = found.rows[largest_named(found)]
    test = app("home", ds=loaded.hash)
    test.button(key="home_next_waste").click().run()
    assert test.title[0].value == "Profiles"
    assert test.selectbox(key="profiles_profile").value == row.removeprefix("profile ")
    test = app("home", ds=loaded.hash, home_by="task")
    test.button(key="home_next_waste").click().run()
    told = " ".join(str(item.value) for item in test.markdown)
    by_task = bench.over_time(loaded.hash, OverTimeSettings(by="task"))
    task = by_task.rows[largest_named(by_task)]
    assert f"{task} alone wastes" in told.replace("\\", "")
    test = app("home", ds=loaded.hash, home_by="user")
    test.button(key="home_next_waste").click().run()
    assert test.selectbox(key="memory_ledger_by").value == "user"


def test_an_empty_home_has_two_buttons_and_the_way_to_the_tour(app, home):
    test = app("home")
    assert problems(test) == []
    assert [button.label for button in test.main.button] == ["Load sample", "Upload", "Start the tour"]


@pytest.mark.parametrize(
    ("kind", "sentence", "page"),
    [
        ("benchmarks", "benchmarks\\: 480 runs, 8 nodes and 6 benchmarks\\.", "Rank the nodes"),
        ("telemetry", "telemetry\\: 396 samples, 18 runs, 6 workloads and 76 counters\\.", "Show the phases"),
    ],
)
def test_measured_data_has_a_home_with_the_next_step(app, house, kind, sentence, page):
    hashed = house().workbench.ingest([SAMPLES[kind].path]).hash
    test = app("home", ds=hashed)
    assert problems(test) == []
    assert f"**{sentence}**" in [item.value for item in test.markdown]
    assert any(item.proto.label.startswith(page) for item in test.main.get("page_link"))
    assert not any("Classifier" in str(item.value) for item in test.markdown)


def test_recent_runs_open_on_their_page(app, loaded):
    with Workbench(from_environment()) as workbench:
        workbench.ledger(loaded.hash)
        workbench.over_time(loaded.hash)  # Home would add it up
        workbench.rollup(loaded.hash, RollupSettings())
    test = opened(app, "home_recent")
    assert problems(test) == []
    lines = [item.value for item in test.markdown if str(item.value).endswith(" UTC")]
    assert 2 <= len(lines) <= 5
    recent = [line.replace("\\", "").partition(" · ")[0] for line in lines]  # those of one second in any order
    assert {"Judged runs before and after", "Ledger of every resource"} <= set(recent)
    test.button(key=f"home_run_{recent.index('Judged runs before and after')}").click().run()
    assert problems(test) == []
    assert test.title[0].value == "Memory"
    assert loaded.hash in test.query_params["ds"]


def test_the_first_findings_are_those_of_the_ledger_and_lead_to_it(app, loaded, house):
    test = opened(app, "home_findings")
    assert problems(test) == []
    found = house().workbench.ledger(loaded.hash)
    told = " ".join(str(item.value) for item in test.markdown).replace("\\", "")
    assert ledger_sentence(found) in told
    for words in first_findings(found, 5):
        assert words in told
    test.button(key="home_ledger").click().run()
    assert test.query_params["memory_tab"] in ("Explore", ["Explore"])
    assert test.query_params["memory_explore"] in ("Ledger", ["Ledger"])


def test_a_table_without_times_has_no_findings_and_no_error(app, home, tmp_path):
    (tmp_path / "names.csv").write_text("job_name,task_name,duration_s\n" + "a,b,\n" * 60)
    with Workbench(from_environment()) as workbench:
        hashed = workbench.ingest([tmp_path / "names.csv"]).hash
    test = app("home", ds=hashed)
    assert problems(test) == []
    assert not test.get("plotly_chart")
    assert "none of them has finished" not in " ".join(str(item.value) for item in test.markdown)
    folded = opened(app, "home_findings", "home_data", ds=hashed)
    assert not folded.exception
    assert any("nothing can be called wasted" in str(item.value) for item in folded.markdown)


def around(block, key):
    """Return the blocks around a control, the outermost first; None where it is not in this one."""
    for child in block.children.values():
        inside = [] if getattr(child, "key", None) == key else None
        if inside is None and getattr(child, "children", None):
            inside = around(child, key)
        if inside is not None:
            return [block, *inside]
    return None


@pytest.mark.parametrize("narrow", [False, True])
def test_what_changed_stands_beside_the_period_and_on_a_phone_below_it(app, loaded, monkeypatch, narrow):
    monkeypatch.setattr(look, "narrow", lambda: narrow)
    blocks = around(app("home").main, "home_since")
    beside = [one.proto.flex_container.direction == Block.FlexContainer.HORIZONTAL for one in blocks if one.proto]
    assert any(beside) is not narrow
