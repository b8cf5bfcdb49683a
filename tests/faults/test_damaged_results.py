"""Damaged results in the cache: they are made again and replaced, never half believed, never unpickled."""

import base64
import copy
import io
import json
import pickle
import random
import resource
import shutil
import tracemalloc
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.faults.soundness import until
from workprof.cache import About, ResultCache
from workprof.core.records import digest
from workprof.store.entries import ABOUT, ARRAYS, CHECK, CHECKED, DOCUMENT, UNREADABLE, _digest, as_line, from_line

pytestmark = pytest.mark.slow

KEY = "aaaa:settings:test.result:1"
FLIPS = 150
SEED = 8


@dataclass(frozen=True)
class Result:
    name: str
    number: float
    values: NDArray[np.float64]
    words: tuple[str, ...]


RESULT = Result("damage", 1234.5, np.arange(2000.0) ** 2, ("one", "two"))


def about(key=KEY):
    return About(key, "test.result", "dataset", {"a": 1}, {"step": "1"}, 0.1, "2026-01-01T00:00:00+00:00")


def opened(folder):
    return ResultCache(folder, memory_bytes=10**7, disk_bytes=10**8)


@pytest.fixture
def place(tmp_path):
    """The folder of a kept result."""
    opened(tmp_path / "cache").put(KEY, RESULT, about())
    name = digest(KEY)
    return tmp_path / "cache" / name[:2] / name


def equal(one, other):
    return (one.name, one.number, one.words) == (other.name, other.number, other.words) and np.array_equal(
        one.values, other.values
    )


def check_made_again(place):
    """The damaged entry is not believed, and the next result takes its place."""
    cache = opened(place.parent.parent)
    assert cache.get(KEY, Result) is None
    cache.put(KEY, RESULT, about())
    assert equal(opened(place.parent.parent).get(KEY, Result), RESULT)
    assert [kept.key for kept in opened(place.parent.parent).abouts()] == [KEY]


class Planted:
    """Unpickled, it would leave a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def npz_with(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def object_array(path):
    stream = io.BytesIO()
    np.save(stream, np.array([Planted(path)], dtype=object), allow_pickle=True)
    return stream.getvalue()


HUGE = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999,), }".ljust(117)
    + b"\n"
)
NOT_ENTRIES = {
    "empty": b"",
    "a brace": b"{",
    "null": b"null",
    "list": b"[]",
    "number": b"17",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe\x00\x80" * 10,
    "zeros": bytes(5000),
    "other fields": b'{"name": "a"}',
    "array of nothing": b'{"name": "a", "number": 1, "values": {"$array": "r.nothing"}, "words": []}',
    "no float": b'{"name": "a", "number": {"$float": "one"}, "values": {"$array": "r.values"}, "words": []}',
    "empty zip": npz_with("r.other.npy", b""),
    "no npy": npz_with("r.values.npy", b"no array"),
    "huge": npz_with("r.values.npy", HUGE),
}


@pytest.mark.parametrize("checked", [True, False], ids=["digests", "digests forged"])
@pytest.mark.parametrize("part", [DOCUMENT, ARRAYS])
@pytest.mark.parametrize("content", NOT_ENTRIES.values(), ids=NOT_ENTRIES)
def test_what_is_no_entry_is_made_again(place, part, content, checked):
    (place / part).write_bytes(content)
    if not checked:
        forge(place)
    check_made_again(place)


@pytest.mark.parametrize("part", [DOCUMENT, ARRAYS])
def test_a_lost_file_is_made_again(place, part):
    (place / part).unlink()
    check_made_again(place)


@pytest.mark.slow
@pytest.mark.parametrize("part", [DOCUMENT, ARRAYS, CHECK])
def test_one_flipped_byte_or_a_cut_is_noticed_wherever_it_is(place, part):
    """Also where the file still reads as data: a digit of a number, a letter of a text."""
    good = {path.name: path.read_bytes() for path in place.iterdir()}
    moments = random.Random(SEED)
    for _ in range(FLIPS):
        spoiled = bytearray(good[part])
        where = moments.randrange(len(spoiled))
        spoiled[where] ^= 1 << moments.randrange(8)
        for content in (bytes(spoiled), good[part][:where]):
            place.mkdir(exist_ok=True)
            for name, kept in good.items():
                (place / name).write_bytes(kept)
            (place / part).write_bytes(content)
            found = opened(place.parent.parent).get(KEY, Result)
            assert found is None or (part == CHECK and equal(found, RESULT))


def forge(place):
    """Write the digests of what is there."""
    (place / CHECK).write_text(json.dumps({name: _digest(place / name) for name in CHECKED}), encoding="utf-8")


@pytest.mark.parametrize("check", [None, "{}", "[]", json.dumps({ARRAYS: ""}), json.dumps({"other": "x"})])
def test_an_entry_without_its_digests_is_not_believed(place, check):
    told = json.loads((place / DOCUMENT).read_text(encoding="utf-8"))
    (place / DOCUMENT).write_text(json.dumps(told | {"number": 777.0}), encoding="utf-8")
    (place / CHECK).unlink()
    if check is not None:
        (place / CHECK).write_text(check, encoding="utf-8")
    check_made_again(place)


def test_an_entry_without_its_digests_leaves_the_list(place):
    cache = opened(place.parent.parent)
    assert cache.pin(KEY, True)
    (place / CHECK).unlink()
    assert cache.entries() == ()
    assert not place.exists()


def npz_of(name, content, how=zipfile.ZIP_STORED, times=1):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        for _ in range(times):
            archive.writestr(name, content)
    return stream.getvalue()


def npy(shape, n_bytes):
    header = str({"descr": "<f8", "fortran_order": False, "shape": shape}).ljust(117).encode()
    return b"\x93NUMPY\x01\x00v\x00" + header + b"\n" + bytes(n_bytes)


def overlapping():
    """An archive in which one member is listed many times: it has far more bytes than its file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("r.values.npy", npy((1_000_000,), 8_000_000))
        (one,) = archive.infolist()
        for number in range(20):
            other = copy.copy(one)
            other.filename = other.orig_filename = f"r.other{number}.npy"
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
        archive._didModify = True
    return stream.getvalue()


BOMBS = {
    "compressed": lambda: npz_of("r.values.npy", npy((12_500_000,), 100_000_000), zipfile.ZIP_DEFLATED),
    "declared": lambda: npz_of("r.values.npy", npy((12_500_000,), 80)),
    "endless": lambda: npz_of("r.values.npy", npy((10**15,), 80)),
    "less": lambda: npz_of("r.values.npy", npy((2,), 80)),
    "twice": lambda: npz_of("r.values.npy", npy((10,), 80), times=2),
    "overlapping": overlapping,
}


@pytest.mark.parametrize("made", BOMBS.values(), ids=BOMBS)
def test_arrays_never_take_more_memory_than_their_file_has_bytes(place, made):
    """Not even where the digests fit: nothing is unpacked, and what a header declares is compared first."""
    content = made()
    (place / ARRAYS).write_bytes(content)
    forge(place)
    cache = opened(place.parent.parent)
    tracemalloc.start()
    try:
        assert cache.get(KEY, Result) is None
        assert tracemalloc.get_traced_memory()[1] < 2 * len(content) + 2_000_000
        with pytest.raises(UNREADABLE):
            from_line({"about": vars(about()), "record": {}, "arrays": base64.b64encode(content).decode()})
    finally:
        tracemalloc.stop()
    check_made_again(place)


@pytest.mark.parametrize("kind", ["<f8", ">i4", "?", "U3", "S2", "M8[s]"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (0, 7)])
def test_every_kind_and_shape_of_array_comes_back_read_only(tmp_path, kind, shape):
    values = np.asfortranarray(np.zeros(shape, dtype=kind))
    cache = opened(tmp_path)
    cache.put(KEY, Result("a", 1.0, values, ()), about())
    found = opened(tmp_path).get(KEY, Result).values
    assert (found.dtype, found.shape, found.flags.writeable) == (values.dtype, values.shape, False)
    assert np.array_equal(found, values)
    line = json.loads(json.dumps(as_line(Result("a", 1.0, values, ()), about())))
    assert np.array_equal(from_line(line).packed.arrays["r.values"], values)


@pytest.mark.parametrize("checked", [True, False], ids=["digests forged", "no digests"])
def test_a_pickle_in_an_entry_is_never_opened(place, tmp_path, checked):
    trap = tmp_path / "sprung"
    arrays = npz_with("r.values.npy", object_array(trap))
    for content in (arrays, pickle.dumps(Planted(trap)), npz_with("r.values", pickle.dumps(Planted(trap)))):
        opened(place.parent.parent).put(KEY, RESULT, about())
        (place / ARRAYS).write_bytes(content)
        (place / CHECK).unlink()
        if checked:
            forge(place)
        assert opened(place.parent.parent).get(KEY, Result) is None
        assert not trap.exists()
    check_made_again(place)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"null", b"[]", b"\xff", b'{"key": 1}', b"[" * 100_000),
        json.dumps(vars(about()) | {"created": 5}).encode(),
        json.dumps(vars(about()) | {"settings": "none"}).encode(),
        json.dumps(vars(about("another:key:step:1"))).encode(),
        json.dumps(vars(about()) | {"more": 1}).encode(),
    ],
)
def test_an_entry_that_does_not_say_what_it_is_leaves_the_list_and_the_rest_stays(place, content):
    cache = opened(place.parent.parent)
    cache.put("bbbb:other", RESULT, about("bbbb:other"))
    (place / ABOUT).write_bytes(content)
    assert [kept.key for kept in cache.abouts()] == ["bbbb:other"]
    assert [kept.about.key for kept in cache.entries()] == ["bbbb:other"]
    assert equal(cache.get("bbbb:other", Result), RESULT)
    check = opened(place.parent.parent)
    check.put(KEY, RESULT, about())
    assert len(check.abouts()) == 2


def test_an_entry_of_another_place_is_not_taken_for_this_one(place):
    other = opened(place.parent.parent)
    other.put("bbbb:other", Result("other", 1.0, np.zeros(3), ()), about("bbbb:other"))
    name = digest("bbbb:other")
    for part in (DOCUMENT, ARRAYS):
        (place / part).write_bytes((place.parent.parent / name[:2] / name / part).read_bytes())
    assert other.get(KEY, Result) is None


def test_a_file_in_the_place_of_an_entry_is_replaced(place):
    shutil.rmtree(place)
    place.write_text("", encoding="utf-8")
    check_made_again(place)


def test_a_file_in_the_place_of_the_cache_loses_no_answer(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = opened(tmp_path / "file")
    cache.put(KEY, RESULT, about())
    assert cache.get(KEY, Result) is RESULT
    assert "is shown, but could not be kept" in cache.unsaved


def test_what_found_no_room_is_kept_by_whoever_asks_whether_it_is(tmp_path):
    """A page that shows the result and waits does not read it again."""
    folder = tmp_path / "cache"
    cache = opened(folder)
    shutil.rmtree(folder)
    folder.write_text("", encoding="utf-8")
    cache.put(KEY, RESULT, about())
    assert "could not be kept" in cache.unsaved
    folder.unlink()
    folder.mkdir()
    until(lambda: cache.unsaved == "")
    assert equal(opened(folder).get(KEY, Result), RESULT)


def test_too_few_files_make_it_again_but_remove_nothing(place):
    """Such an error is of this process, not of the entry."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    cache, before = opened(place.parent.parent), sorted(place.iterdir())
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        assert cache.get(KEY, Result) is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sorted(place.iterdir()) == before
    assert equal(cache.get(KEY, Result), RESULT)
