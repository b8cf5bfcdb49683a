"""A report holds what the pages show, says what is missing, and lets no text of a trace become code."""

import html
import io
import json
import re
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import plotly.graph_objects as go
import pytest

from tests.pages.conftest import SAMPLE
from tests.store.test_pods import services
from workprof.answers.demand import demand_answer, demand_sentence
from workprof.answers.runs import never_used
from workprof.answers.scenarios import verdict_scenario
from workprof.answers.verdict import sentence
from workprof.charts.memory.verdict import verdict_headlines
from workprof.charts.shapes import Chart, Headline
from workprof.core import answer
from workprof.core.errors import Cancelled, SettingsError
from workprof.core.settings import from_environment
from workprof.core.table import Column
from workprof.core.units import gb_h
from workprof.memory.ledger_settings import LedgerSettings
from workprof.memory.verdict import VerdictSettings
from workprof.memory.what_if import WhatIfSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.report.bundle import manifest, report_bundle
from workprof.report.html import MOST_ROWS, report_html
from workprof.report.parts import Content, Kind, Section, Table, of_answer
from workprof.report.readiness import Readiness, _seconds, readiness, readiness_sentence, rough
from workprof.report.report import Report, kinds_of, make_report
from workprof.report.sections import SECTIONS
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"
DATASET = Dataset(EVIL, "0" * 32, "jobs", "generic", 3, 3, "2026-01-01T00:00:00", "corrected", EVIL)
ROWS = 2000
SOME = SimpleNamespace(name="b", saved_share=1.0, rows=3, note="n")


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    trace = folder / "few.parquet"
    pd.read_parquet(SAMPLE).head(ROWS).to_parquet(trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as opened:
            opened.ingest([trace])
            yield opened


@pytest.fixture(scope="module")
def made(workbench):
    return make_report(workbench, "few", ["data", "memory"], note="For <you>")


def by_hand(frame, text=EVIL):
    chart = Chart(text, go.Figure(go.Bar(x=[text], y=[1.0], name=text)), text, text, frame, text)
    kind = Kind("memory", text, "memory", "jobs", lambda *_: Content({}))
    content = Content({text: {"x": text}}, (Headline(text, text, text, text),), (text,), (chart,), ())
    section = Section(kind, "done", "", 1.0, replace(content, tables=(Table(text, text, frame),)))
    gone = Section(kind, "missing", text, 0.1)
    return Report(DATASET, text, (section, gone), "2026-01-01T00:00:00+00:00", {"workprof": "1"}, 2.0)


def without_plotly(written):
    """Return the file without the library in its head."""
    head, _, rest = written.partition("</style>")
    return head + rest.partition("</head>")[2]


def test_no_text_of_a_trace_becomes_code():
    written = without_plotly(report_html(by_hand(pd.DataFrame({EVIL: [EVIL, "=1+1"]}))))
    assert "<script>alert" not in written
    assert "<img" not in written
    assert "onerror=alert(2)>" not in written
    assert html.escape(EVIL, quote=True) in written


def test_a_file_needs_nothing_from_elsewhere():
    written = without_plotly(report_html(by_hand(pd.DataFrame({"a": [1]}), "plain")))
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?!#)[^"']*""", written) == []
    assert "https://" not in written
    assert '"showSendToCloud": false' in written
    assert "@media print" in written


def test_long_tables_are_cut_on_the_page_and_whole_in_the_bundle():
    report = by_hand(pd.DataFrame({"a": range(MOST_ROWS + 50)}), "plain")
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 50} rows" in report_html(report)
    with zipfile.ZipFile(io.BytesIO(report_bundle(report))) as bundle:
        written = json.loads(bundle.read("manifest.json"))
        assert {entry["rows"] for entry in written["files"]} == {MOST_ROWS + 50}
        assert len({entry["file"] for entry in written["files"]}) == 2
        assert len(pd.read_csv(bundle.open(written["files"][1]["file"]))) == MOST_ROWS + 50


def test_a_table_without_rows_says_so_below_its_title():
    report = by_hand(pd.DataFrame({"a": []}), "plain")
    assert "<h3>plain</h3><p>None.</p>" in report_html(report)
    assert '<th scope="col">' not in without_plotly(report_html(report))


def test_a_table_of_an_answer_is_printed_as_a_page_shows_it_and_saved_whole():
    share = Column("saved_share", "", "Saved", unit="share", help=EVIL)
    columns = (Column("name", "", EVIL), share, Column("rows", "", aside=True), Column("note", "", "Note"))
    rows = [SimpleNamespace(name=EVIL, saved_share=0.314159, rows=12, note=""), SimpleNamespace(**vars(SOME))]
    report = by_hand(pd.DataFrame({"a": [1]}))
    content = replace(report.sections[0].content, tables=(of_answer(answer.Table("t", "Title", columns, rows)),))
    shown = replace(report, sections=(replace(report.sections[0], content=content),))
    written = report_html(shown)
    cells = re.findall(r"<t(?:h scope|d)[^>]*>(.*?)</t[hd]>", written[written.index("<h3>Title</h3>") :])[:6]
    assert [html.unescape(one) for one in cells] == [EVIL, "Saved", "Note", EVIL, "31.4 %", "–"]
    with zipfile.ZipFile(io.BytesIO(report_bundle(shown))) as bundle:
        (name,) = (name for name in bundle.namelist() if name.endswith("/t.csv"))
        assert bundle.read(name).decode().splitlines()[0] == "name,saved_share,rows,note"


def test_formulas_in_the_bundle_are_texts():
    with zipfile.ZipFile(io.BytesIO(report_bundle(by_hand(pd.DataFrame({"a": ["=1+1"]}))))) as bundle:
        names = [name for name in bundle.namelist() if name.endswith(".csv")]
        assert all("\n=1+1" not in bundle.read(name).decode() for name in names)
        assert all(not name.startswith(("/", "..")) and "<" not in name for name in bundle.namelist())


def test_the_same_report_gives_the_same_bundle():
    report = by_hand(pd.DataFrame({"a": [1.5]}))
    assert report_bundle(report) == report_bundle(report)


def test_a_report_has_the_figures_of_the_library(workbench, made):
    assert [section.status for section in made.sections] == ["done", "done"]
    found = workbench.verdict("few")
    memory = made.sections[0].content
    assert memory.settings["verdict"] == found.settings
    assert memory.headlines[:4] == verdict_headlines(found)
    assert len(memory.tables[0].frame) == len(found.memory.rows)
    written = report_html(made)
    assert "For &lt;you&gt;" in written
    assert made.dataset.hash in written


def test_every_section_is_made_or_says_why_not(workbench):
    names = [kind.name for kind in SECTIONS if kind.dataset_kind == "jobs"]
    assert names == ["profiles", "classify", "sweep", "durations", "memory", "ledger", "demand", "scenarios"]
    with pytest.raises(SettingsError, match="section 'x' is none of a dataset of jobs; choose from profiles"):
        make_report(workbench, "few", ["x"])


@pytest.mark.soak
def test_the_demand_is_that_of_the_library_and_profiles_are_of_the_chosen_clustering(workbench):
    chosen = ProfileSettings(min_cluster_size=60, min_samples=40, scaler="standard")
    profiles, demand = make_report(workbench, "few", ["profiles", "demand"], clustering=chosen).sections
    assert profiles.content.settings["profiles"] == workbench.profiles("few", chosen).settings != ProfileSettings()
    assert profiles.content.settings["membership"].fit == chosen
    found = workbench.demand("few")
    assert demand.content.words[0] == demand_sentence(found, found.rows[0])
    assert [item.label for item in demand.content.headlines] == [item.label for item in demand_answer(found).figures]


def test_kept_scenarios_stand_in_the_report(workbench):
    (without,) = make_report(workbench, "few", ["scenarios"]).sections
    assert (without.status, "no scenario of few is saved" in without.reason) == ("missing", True)
    entry = workbench.dataset("few")
    for name, price in (("as it is", 1.0), ("twice <as> dear", 2.0)):
        found = workbench.verdict("few", VerdictSettings(what_if=WhatIfSettings(price_gb_h=price)))
        workbench.save_scenario("few", verdict_scenario(found, entry, name))
    (section,) = make_report(workbench, "few", ["scenarios"]).sections
    compared = section.content.tables[1].frame.set_index("")
    assert set(compared.columns) == {"as it is", "twice <as> dear"}
    assert compared.loc["differs: price_per_gb_h", "twice <as> dear"] == "2"
    assert compared.loc["held"].tolist() == [gb_h(one.charged_gb_h) for one in workbench.scenarios("few")]
    for one in workbench.scenarios("few"):
        workbench.remove_scenario("few", one.name)


def test_a_cancelled_report_stops(workbench):
    def stop(fraction, message):
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        make_report(workbench, "few", ["data"], progress=stop)


def test_the_first_page_of_a_trace_without_memory_answers_for_its_gpus(workbench, tmp_path):
    rows = pd.DataFrame({"task_name": ["a", "b"] * 45, "duration_s": 3600.0, "requested_gpu_percent": 400.0})
    rows.assign(gpu_usage_percent=90.0).to_parquet(tmp_path / "gpus.parquet")
    workbench.ingest([tmp_path / "gpus.parquet"])
    found = make_report(workbench, "gpus", ["data"]).decision
    assert found.summary.startswith("78 % of requested GPUs are never used: 279 of 360 GPU·h.")
    assert found.advice.startswith("2 findings")
    assert [one.label for one in found.headlines] == ["Wasted GPUs", "Not finished"]
    assert len(found.tables[0].frame) == 2 and found.chart is not None and found.risks == ()


def test_missing_columns_are_named_in_the_section(workbench, tmp_path):
    trace = tmp_path / "thin.csv"
    trace.write_text("job_name,duration_s\n" + "".join(f"a{i},{i + 1}\n" for i in range(50)))
    workbench.ingest([trace])
    found = make_report(workbench, "thin", ["data", "memory", "profiles"])
    states = {section.kind.name: section.status for section in found.sections}
    assert states == {"profiles": "missing", "memory": "missing", "data": "done"}
    assert "requested_memory_bytes" in found.sections[1].reason
    assert "no waste can be computed" in found.decision.summary
    assert " is left out: " in report_html(found)


def test_the_first_page_decides_with_the_verdict_of_every_page(workbench, made):
    found = workbench.verdict.cached(made.dataset.hash).result
    first = made.decision
    assert first.advice == sentence(found)
    assert first.headlines == verdict_headlines(found)
    whole = workbench.assessment("few")
    assert first.summary.startswith(never_used("memory", whole.wasted_gb_h, whole.judged_gb_h, "GB·h"))
    assert f"{found.memory.judged.kill_interval.high:,.0f} among as many further runs" in first.risks[0]
    written = report_html(made)
    decided, _, rest = written.partition('<div id="decision"')[2].partition("<nav")
    assert html.escape(sentence(found)) in decided
    assert rest.index('id="memory"') < rest.index('id="data"') < rest.index('id="methods"')
    assert manifest(made)["decision"]["answer"] == first.summary


def test_the_largest_unused_memory_adds_up_and_stands_in_the_bundle(workbench, made):
    ledger = workbench.ledger("few", LedgerSettings(by="task"))
    table = made.decision.tables[0].frame
    assert table["unused_gb_h"].is_monotonic_decreasing
    whole = ledger.totals.of("memory").wasted
    assert table["unused_gb_h"].sum() == pytest.approx(whole, rel=0.02)
    assert table["runs"].sum() == ledger.totals.n_runs == ROWS
    with zipfile.ZipFile(io.BytesIO(report_bundle(made))) as bundle:
        kept = pd.read_csv(bundle.open("decision/decision-waste.csv"))
        assert kept["unused_gb_h"].tolist() == table["unused_gb_h"].tolist()
        assert "decision/memory-verdict.csv" in bundle.namelist()


def test_a_task_that_leaves_nothing_unused_is_not_of_the_largest(workbench, tmp_path):
    lines = [
        f"{name},{state},9e9,1e9,{at},{at + 60}" for at in range(30) for name, state in (("a", "ok"), ("b", "failed"))
    ]
    head = "task_name,status,requested_memory_bytes,peak_memory_bytes,start_time_s,end_time_s"
    (tmp_path / "two.csv").write_text("\n".join([head, *lines]))
    made = make_report(workbench, workbench.ingest([tmp_path / "two.csv"]).hash, ["data"])
    assert made.decision.tables[0].title == "Largest unused memory by task"
    assert made.decision.tables[0].frame["task"].tolist() == ["a"]


def test_every_kind_of_data_has_a_first_page(workbench):
    samples = {name: workbench.ingest([SAMPLE.parent / name]).hash for name in ("benchmarks.jsonl", "telemetry.csv")}
    nodes, phases = (make_report(workbench, hashed, ["data"]).decision for hashed in samples.values())
    ranking = workbench.node_ranking(samples["benchmarks.jsonl"])
    assert nodes.tables[0].frame["node"].tolist() == [one.node for one in ranking.nodes]
    assert nodes.chart is not None
    assert len(nodes.headlines) == 4
    assert phases.summary == "18 runs of 6 workloads."
    assert "not evaluated yet" in phases.advice


def test_the_first_page_counts_services_that_run_on_among_the_figures(workbench, tmp_path):
    (tmp_path / "services.json").write_text(services(phase=True))
    found = make_report(workbench, workbench.ingest([tmp_path / "services.json"]).hash, ["data"]).decision
    assert not [risk for risk in found.risks if "not counted" in risk]


def test_what_is_missing_is_measured_by_what_ran_here(workbench):
    entry = workbench.dataset("few")
    kinds = {kind.name: kind for kind in kinds_of(entry)}
    first, second = readiness(workbench, entry, [kinds["durations"], kinds["data"]])
    assert first.seconds > 0 == second.seconds
    alone = readiness(workbench, entry, [kinds["profiles"]])[0].seconds
    after = readiness(workbench, entry, [kinds["profiles"], kinds["profiles"]])
    assert [one.seconds for one in after] == [alone, 0]
    workbench.hopkins("few", HopkinsSettings())
    assert readiness(workbench, entry, [kinds["profiles"]])[0].seconds < alone


def test_what_a_trace_cannot_have_is_not_waited_for(workbench, tmp_path):
    (tmp_path / "small.csv").write_text(
        "task_name,duration_s,peak_memory_bytes,cpu_usage_percent\n" + "a,9,1e9,50\n" * 30
    )
    entry = workbench.dataset(workbench.ingest([tmp_path / "small.csv"]).hash)
    kinds = [kind for kind in kinds_of(entry) if kind.name in ("profiles", "sweep", "classify", "durations")]
    assert [one.seconds for one in readiness(workbench, entry, kinds)] == [0, 0, 0, 0]
    made = make_report(workbench, entry.hash, [kind.name for kind in kinds])
    assert [one.kind.name for one in made.sections if not one.reason] == ["durations"]
    (durations,) = (one.content for one in made.sections if not one.reason)
    assert [table.title for table in durations.tables] == ["Quantiles by task"]
    assert durations.charts[0].takeaway.startswith("80 % of runs finish within 9 s")
    assert durations.words[0].startswith("Not by profile: 30 rows cannot hold two profiles")


def test_a_few_runs_tell_nothing_of_how_long_many_take():
    """Ten seconds for 22 runs are not ten thousand for 22,000: what starts a computation takes most of them."""
    declared = SimpleNamespace(question=SimpleNamespace(name="profiles.fit"))
    few, many = "a" * 32, "b" * 32
    abouts = [SimpleNamespace(step="profiles.fit", seconds=10.0, key=f"{few}:x")]
    dataset = SimpleNamespace(finished_rows=22_000)
    need = (SimpleNamespace(declared=declared), None)
    guess = _seconds(need, dataset, [], {})
    assert _seconds(need, dataset, abouts, {few: 22}) == guess < 60
    abouts.append(SimpleNamespace(step="profiles.fit", seconds=30.0, key=f"{many}:x"))
    assert _seconds(need, dataset, abouts, {few: 22, many: 15_000}) == pytest.approx(46.0)


def test_readiness_is_told_in_one_sentence():
    durations, memory = (
        Kind(name, name.title(), name, "jobs", lambda *_: Content({})) for name in ("durations", "memory")
    )
    missing, there = Readiness(durations, 361.0), Readiness(memory, 0.0)
    assert readiness_sentence([missing, there]) == ("Still to compute: Durations, about 6 min.")
    assert readiness_sentence([missing]) == "Still to compute: Durations, about 6 min."
    assert readiness_sentence([there]) == "All results are ready; the file takes a few seconds."
    assert [rough(seconds) for seconds in (1, 22, 90, 5400)] == ["5 s", "20 s", "2 min", "1.5 h"]
