"""`workprof nodes transfer`: the contract's keys, the published figures, one factor, scores from a file, refusals.

And `workprof nodes search`.
"""

import pytest

from tests.nodes.test_search import SCORES, table, written

HEADER = "Label,Machine,Workflow,NumberSequences,Task,Realtime,%cpu,TaskInputSizeUncompressed"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two machines, one twice as fast, and a file with their scores."""
    folder = tmp_path_factory.mktemp("reports")
    for machine, slow in (("old", 2), ("new", 1)):
        path = folder / machine / "results_flow" / f"execution_report_{machine}.csv"
        path.parent.mkdir(parents=True)
        rows = [
            f"{label},{machine},flow,{size},sort,{size * slow * 10},100,{size}"
            for label in ("train-1", "train-2")
            for size in (100, 200, 300, 800)
        ]
        path.write_text("\n".join((HEADER, *rows)) + "\n")
    (folder / "scores.csv").write_text("machine,cpu,linpack,memory,io\nold,100,,,50\nnew,200,,,50\n")
    return folder


def test_scores_from_a_file_and_what_they_lack(workprof, small):
    asked = ("nodes", "transfer", "--reports", small, "--local", "old", "--targets", "new")
    ran = workprof(*asked, "--scores", small / "scores.csv", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["methods"]["per-task"] == {"median": 0, "p90": 0, "p95": 0, "n": 4}
    assert set(ran.json["left_out"]) == {"lotaru", "lotaru_a", "cpu-memory", "cpu-memory-all"}
    assert "note: lotaru is excluded: machine old has no linpack score" in ran.err
    assert ran.json["interval"]["share"] is None
    text = workprof(*asked, "--scores", small / "scores.csv")
    assert "per-task (ours)" in text.out


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--factor": "magic"}, "--factor is 'magic'; choose from none, lotaru"),
        ({"--local": "moon"}, "has no folder 'moon'; machines there: new, old"),
        ({"--targets": ","}, "at least one target"),
        ({"--scores": "absent.csv"}, "absent.csv is no file"),
        ({"--confidence": "1.5"}, "confidence is 1.5"),
        ({"--scores": None}, "no scores of machine 'old'"),
    ],
)
def test_refusals_are_the_callers(workprof, small, changed, said):
    options = {"--reports": small, "--local": "old", "--targets": "new", "--scores": small / "scores.csv"} | changed
    ran = workprof("nodes", "transfer", *(part for pair in options.items() if pair[1] for part in pair))
    assert ran.status == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.slow
def test_a_search_with_and_without_scores(workprof, tmp_path):
    configurations, scores = written(tmp_path, table()), written(tmp_path, SCORES, "scores.csv")
    asked = ("nodes", "search", configurations, "--seeds", 2, "--trials", 5, "--optimizer", "arrow")
    ran = workprof(*asked, "--node-scores", scores, "--json")
    found = ran.json
    assert (found["optimizer"], found["n_configurations"], set(found["cheapest"])) == ("arrow", 50, {"sort", "train"})
    assert set(found["curves"]) == {"at random", "without scores", "with scores"}
    assert {len(one) for curve in found["curves"].values() for one in curve.values()} == {5}
    assert [one["trials"] for one in found["differences"]] == [1, 2, 3, 4, 5]
    assert {*found["path"][0]} == {"workload", "trial", "configuration", "runtime_s", "cost", "best_cost"}
    alone = workprof(*asked)
    assert "Mean cost / least cost of 2 searches" in alone.out
    assert "with scores" not in alone.out
    refused = workprof("nodes", "search", tmp_path / "none.csv")
    assert refused.status != 0
    assert "none.csv is no file; give a CSV with the columns machine, count, runtime, cost" in refused.err
