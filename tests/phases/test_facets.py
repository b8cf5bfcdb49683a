"""Inputs and machines of workloads: planted ones are told on machines that were held back, made-up ones are not."""

import numpy as np
import pandas as pd
import pytest

from workprof.answers.partial import early_answer
from workprof.core.errors import NotEnoughData
from workprof.core.records import pack, unpack
from workprof.phases.early import Early, EarlySettings, early
from workprof.phases.facets import INPUT, MACHINE, facet_figures, facets_of, without_facets
from workprof.phases.library import LibrarySettings
from workprof.phases.partial import CourseSettings, course
from workprof.phases.runs import runs_of

N_RUNS, N_SAMPLES = 2, 20
COUNTERS = ("cpu.user%", "mem.AnonPages_mb", "disk.reads/s", "sys.ctxt/s", "net.lo.rx_kb/s")
LEVELS = {"sorts": (60, 300, 20, 500, 5), "serves": (30, 800, 5, 4000, 90), "packs": (90, 150, 60, 200, 1)}


def planted(inputs=("small", "large"), machines=("m1", "m2", "m3"), seed=0):
    """Samples of every workload, input and machine: the input moves memory and reads, the machine CPU and switches."""
    rng = np.random.default_rng(seed)
    parts = []
    for workload, levels in LEVELS.items():
        for place, name in enumerate(inputs):
            for at, machine in enumerate(machines):
                for run in range(N_RUNS):
                    size, speed = 1 + 0.5 * place, 1 + 0.3 * at
                    scale = np.array([1 / speed, size, size, speed, 1.0])
                    values = np.array(levels) * scale * rng.normal(1, 0.05, (N_SAMPLES, len(levels)))
                    made = pd.DataFrame(values, columns=list(COUNTERS))
                    label = "@".join(filter(None, (workload, name, machine)))
                    parts.append(made.assign(workload=label, run=str(run), t=np.arange(1.0, N_SAMPLES + 1)))
    return pd.concat(parts, ignore_index=True)


def figures(samples, times=(5.0, 20.0)):
    def folds(labels):
        return np.array([np.sum(labels[:at] == label) for at, label in enumerate(labels)]) % 4

    found = facet_figures(runs_of(samples, COUNTERS), np.array(times), LibrarySettings(), folds)
    return {one.facet: one for one in found}


def test_an_input_is_told_on_a_machine_that_was_held_back_and_a_machine_on_runs_that_were():
    found = figures(planted())
    assert (found[INPUT].held_back, found[MACHINE].held_back) == ("machine", "run")
    assert found[INPUT].n_runs == found[MACHINE].n_runs == 36
    for one, usual in ((found[INPUT], 1 / 2), (found[MACHINE], 1 / 3)):
        assert one.right[-1] >= 0.9 and one.usual == pytest.approx(usual)
        assert one.interval.low > usual
        assert one.right[0] <= one.right[-1] + 1e-9 and one.n_left_out == 0


@pytest.mark.slow
def test_names_that_tell_nothing_are_told_no_better_than_by_chance():
    right = []
    for seed in range(4):
        samples, rng = planted(seed=seed), np.random.default_rng(seed)
        names = samples["workload"] + "/" + samples["run"]
        made_up = {name: str(rng.choice(["small", "large"])) for name in names.unique()}
        parts = samples["workload"].str.split("@")
        found = figures(
            samples.assign(workload=parts.str[0] + "@" + names.map(made_up) + "@" + parts.str[2], run=names)
        )
        right.append(found[INPUT].right[-1])
        assert found[MACHINE].right[-1] >= 0.9
    assert np.mean(right) < 0.6


def test_what_was_not_learned_is_not_asked():
    assert figures(planted(inputs=("one",), machines=("m1",))) == {}
    by_run = figures(planted(machines=("",)))
    assert by_run[INPUT].held_back == "run" and MACHINE not in by_run
    samples = planted()
    rare = samples["workload"].str.startswith("packs@large") & ~samples["workload"].str.endswith("m1")
    found = figures(samples[~rare])
    assert found[INPUT].n_left_out > 0
    assert found[INPUT].n_runs + found[INPUT].n_left_out == 32


@pytest.mark.soak
@pytest.mark.slow
def test_early_recognises_the_workload_alone_and_tells_the_facets_beside_it():
    found = early({"samples": planted()}, EarlySettings(every=10, excluded=False))
    assert found.n_workloads == 3 and found.n_runs == 36
    assert found.points[-1].right == 1.0
    assert [one.facet for one in found.facets] == [INPUT, MACHINE]
    told = early_answer(found)
    assert [table.name for table in told.tables] == ["times", "sources", "facets"]
    back = unpack(Early, pack(found))
    assert back.facets[0].right.tolist() == found.facets[0].right.tolist()
    plain = pd.concat([planted(inputs=("",), machines=("",)), planted(("",), ("",), 1).assign(run="more")])
    assert early({"samples": plain}, EarlySettings(every=20, excluded=False)).facets == ()


def test_names_are_read_from_the_left():
    assert facets_of("a@b@c@d") == {"workload": "a", INPUT: "b", MACHINE: "c@d"}
    assert facets_of("a") == {"workload": "a", INPUT: "", MACHINE: ""}
    runs = without_facets(runs_of(planted(machines=("m",)), COUNTERS))
    assert len({run.name for run in runs.runs}) == len(runs.runs)
    assert {run.workload for run in runs.runs} == set(LEVELS)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda samples: samples.assign(**dict.fromkeys(COUNTERS, 1.0)), "no counter changes"),
        (
            lambda samples: samples.assign(**{name: samples[name].where(samples.run != "0") for name in COUNTERS}),
            "no value",
        ),
    ],
)
def test_recordings_that_tell_nothing_are_refused_in_words(spoil, said):
    samples = spoil(planted(machines=("m1",)))
    with pytest.raises(NotEnoughData, match=said):
        course({"samples": samples, "train": samples}, CourseSettings("sorts@small@m1/0"))


def test_a_counter_that_a_run_lacks_tells_nothing_of_its_input():
    samples = planted()
    held = samples["workload"].str.endswith("m3")
    samples.loc[held, ["mem.AnonPages_mb", "net.lo.rx_kb/s"]] = np.nan
    assert figures(samples)[INPUT].right[-1] >= 0.9
