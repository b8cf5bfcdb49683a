"""Results in memory: bounded, the ones used last, those that are nowhere else let go last; and through a pipe whole."""

import json
from dataclasses import dataclass

import numpy as np
from hypothesis import given, strategies as some
from numpy.typing import NDArray

from workprof.cache import About
from workprof.core.records import unpack
from workprof.store.entries import InMemory, ResultsInMemory, as_line, from_line


@dataclass(frozen=True)
class Result:
    name: str
    values: NDArray[np.float64]
    share: float


def about(key):
    return About(key, "step", "dataset", {"a": [1]}, {"step": "1"}, 0.1, "2026-01-01T00:00:00+00:00")


@given(some.lists(some.tuples(some.integers(0, 9), some.integers(1, 40), some.booleans()), max_size=30))
def test_the_bound_holds_and_what_is_nowhere_else_goes_last(asked):
    kept = ResultsInMemory(100)
    for number, size, unsaved in asked:
        before = kept.unsaved()
        kept.remember(str(number), InMemory(number, size, about("x") if unsaved else None))
        assert kept.size_bytes <= 100
        assert kept.get(str(number)).record == number
        gone = before.keys() - kept.unsaved().keys() - {str(number)}
        left = [key for key in map(str, range(10)) if key != str(number) and kept.get(key)]
        assert not gone or all(key in kept.unsaved() for key in left)
        kept.get(str(number))


def test_one_that_is_larger_than_all_stays_alone():
    kept = ResultsInMemory(100)
    kept.remember("a", InMemory(1, 10))
    kept.remember("b", InMemory(2, 1000))
    assert (kept.get("a"), kept.get("b").record) == (None, 2)
    kept.forget_beginning("b")
    assert kept.get("b") is None


@given(some.lists(some.floats(width=64), max_size=5), some.text(max_size=5), some.floats())
def test_a_result_comes_through_a_pipe_as_it_went_in(values, name, share):
    went = Result(name, np.array(values, dtype=np.float64), share)
    line = json.dumps(as_line(went, about("k")))
    assert "\n" not in line
    came = from_line(json.loads(line))
    found = unpack(Result, came.packed)
    assert came.about == about("k")
    assert (found.name, repr(found.share)) == (went.name, repr(went.share))
    assert found.values.tobytes() == went.values.tobytes()
    assert not found.values.flags.writeable


def test_a_result_that_is_too_large_for_a_pipe_is_not_sent():
    assert as_line(Result("", np.zeros(2), 0.0), about("k"), most_bytes=8) is None
    assert as_line(Result("", np.zeros(1), 0.0), about("k"), most_bytes=8) is not None
