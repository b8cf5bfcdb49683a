"""Home tells how far the way from a trace to a plan has been gone, from what is kept alone."""

import pandas as pd
import pytest

from pages._frame.visit import SAMPLES
from tests.pages.conftest import SAMPLE, problems
from workprof.charts.memory.ledger import first_findings, ledger_sentence
from workprof.charts.memory.recommendation import recommendation_sentence
from workprof.core.settings import from_environment
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.rollup import RollupSettings
from workprof.workbench import Workbench


def steps(test):
    return [item.value for item in test.markdown if str(item.value).startswith(":material/")]


def test_the_checklist_names_what_is_done_and_what_is_next(app, loaded):
    test = app("home")
    assert problems(test) == []
    data, profiles, classifier, plan = steps(test)
    assert "done · Data: 15,000 finished rows ready" in data
    assert "done · Profiles:" in profiles
    assert "next · Classifier: not trained yet" in classifier
    assert "next · Recommendation: not computed yet" in plan
    (button,) = (one for one in test.button if one.key == "home_recommend")
    assert button.label == "Compute the recommendation"
    assert any("every setting of workprof is replayed on 15,000 runs" in str(one.value) for one in test.markdown)


def test_a_kept_recommendation_stands_on_home_with_its_saving_and_its_kills(app, loaded):
    with Workbench(from_environment()) as workbench:
        found = workbench.recommendation(loaded.hash, RecommendationSettings())
    test = app("home")
    assert problems(test) == []
    assert steps(test)[3].replace("\\", "").endswith(f"done · {recommendation_sentence(found)}")
    figures = {item.label: item.value for item in test.metric}
    assert figures["Memory saving"] == f"{100 * found.recommended.saved_share:.1f} %"
    assert figures["Kills"] == f"{found.recommended.failures:,}"
    assert not {"Predicted saving", "Its risk", "GB·h", "Failed attempts"} & set(figures)  # one saving, not three


def test_home_says_which_columns_a_recommendation_needs(app, house, home):
    rows = pd.DataFrame({"task_name": "a", "duration_s": [60.0] * 90, "peak_memory_bytes": 1e9})
    rows.to_parquet(home.parent / "bare.parquet")
    test = app("home", ds=house().workbench.ingest([home.parent / "bare.parquet"]).hash)
    assert problems(test) == []
    assert "the trace has no requested_memory_bytes" in steps(test)[3].replace("\\", "")


def test_the_figures_say_what_is_computed_and_what_is_not_yet(app, loaded):
    figures = {item.label: item.value for item in app("home").metric}
    assert figures["Jobs"] == "1,041"
    assert figures["Clustered"].endswith(" %")
    assert figures["Memory saving"] == figures["Kills"] == "not yet"
    assert [item.help for item in app("home").metric if not item.help] == []


def test_before_the_profiles_there_is_a_chart_already(app, house):
    house().workbench.ingest([SAMPLE])
    test = app("home")
    assert problems(test) == []
    (chart,) = test.get("plotly_chart")
    assert "rows started" in chart.proto.alt


def test_an_empty_home_has_two_buttons_and_the_way_to_the_tour(app, home):
    test = app("home")
    assert problems(test) == []
    assert [button.label for button in test.button] == ["Load sample", "Upload", "Show the tour"]


@pytest.mark.parametrize(
    ("kind", "sentence", "page"),
    [
        ("benchmarks", "benchmarks\\: 180 runs, 3 nodes and 6 benchmarks\\.", "Rank the nodes"),
        ("telemetry", "telemetry\\: 396 samples, 18 runs, 6 workloads and 76 counters\\.", "Look at the phases"),
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
        workbench.ledger(loaded.hash)  # Home would add it up
        workbench.rollup(loaded.hash, RollupSettings())
    test = app("home")
    assert problems(test) == []
    lines = [item.value for item in test.markdown if str(item.value).endswith(" UTC")]
    assert 2 <= len(lines) <= 5
    recent = [line.replace("\\", "").partition(" · ")[0] for line in lines]  # those of one second in any order
    assert {"Roll-up of a plan", "Ledger of every resource"} <= set(recent)
    test.button(key=f"home_run_{recent.index('Roll-up of a plan')}").click().run()
    assert problems(test) == []
    assert test.title[0].value == "Memory"
    assert loaded.hash in test.query_params["ds"]


def test_the_first_findings_are_those_of_the_ledger_and_lead_to_it(app, loaded, house):
    test = app("home")
    assert problems(test) == []
    found = house().workbench.ledger(loaded.hash)
    told = " ".join(str(item.value) for item in test.markdown).replace("\\", "")
    assert ledger_sentence(found) in told
    for words in first_findings(found, 5):
        assert words in told
    test.button(key="home_ledger").click().run()
    assert test.query_params["memory_tab"] in ("Ledger", ["Ledger"])


def test_a_table_without_times_has_no_findings_and_no_error(app, home, tmp_path):
    (tmp_path / "names.csv").write_text("job_name,task_name,duration_s\n" + "a,b,\n" * 60)
    with Workbench(from_environment()) as workbench:
        hashed = workbench.ingest([tmp_path / "names.csv"]).hash
    test = app("home", ds=hashed)
    assert problems(test) == []
    assert "What is requested and not used" not in " ".join(str(item.value) for item in test.header)
