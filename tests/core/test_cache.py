"""One computation per key, bounded memory and disk, and no entry that cannot be trusted."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from workprof.cache import ARRAYS, DOCUMENT, About, ResultCache
from workprof.core.errors import SettingsError
from workprof.core.records import digest
from workprof.store.claims import claim, claimed


@dataclass(frozen=True)
class Result:
    name: str
    values: NDArray[np.float64]


def about(key):
    return About(key, "step", "dataset", {}, {}, 0.1, "2026-01-01T00:00:00+00:00")


def cache(folder, memory_bytes=10**6, disk_bytes=10**7):
    return ResultCache(folder, memory_bytes=memory_bytes, disk_bytes=disk_bytes)


def once(kept, compute):
    """What the workbench does for a blocking question."""
    with kept.lock("k"):
        found = kept.get("k", Result)
        if found is None:
            kept.put("k", compute(), about("k"))
        return found or kept.get("k", Result)


def test_a_result_survives_a_restart_and_is_read_only(tmp_path):
    cache(tmp_path).put("k", Result("a", np.arange(3.0)), about("k"))
    found = cache(tmp_path).get("k", Result)
    assert found.name == "a"
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1.0


def test_ten_viewers_compute_once(tmp_path):
    kept, calls, results = cache(tmp_path), [], []

    def compute():
        calls.append(1)
        time.sleep(0.1)
        return Result("a", np.zeros(4))

    viewers = [threading.Thread(target=lambda: results.append(once(kept, compute))) for _ in range(10)]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join()
    assert len(calls) == 1
    assert len({id(result) for result in results}) == 1


def test_one_of_many_processes_has_a_claim_and_a_killed_one_leaves_it(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from workprof.store.claims import claim\n"
        "own = claim(Path(sys.argv[1])); print(own.elsewhere or 'mine', flush=True); time.sleep(60)"
    )
    path = tmp_path / "claims" / "k"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "mine\n"
        told = []

        def waits(message):
            told.append(message)
            if len(told) == 2:
                holder.kill()
                holder.wait()

        with claimed(path, waits):
            assert claim(path).elsewhere == str(os.getpid())
    assert set(told) == {f"process {holder.pid} computes the same"}
    assert not path.exists()


def test_a_claim_that_is_let_go_is_had_by_one_of_those_that_wait(tmp_path):
    path, inside, most = tmp_path / "claims" / "k", [], []

    def work():
        for _ in range(30):
            own = claim(path)
            if not own.elsewhere:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()
                own.end()

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(most) >= 8
    assert set(most) == {1}


def test_where_no_claim_can_be_made_it_is_computed_all_the_same(tmp_path):
    (tmp_path / "claims").write_text("no folder")
    own = claim(tmp_path / "claims" / "k")
    assert own.elsewhere == ""
    own.end()
    assert (tmp_path / "claims").read_text() == "no folder"


@pytest.mark.parametrize("spoil", [b"", b"{", b'{"name": "a"}', b"[]"])
@pytest.mark.parametrize("part", [DOCUMENT, ARRAYS])
def test_a_corrupt_entry_is_removed_and_computed_again(tmp_path, spoil, part):
    cache(tmp_path).put("k", Result("a", np.zeros(4)), about("k"))
    next(tmp_path.glob(f"??/*/{part}")).write_bytes(spoil)
    kept = cache(tmp_path)
    again = once(kept, lambda: Result("b", np.ones(4)))
    assert (again.name, float(again.values.sum())) == ("b", 4.0)


def test_disk_is_bounded_and_the_least_used_goes_first(tmp_path):
    kept = cache(tmp_path, memory_bytes=1, disk_bytes=30_000)
    for i in range(6):
        kept.put(f"k{i}", Result("a", np.zeros(1000)), about(f"k{i}"))
        time.sleep(0.02)
    left = [i for i in range(6) if cache(tmp_path, disk_bytes=30_000).get(f"k{i}", Result) is not None]
    assert left == [3, 4, 5]


def test_memory_is_bounded(tmp_path):
    kept = cache(tmp_path, memory_bytes=30_000)
    for i in range(6):
        kept.put(f"k{i}", Result("a", np.zeros(1000)), about(f"k{i}"))
        kept.get(f"k{i}", Result)
    assert kept._memory.size_bytes <= 30_000


def test_what_a_dead_process_left_aside_is_swept(tmp_path):
    (tmp_path / "aside-123").mkdir()
    (tmp_path / "aside-123" / DOCUMENT).write_text("{}")
    cache(tmp_path)
    assert not (tmp_path / "aside-123").exists()


def test_forgetting_a_dataset_leaves_the_others(tmp_path):
    kept = cache(tmp_path)
    for key in ("aaaa:1:s:1", "aaaa:2:s:1", "bbbb:1:s:1"):
        kept.put(key, Result(key, np.zeros(1)), about(key))
    assert kept.forget("aaaa") == 2
    assert kept.get("aaaa:1:s:1", Result) is None
    assert kept.get("bbbb:1:s:1", Result) is not None
    assert [entry.key for entry in kept.abouts()] == ["bbbb:1:s:1"]


def test_a_pinned_entry_stays_when_the_disk_is_full(tmp_path):
    kept = cache(tmp_path, memory_bytes=1, disk_bytes=30_000)
    kept.put("k0", Result("a", np.zeros(1000)), about("k0"))
    assert kept.pin("k0", True)
    for i in range(1, 6):
        kept.put(f"k{i}", Result("a", np.zeros(1000)), about(f"k{i}"))
        time.sleep(0.02)
    again = cache(tmp_path, memory_bytes=1, disk_bytes=30_000)
    assert [i for i in range(6) if again.get(f"k{i}", Result) is not None] == [0, 4, 5]
    assert {entry.about.key: entry.pinned for entry in again.entries()} == {"k0": True, "k4": False, "k5": False}
    assert again.pin("k0", False)
    for i in range(6, 9):
        again.put(f"k{i}", Result("a", np.zeros(1000)), about(f"k{i}"))
        time.sleep(0.02)
    assert again.get("k0", Result) is None


def test_a_pin_survives_another_computation_and_a_restart(tmp_path):
    cache(tmp_path).put("k", Result("a", np.zeros(4)), about("k"))
    cache(tmp_path).pin("k", True)
    cache(tmp_path).put("k", Result("b", np.zeros(4)), about("k"))
    (entry,) = cache(tmp_path).entries()
    assert entry.pinned
    assert entry.size_bytes > 0
    assert cache(tmp_path).get("k", Result).name == "b"


def test_no_more_than_half_of_the_disk_can_be_pinned(tmp_path):
    kept = cache(tmp_path, disk_bytes=30_000)
    for key in ("k0", "k1"):
        kept.put(key, Result("a", np.zeros(1000)), about(key))
    assert kept.pin("k0", True)
    assert kept.pin("k0", True)  # again: nothing more is pinned
    with pytest.raises(SettingsError, match="unpin others first"):
        kept.pin("k1", True)
    assert not kept.pin("nothing", True)


def test_one_entry_can_be_removed_pinned_or_not(tmp_path):
    kept = cache(tmp_path)
    for key in ("k0", "k1"):
        kept.put(key, Result("a", np.zeros(4)), about(key))
    kept.get("k0", Result)
    kept.pin("k0", True)
    assert kept.remove("k0")
    assert not kept.remove("k0")
    assert kept.get("k0", Result) is None
    assert [one.key for one in kept.abouts()] == ["k1"]


def test_entries_are_found_by_the_beginning_of_their_digest(tmp_path):
    kept = cache(tmp_path)
    for i in range(40):
        kept.put(f"k{i}", Result("a", np.zeros(1)), about(f"k{i}"))
    for length in (2, 6, 32):
        beginning = digest("k7")[:length]
        expected = {f"k{i}" for i in range(40) if digest(f"k{i}").startswith(beginning)}
        assert {entry.about.key for entry in kept.entries(beginning)} == expected
    assert len(kept.entries()) == 40


def test_a_removed_dataset_takes_its_pinned_entries_along(tmp_path):
    kept = cache(tmp_path)
    kept.put("aaaa:1:s:1", Result("a", np.zeros(1)), about("aaaa:1:s:1"))
    kept.pin("aaaa:1:s:1", True)
    assert kept.forget("aaaa") == 1
    assert kept.abouts() == ()
