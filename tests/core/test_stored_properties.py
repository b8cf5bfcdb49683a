"""What is read back - records, kept results, links, settings - is what was written, or counts as not there."""

import json
import math
import shutil
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from tests.mutations import mutated, mutated_bytes
from workprof.cache import ABOUT, ARRAYS, DOCUMENT, About, ResultCache
from workprof.charts.profiles.jobs import DIGITS, Selection, read_selection
from workprof.core.errors import SettingsError
from workprof.core.records import Packed, canonical_json, pack, unpack
from workprof.core.settings import from_environment
from workprof.memory.scenarios import Scenario

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
KEY = "0123456789abcdef:step:1"


@dataclass(frozen=True)
class Part:
    name: str
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Whole:
    count: int
    ratio: float
    parts: tuple[Part, ...]
    by_name: dict[str, Part]
    maybe: float | None
    flags: NDArray[np.bool_]
    words: NDArray[np.str_]


FLOATS = st.floats(allow_nan=True, allow_infinity=True)
PARTS = st.builds(Part, TEXTS, arrays.arrays(np.float64, st.integers(0, 4), elements=FLOATS))
WHOLES = st.builds(
    Whole,
    st.integers(-(2**63), 2**63),
    FLOATS,
    st.lists(PARTS, max_size=3).map(tuple),
    st.dictionaries(TEXTS, PARTS, max_size=2),
    st.none() | FLOATS,
    arrays.arrays(np.bool_, st.integers(0, 4)),
    arrays.arrays("U4", st.integers(1, 3), elements=st.text(st.characters(exclude_categories=("Cs",)), max_size=4)),
)


def assert_same(one, other):
    np.testing.assert_equal(vars(pack(one)), vars(pack(other)))


@settings(max_examples=60)
@given(WHOLES)
def test_a_record_comes_back(whole):
    packed = pack(whole)
    assert_same(unpack(Whole, Packed(json.loads(json.dumps(packed.document)), packed.arrays)), whole)


@settings(max_examples=40)
@given(WHOLES)
def test_a_kept_result_comes_back_from_the_disk(tmp_path_factory, whole):
    folder = tmp_path_factory.getbasetemp() / "cache"
    ResultCache(folder, memory_bytes=10**6, disk_bytes=10**9).put(
        KEY, whole, About(KEY, "step", "ds", {}, {}, 1.0, "2026")
    )
    assert_same(ResultCache(folder, memory_bytes=10**6, disk_bytes=10**9).get(KEY, Whole), whole)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache on disk with one result, and the bytes of its files."""
    folder = tmp_path_factory.mktemp("kept")
    cache = ResultCache(folder, memory_bytes=10**6, disk_bytes=10**9)
    part = Part("a", np.arange(4.0))
    cache.put(
        KEY,
        Whole(1, 0.5, (part,), {"b": part}, None, np.ones(2, bool), np.array(["x"])),
        About(KEY, "step", "ds", {}, {}, 1.0, "2026"),
    )
    place = next(folder.glob(f"??/*/{ABOUT}")).parent
    return folder, place, {file.name: file.read_bytes() for file in place.iterdir()}


@pytest.mark.slow
@settings(max_examples=200)
@given(st.data())
def test_a_broken_file_of_a_kept_result_counts_as_not_there(kept, data):
    folder, place, files = kept
    name = data.draw(st.sampled_from(sorted(files)))
    broken = data.draw(mutated_bytes(files[name]))
    if name != ARRAYS:
        broken = data.draw(st.sampled_from((broken, data.draw(mutated(files[name].decode())).encode(), b"[" * 5_000)))
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for one, content in files.items():
        (place / one).write_bytes(broken if one == name else content)
    cache = ResultCache(folder, memory_bytes=10**6, disk_bytes=10**9)
    found = cache.get(KEY, Whole)
    assert found is None or name not in (ARRAYS, DOCUMENT) or broken == files[name]
    assert len(cache.abouts()) == len(cache.entries()) <= 1


NUMBERS = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:.{DIGITS}g}"))
IDS = st.lists(st.integers(-1, 2**53 - 1), min_size=1, max_size=4).map(tuple)
SELECTIONS = st.builds(
    Selection,
    st.lists(st.integers(3, 6).flatmap(lambda n: st.tuples(*[NUMBERS] * (2 * n))), max_size=2).map(tuple),
    st.lists(st.tuples(*[NUMBERS] * 4), max_size=2).map(tuple),
    *[st.just(()) | IDS] * 3,
)


@given(SELECTIONS)
def test_a_selection_comes_back_from_its_link(selection):
    assert read_selection(selection.text()) == selection


@pytest.mark.slow
@given(
    st.one_of(
        st.text(max_size=40),
        SELECTIONS.map(Selection.text).flatmap(mutated),
        st.text("lbrph~_0123456789.e-", max_size=40),
    )
)
def test_a_selection_of_any_link_is_whole_or_none(text):
    found = read_selection(text)
    assert found is None or all(
        math.isfinite(number) for outline in (*found.lassos, *found.boxes) for number in outline
    )


@settings(max_examples=40)
@given(
    TEXTS.filter(str.strip),
    TEXTS,
    st.dictionaries(TEXTS, st.one_of(TEXTS, st.booleans(), st.none(), st.integers(), FLOATS), max_size=3),
)
def test_a_scenario_comes_back(name, task, chosen):
    nan = float("nan")
    kept = Scenario(name, "d", "h", task, "p", chosen, nan, nan, nan, nan, nan, 1, -1, nan, "")
    packed = pack(kept)
    np.testing.assert_equal(vars(unpack(Scenario, Packed(json.loads(json.dumps(packed.document)), {}))), vars(kept))
    assert canonical_json(kept) == canonical_json(kept)


VARIABLES = (
    "WORKPROF_MEMORY_LIMIT",
    "WORKPROF_HOME",
    "WORKPROF_DATA",
    "WORKPROF_DASK",
    "WORKPROF_READONLY",
    "XDG_DATA_HOME",
)
VALUES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
    st.sampled_from(("", "~nobody-at-all/x", "~", "1", "512MiB", "1e400", "nan", "-1GiB", "4 GB", "/", ".", "a\x00b")),
)


@given(st.dictionaries(st.sampled_from(VARIABLES), VALUES))
def test_any_environment_gives_settings_or_names_the_variable(environment):
    try:
        found = from_environment(environment)
    except SettingsError as error:
        assert any(name in str(error) for name in VARIABLES)
        return
    assert found.home.is_absolute() and found.data.is_absolute()
    assert found.memory_limit_bytes >= 256 * 2**20
