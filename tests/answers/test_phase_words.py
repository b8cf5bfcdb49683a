"""Phases in words: a planted run reads, then rests; its sentence says so, its picture has no empty cell."""

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_phases as given
from workprof.answers.phase_words import characterising, characters_sentence, spans
from workprof.answers.phases import timeline_sentence
from workprof.charts.phases.fingerprints import characters_chart
from workprof.core.progress import silent
from workprof.phases.timeline import TimelineSettings, one_run

SECONDS, RESTS_AT = 22, 10


def run(name, reads):
    """A run of 22 s that reads for 10 s and then rests; one that never reads computes."""
    random = np.random.default_rng(len(name))
    busy = np.where(np.arange(SECONDS) < RESTS_AT, 1.0, 0.0) * reads
    computes = 0.0 if reads else 1.0
    return pd.DataFrame(
        {
            "workload": name,
            "run": "1",
            "t": np.arange(1, SECONDS + 1, dtype=float),
            "status": "complete",
            "disk.read_kb/s": 5e4 * busy + random.normal(50, 5, SECONDS),
            "disk.reads/s": 800 * busy + random.normal(9, 1, SECONDS),
            "cpu.user%": 5.0 + 50 * computes + random.normal(0, 1, SECONDS),
            "cpu.idle%": 90.0 - 60 * busy - 50 * computes + random.normal(0, 1, SECONDS),
        }
    )


@pytest.fixture(scope="module")
def planted():
    samples = pd.concat([run("scan", 1.0), run("matrix", 0.0), run("train", 0.0)], ignore_index=True)
    return one_run({"samples": samples}, TimelineSettings("scan/1"), silent)


def test_a_run_that_reads_and_then_rests_is_said_so(planted):
    assert timeline_sentence(planted) == "scan/1 has two phases: 0-10 s reading heavily, 10-22 s idle."
    assert characters_sentence(spans(planted)) == "Phase 1 is reading heavily; phase 2 is idle."


def test_levels_of_a_phase_are_the_means_of_its_samples(planted):
    place = planted.counters.index("disk.reads/s")
    mean = planted.statistic("mean")[place]
    first, second = spans(planted)
    assert (first.start_s, first.end_s, second.end_s) == (0, RESTS_AT, SECONDS)
    assert (first.levels[place], second.levels[place]) == pytest.approx((mean[0], mean[1]))


def test_the_picture_has_the_counters_that_tell_phases_apart_and_no_empty_cell(planted):
    chart = characters_chart(planted)
    (cells,) = chart.figure.data
    assert np.isfinite(np.asarray(cells.z, float)).all()
    assert set(characterising(planted, spans(planted))) >= {"disk.reads/s", "disk.read_kb/s"}
    assert len(cells.x) == 2
    assert list(chart.data.columns) == ["counter", "phase", "from_s", "to_s", "is", "mean"]


def test_counters_of_no_known_activity_are_named():
    found = given.timeline()
    words = timeline_sentence(found)
    assert words.startswith("two steps/1 has three phases: 0-8 s near average, 8-16 s marked by high app.")
    assert characters_sentence(spans(found)).startswith("Phase 1 is near average; phase 2 is marked by high app.")


def test_phases_that_are_alike_are_told_together():
    first, second = spans(given.timeline("one step/1"))
    assert characters_sentence((first, first, second)).startswith("Phases 1 and 2 are marked by low ")
