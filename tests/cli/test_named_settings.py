"""Settings given by their name: what `--with` and `--fit` read, and what they refuse."""

import pytest

from workprof.cli.questions import WITH, fit_of, settings_of
from workprof.core.errors import SettingsError
from workprof.memory import questions as memory
from workprof.memory.verdict import VerdictSettings
from workprof.nodes import questions as nodes
from workprof.phases import questions as phases
from workprof.phases.library import LibrarySettings
from workprof.phases.similarity import MatchSettings
from workprof.phases.timeline import TimelineSettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow


def named(question, *texts):
    return settings_of(question, {WITH: texts})


def test_values_are_read_as_their_setting_is():
    texts = ["run=two steps/1", "from_s=3", "library.counters=a, b", "library.match.flat=true", "library.seed=4"]
    library = LibrarySettings(counters=("a", "b"), match=MatchSettings(flat=True), seed=4)
    settings = named(phases.TIMELINE, *texts)
    assert settings == TimelineSettings("two steps/1", 3.0, library=library)
    assert isinstance(settings.from_s, float)
    rolled = named(memory.ROLLUP, "by=run", "verdict.acceptable_kills=0.5%", "verdict.step_bytes=1e9")
    assert rolled.verdict == VerdictSettings(acceptable_kills="0.5%", step_bytes=1e9)
    assert named(phases.TIMELINE) == TimelineSettings()


def test_a_clustering_is_named_by_the_options_of_its_command():
    fit = fit_of(["min-cluster-size=60", "features=cpu_usage_percent, duration_s", "mode=faithful", "epsilon=0.5"])
    assert fit == ProfileSettings(
        min_cluster_size=60, features=("cpu_usage_percent", "duration_s"), mode="faithful", epsilon=0.5
    )
    assert fit_of(["features=sensors10"]) == ProfileSettings(features=("sensors10",))
    assert fit_of(None) is None
    assert fit_of([]) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed", "not NAME=VALUE"),
        ("=3", "there is no setting ''"),
        ("library=3", "there is no setting 'library'"),
        ("library.match.c.more=3", "there is no setting"),
        ("__class__=3", "there is no setting"),
        ("from_s=soon", "give"),
        pytest.param("from_s=" + "[" * 100_000, "give", id="nested without an end"),
        ("from_s=true", "give"),
        ('from_s="3"', "give"),
        ("library.seed=1.5", "give a whole number"),
        ("library.match.flat=maybe", "give true or false"),
        ("library.counters=[1]", "give"),
        ('library.counters=[["a"]]', "give"),
        ('own=[{"counter": "a", "at_s": [true]}]', "own"),
        ("own=[3]", "own"),
        ('own={"$array": "r"}', "own"),
        ("library.seed=-1", "seed is -1"),
        ("library.match.scale=wide", "scale is 'wide'"),
    ],
)
def test_what_no_setting_can_be_is_refused_by_its_name(text, words):
    with pytest.raises(SettingsError, match=words):
        named(phases.TIMELINE, text)


def test_a_table_of_names_takes_numbers_only():
    assert named(nodes.RANK, 'prices_per_h={"a": 1}').prices_per_h == {"a": 1.0}
    for wrong in ('{"a": "x"}', "[1]", "3", '{"a": null}'):
        with pytest.raises(SettingsError, match="prices"):
            named(nodes.RANK, f"prices_per_h={wrong}")


def test_pairs_of_runs_reach_a_fit_and_what_rests_on_it(workprof, sample):
    """Of a command they are `A,B`, repeated; of a text that holds all, `A+B`."""
    fit = workprof("profiles", "fit", "small", "--must", "3,4", "--must", "4,5", "--must-not", "3,9", "--json")
    assert fit.status == 0, fit.err
    assert fit.json["settings"]["must"] == [["3", "4"], ["4", "5"]]
    assert fit.json["pairs"]["n_pairs"] == 3
    assert fit_of(["must=3+4,4+5", "must-not=3+9"]).must == (("3", "4"), ("4", "5"))
    stable = workprof("profiles", "stability", "small", "--resamples", "2", "--must", "3,4", "--json")
    assert stable.json["settings"]["fit"]["must"] == [["3", "4"]]
    refused = workprof("profiles", "membership", "small", "--must", "3,4")
    assert refused.status == 2
    assert "knows no pairs of runs" in refused.err
