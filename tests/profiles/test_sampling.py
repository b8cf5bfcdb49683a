import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workprof.errors import SettingsError
from workprof.profiles.features import draw_per_group, draw_rows, stratified_sizes

PUBLISHED = {  # workload: (rows after the cross join, rows in the paper's sample), polarisprofiler.md 1a
    "bert": (10_940_142, 29_818),
    "ctr": (9_128_957, 24_881),
    "graphlearn": (4_888_371, 13_323),
    "inception": (10_781_289, 29_385),
    "nmt": (13_537, 37),
    "resnet": (60_863, 166),
    "rl": (849_626, 2_316),
    "vgg": (11_768, 32),
    "xlnet": (15_632, 43),
}


def test_the_papers_table():
    sizes = stratified_sizes({name: rows for name, (rows, _) in PUBLISHED.items()}, 100_000)
    assert sizes == {name: drawn for name, (_, drawn) in PUBLISHED.items()}
    assert sum(sizes.values()) == 100_001


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 10_000), max_size=8), st.integers(0, 20_000))
def test_never_more_than_there_are(strata, size):
    sizes = stratified_sizes(strata, size)
    assert all(0 <= sizes[name] <= rows for name, rows in strata.items())


def test_negative_size_is_refused():
    with pytest.raises(SettingsError, match="-1"):
        stratified_sizes({"a": 1}, -1)


def test_draws_repeat_and_are_sorted():
    rows = draw_rows(1000, 100, seed=7)
    assert np.array_equal(rows, draw_rows(1000, 100, seed=7))
    assert np.all(np.diff(rows) > 0)
    assert len(draw_rows(10, 100, seed=7)) == 10


def test_each_group_is_drawn_in_proportion_but_never_left_out():
    codes = np.repeat([0, 1, 2], [900, 98, 2])
    drawn = np.bincount(codes[draw_per_group(codes, 100, seed=0)])
    assert drawn.tolist() == [90, 10, 2]
