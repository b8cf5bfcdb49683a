"""Settings told by their name: what `--with` and `--fit` read, what they refuse, and that writing and reading agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as any_of

from workprof.cli.further_settings import clustering, further
from workprof.errors import SettingsError
from workprof.memory.plan import PlanSettings, ViolationSettings
from workprof.nodes.selection import RankSettings
from workprof.phases.library import LibraryEdits, LibrarySettings, RunLabel
from workprof.phases.matching import KnownMatchSettings
from workprof.phases.similarity import MatchSettings
from workprof.phases.timeline import OwnBoundaries, TimelineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench.run_setting_paths import differences, with_settings

PLAIN = KnownMatchSettings("a/1")
TEXTS = any_of.text(any_of.characters(exclude_categories=["Cs"]), max_size=12)
LABELS = any_of.builds(RunLabel, TEXTS, TEXTS, TEXTS)
LIBRARIES = any_of.builds(
    LibrarySettings,
    counters=any_of.lists(TEXTS, max_size=3).map(tuple),
    match=any_of.builds(
        MatchSettings,
        scale=any_of.sampled_from(["standard", "none"]),
        c=any_of.none() | any_of.floats(0, 100),
        flat=any_of.booleans(),
    ),
    seed=any_of.integers(0, 2**32 - 1),
)
MATCHES = any_of.builds(
    KnownMatchSettings,
    TEXTS,
    any_of.builds(LibraryEdits, any_of.lists(LABELS, max_size=3).map(tuple)),
    TEXTS,
    LIBRARIES,
)


@given(MATCHES, MATCHES)
def test_what_differs_makes_one_record_of_the_other(before, after):
    assert with_settings(before, differences(before, after)) == after


def test_values_are_read_as_their_setting_is():
    found = further(
        TimelineSettings(),
        ["run=two steps/1", "from_s=3", "library.counters=a, b", "library.match.flat=true", "library.seed=4"],
    )
    library = LibrarySettings(counters=("a", "b"), match=MatchSettings(flat=True), seed=4)
    assert found == TimelineSettings("two steps/1", 3.0, library=library)
    assert isinstance(found.from_s, float)
    own = further(TimelineSettings(), ['own=[{"counter": "", "at_s": [9, 12.5]}]'])
    assert own.own == (OwnBoundaries("", (9.0, 12.5)),)
    sizes = further(ViolationSettings(), ['plan.sizes_bytes={"a=b": 1e9}', "plan.percentile=0.5"])
    assert sizes.plan == PlanSettings(sizes_bytes={"a=b": 1e9}, percentile=0.5)
    assert further(PLAIN, ["train_hash=12"]).train_hash == "12"
    assert further(PLAIN, None) is PLAIN


def test_a_clustering_is_named_by_the_options_of_its_command():
    found = clustering(["min-cluster-size=60", "features=sensors10, duration_s", "mode=faithful", "epsilon=0.5"])
    assert found == ProfileSettings(
        min_cluster_size=60, features=("sensors10", "duration_s"), mode="faithful", epsilon=0.5
    )
    assert clustering(None) is None
    assert clustering([]) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed", "not NAME=VALUE"),
        ("=3", "there is no setting ''"),
        ("library=3", "there is no setting 'library'"),
        ("library.match.c.more=3", "there is no setting"),
        ("__class__=3", "there is no setting"),
        ("from_s=soon", "give a number"),
        pytest.param("from_s=" + "[" * 100_000, "give a number", id="nested without an end"),
        ("from_s=true", "another kind"),
        ('from_s="3"', "from_s is '3'; give a number"),
        ("library.seed=1.5", "seed is 1.5; give a whole number"),
        ("library.match.flat=1", "flat is 1; give true or false"),
        ("library.counters=[1]", r"counters is \(1,\); give a text"),
        ('own=[{"counter": "a", "at_s": [true]}]', "another kind"),
        ('library.counters=[["a"]]', r"counters is \(\['a'\],\); give a text"),
        ("own=[3]", "another kind"),
        ('own=["ab"]', "another kind"),
        ('own=[{"counter": "a"}]', "another kind"),
        ('own=[{"counter": "a", "at_s": [1], "more": 2}]', "another kind"),
        ('own=[{"counter": "a", "at_s": ["1"]}]', "another kind"),
        ('own={"$array": "r"}', "another kind"),
        ("library.seed=-1", "seed is -1"),
        ("library.match.scale=wide", "scale is 'wide'"),
    ],
)
def test_what_no_setting_can_be_is_refused_by_its_name(text, words):
    with pytest.raises(SettingsError, match=words):
        further(TimelineSettings(), [text])


def test_a_table_of_names_takes_numbers_only():
    assert further(RankSettings(), ['prices_per_h={"a": 1}']).prices_per_h == {"a": 1.0}
    for wrong in ('{"a": "1"}', "[1]", "3", '{"a": null}'):
        with pytest.raises(SettingsError, match="prices_per_h"):
            further(RankSettings(), [f"prices_per_h={wrong}"])
