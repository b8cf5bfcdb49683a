"""Groups of nodes: planted ones come back whatever the scale, noise makes none, published defects stay and are told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.nodes.planted_nodes import development_runs, runs_of
from tests.shared_data import needs_shared_data
from workprof.answers.node_groups import groups_answer, groups_sentence
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.progress import silent
from workprof.core.records import pack, to_json, unpack
from workprof.nodes.groups import (
    WEAK_SILHOUETTE,
    Groups,
    GroupSettings,
    adjusted_rand,
    best_grouping,
    by_size,
    group_nodes,
    level_label,
    nodes_differ,
)
from workprof.nodes.selection import RankSettings

pytestmark = pytest.mark.slow

KINDS = {"n1": (1.0, 1.0), "n2": (1.6, 1.2), "c2": (2.2, 2.5)}
FEW = RankSettings(n_draws=200)


def machines(each=4, spread=0.01, scale=1.0, seed=0):
    """Return node -> speeds of three kinds, with names that tell the kind."""
    draw = np.random.default_rng(seed)
    return {
        f"{kind}-{number}": {
            "cpu": cpu * scale * draw.lognormal(0, spread),
            "memory": memory * draw.lognormal(0, spread),
        }
        for kind, (cpu, memory) in KINDS.items()
        for number in range(each)
    }


def grouped(speeds, mode="corrected", frame=None, **settings):
    table = runs_of(speeds, n_runs=4) if frame is None else frame
    return group_nodes({"runs": table}, GroupSettings(ranking=FEW, mode=mode, **settings), silent)


def kinds(found):
    return {frozenset(one.nodes) for one in found.groups}


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e-3])
def test_planted_groups_come_back_after_rescaling_a_feature(scale):
    speeds = machines(scale=scale)
    reference = {node: node.partition("-")[0] for node in speeds}
    found = grouped(speeds, reference=reference, n_resamples=10)
    assert found.k == 3
    assert found.reference_rand == 1.0
    assert found.stability == 1.0
    assert found.silhouette == max(found.silhouettes.values())
    assert set(found.silhouettes) == {str(k) for k in range(2, 11)}
    assert found.aspects == ("cpu", "memory")


def test_labels_come_from_the_nodes_and_name_low_and_high():
    found = {one.nodes[0].partition("-")[0]: one.labels for one in grouped(machines(), n_resamples=0).groups}
    assert found["n1"] == {"cpu": "low", "memory": "low"}
    assert found["n2"] == {"cpu": "mid", "memory": "mid"}
    assert found["c2"] == {"cpu": "high", "memory": "high"}


def test_every_node_is_in_one_group_or_told():
    speeds = machines(each=3)
    del speeds["n1-0"]["memory"]
    found = grouped(speeds, n_resamples=0)
    assert found.not_grouped == {"n1-0": "no usable run of memory"}
    assert sorted(node for one in found.groups for node in one.nodes) == sorted(set(speeds) - {"n1-0"})


def test_nodes_that_do_not_differ_are_one_group_and_it_is_said():
    found = [
        grouped(None, frame=runs_of(dict.fromkeys("abcdef", 1.0), n_runs=6, noise=0.05, seed=seed), n_resamples=0)
        for seed in range(20)
    ]
    whole = [one for one in found if one.k == 1]
    assert len(whole) >= 17
    assert all(np.isnan(one.silhouette) and one.notes for one in whole)
    assert set(whole[0].groups[0].nodes) == set("abcdef")


def test_an_aspect_in_which_nodes_do_not_differ_is_not_looked_at():
    speeds = {node: own | {"disk": 1.0} for node, own in machines().items()}
    found = grouped(speeds, n_resamples=0)
    assert (found.k, found.aspects) == (3, ("cpu", "memory"))
    assert all(one.labels["disk"] == "alike" for one in found.groups)
    assert any("disk" in note for note in found.notes)


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_nodes_are_one_group(n):
    found = grouped({f"node{i}": 1.0 + i for i in range(n)})
    assert (found.k, len(found.groups)) == (1, 1)
    assert "too few to group" in found.notes[0]
    told = groups_sentence(found)
    assert told == ("node0 is the only node." if n == 1 else "All 2 nodes form one group: too few to part them.")


def test_the_only_node_that_can_be_grouped_is_not_called_the_only_one():
    found = grouped({"a": 1.0, "b": {"cpu": 2.0}, "c": {"cpu": 3.0}})
    assert groups_sentence(found) == "a is the only node that can be grouped. Not grouped: b, c."


def test_no_grouping_stands_out_of_an_even_ladder_of_noise():
    draw = np.random.default_rng(0)
    found = best_grouping(draw.normal(size=(12, 8)), WEAK_SILHOUETTE, seed=0)
    assert found.k == 1
    assert len(found.silhouettes) == 9


def test_ties_go_to_the_smaller_k():
    square = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    found = best_grouping(square, -1.0, seed=0)
    best = max(found.silhouettes.values())
    assert found.k == min(int(k) for k, value in found.silhouettes.items() if value == pytest.approx(best))


def test_groups_are_numbered_by_size_then_by_their_first_node():
    assert by_size(np.array([2, 0, 0, 1])).tolist() == [1, 0, 0, 2]
    assert adjusted_rand(np.array([0, 0, 1]), np.array([5, 5, 2])) == 1.0


def test_nodes_differ_when_their_scores_spread_more_than_their_draws():
    draw = np.random.default_rng(1)
    noise = draw.normal(0, 0.1, size=(500, 6))
    assert not nodes_differ(noise[0], noise, 20)
    assert nodes_differ(np.linspace(0, 2, 6), noise, 20)
    assert not nodes_differ(np.zeros(6), noise, 20)
    assert nodes_differ(np.array([0.0, 1.0]), np.full((500, 2), np.nan), 2)


def test_labels_by_quartiles():
    values = np.array([1.0, 2, 3, 4, 5])
    assert [level_label(value, values) for value in (1.0, 2, 3, 4, 9)] == ["low", "low", "mid", "high", "high"]
    assert level_label(1.0, np.ones(4)) == "alike"


def test_the_published_grouping_keeps_its_defects_and_says_so():
    found = grouped(machines(each=4), mode="faithful")
    assert found.published
    assert found.k == 3
    assert any("always 3 groups" in note for note in found.notes)
    assert {value for one in found.groups for value in one.labels.values()} <= {"0", "1", "2"}
    assert list(found.groups[0].labels) == ["CPU_MT", "RAM"]
    assert grouped(machines(each=1) | {"n1-9": {"cpu": 1.01, "memory": 1.0}}, mode="faithful").k == 3
    assert grouped({"a": 1.0, "b": 2.0}, mode="faithful").groups == ()
    with pytest.raises(NotEnoughData, match="fails at exactly 3"):
        grouped(machines(each=1), mode="faithful")


def test_the_published_grouping_follows_the_largest_number():
    speeds = {f"m{i}": {"cpu": 1 + 0.001 * (i % 2), "memory": 1.0 + i // 2} for i in range(6)}
    raw = grouped({node: own | {"cpu": own["cpu"] * 1e4} for node, own in speeds.items()}, mode="faithful")
    assert kinds(raw) != {frozenset({"m0", "m1"}), frozenset({"m2", "m3"}), frozenset({"m4", "m5"})}


@needs_shared_data
def test_the_development_runs_are_grouped_by_their_processors():
    found = group_nodes({"runs": development_runs()}, GroupSettings(n_resamples=10), silent)
    assert sorted(node for one in found.groups for node in one.nodes) == ["full-2c", "mid-1c", "small-half"]
    assert "cpu" in found.aspects
    assert "disk" not in found.aspects


def test_runs_that_a_detection_flagged_do_not_count():
    table = runs_of(machines(), n_runs=4)
    node = table["node"].iloc[0]
    frames = {"runs": table, "flagged": table.loc[table["node"] == node, ["row_id"]]}
    settings = GroupSettings(replace(FEW, exclude="flagged"), n_resamples=0)
    found = group_nodes(frames, settings, silent)
    assert set(found.not_grouped) == {node}
    assert node not in {name for one in found.groups for name in one.nodes}


def test_a_reference_must_name_every_node():
    with pytest.raises(SettingsError, match="says nothing of node"):
        grouped(machines(), reference={"n1-0": "x"})


def test_groups_can_be_kept():
    found = grouped(machines(), n_resamples=5)
    assert to_json(unpack(Groups, pack(found))) == to_json(found)


def test_a_node_of_few_runs_does_not_make_noise_a_difference():
    many = [runs_of(dict.fromkeys("abc", 1.0), n_runs=6, noise=0.02, seed=seed) for seed in range(10)]
    few = [runs_of({"d": 1.0}, n_runs=2, noise=0.02, seed=seed) for seed in range(10, 20)]
    both = [pd.concat(pair, ignore_index=True) for pair in zip(many, few, strict=True)]
    found = [grouped(None, frame=one.assign(row_id=range(len(one))), n_resamples=0) for one in both]
    assert sum(one.k == 1 for one in found) >= 8


def test_nodes_that_are_not_grouped_are_named_whatever_the_number_of_groups():
    speeds = machines() | {"odd": {"cpu": 1.0}}
    found = grouped(speeds, n_resamples=0)
    assert found.k == 3
    assert groups_sentence(found).endswith(" Not grouped: odd.")
    assert "odd is not grouped: no usable run of memory" in groups_answer(found).notes


def test_a_draw_without_a_value_does_not_make_noise_a_difference():
    draw = np.random.default_rng(1)
    noise = draw.normal(0, 0.1, size=(500, 6))
    noise[0, 0] = np.nan
    assert not nodes_differ(noise[1], noise, 20)


def test_groups_between_which_noise_decides_are_above_as_many_others():
    speeds = {"fast": (2.0, 1.0), "disky": (1.0, 2.0), "p": (1.0, 1.0), "q": (1.0, 1.0)}
    frame = runs_of({node: {"cpu": cpu, "disk": disk} for node, (cpu, disk) in speeds.items()}, n_runs=6)
    found = grouped(None, frame=frame, n_resamples=0)
    above = {one.nodes: one.above for one in found.groups}
    assert above == {
        ("p", "q"): {"cpu": 0, "disk": 0},
        ("fast",): {"cpu": 2, "disk": 0},
        ("disky",): {"cpu": 0, "disk": 2},
    }
