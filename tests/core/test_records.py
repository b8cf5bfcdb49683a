"""Records survive packing, and nothing unsafe does."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from workprof.core.records import Packed, canonical_json, pack, to_json, unpack


@dataclass(frozen=True)
class Inner:
    name: str
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Outer:
    count: int
    ratio: float
    inners: tuple[Inner, ...]
    by_name: dict[str, Inner]
    pair: tuple[str, int] = ("a", 1)
    maybe: float | None = None
    flags: dict[str, int] = field(default_factory=dict)


def outer(**changes):
    base = {
        "count": 3,
        "ratio": float("nan"),
        "inners": (Inner("x", np.array([1.0, np.nan])),),
        "by_name": {"y": Inner("y", np.zeros((2, 2)))},
    }
    return Outer(**(base | changes))


def test_a_record_comes_back_as_it_was():
    back = unpack(Outer, pack(outer(maybe=2.5, flags={"a": 1})))
    assert back.count == 3
    assert np.isnan(back.ratio)
    assert back.maybe == 2.5
    assert back.pair == ("a", 1)
    assert back.flags == {"a": 1}
    np.testing.assert_array_equal(back.inners[0].values, [1.0, np.nan])
    assert back.by_name["y"].values.shape == (2, 2)


def test_object_arrays_and_unknown_values_are_refused():
    with pytest.raises(TypeError, match="no safe stored form"):
        pack(Inner("x", np.array([object()])))
    with pytest.raises(TypeError, match="no safe stored form"):
        pack(outer(count={1, 2}))


def test_a_document_cannot_choose_the_class():
    packed = pack(Inner("x", np.ones(1)))
    packed.document["__class__"] = "os.system"
    assert unpack(Inner, Packed(packed.document, packed.arrays)).name == "x"


def test_canonical_json_is_one_text_per_value():
    @dataclass(frozen=True)
    class Asked:
        names: tuple[str, ...]
        k: int

    assert canonical_json(Asked(("a",), 1)) == canonical_json(Asked(("a",), 1))
    assert canonical_json(Asked(("a",), 1)) != canonical_json(Asked(("a", "b"), 1))
    assert canonical_json(Asked(("a", "b"), 1)) != canonical_json(Asked(("a,b",), 1))


def test_json_for_people_has_no_nan():
    assert to_json(outer())["ratio"] is None
    assert to_json({"a": np.array([1.0, np.inf]), "b": np.int64(3)}) == {"a": [1.0, None], "b": 3}
