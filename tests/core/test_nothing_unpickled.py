"""Nothing that is handed over is executed: no call in the package could, and none does when it is tried."""

import ast
import gzip
import io
import json
import os
import pickle
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.sources import PACKAGE, ROOT, nodes, python_files
from workprof.cache import About, ResultCache
from workprof.core.errors import WorkprofError
from workprof.core.records import Packed, unpack
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.formats import NAMES
from workprof.store.entries import CHECKED, _digest
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

SOURCES = [ROOT / "app.py", *python_files(ROOT / "pages", PACKAGE)]
UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "code", "codeop"}
UNSAFE_BUILTINS = {"eval", "exec", "compile", "__import__"}
UNSAFE_CALLS = {"read_pickle", "full_load", "unsafe_load", "literal_eval"}
SHELLS = {"os.system", "os.popen"}
LOADERS = {"load", "loads"}
SAFE_LOADERS = {"json", "tomllib"}


def unsafe_in(found_nodes: Iterable[ast.AST]) -> list[str]:
    """Return what in a module could run what it reads."""
    found = []
    for node in found_nodes:
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in UNSAFE_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in UNSAFE_MODULES:
            found.append(node.module or "")
        elif isinstance(node, ast.Call):
            found += unsafe_call(node)
    return found


def unsafe_call(node: ast.Call) -> list[str]:
    words = ast.unparse(node.func).split(".")
    options = {option.arg: ast.unparse(option.value) for option in node.keywords}
    if len(words) == 1 and words[0] in UNSAFE_BUILTINS:
        return words
    if (
        words[-1] in UNSAFE_CALLS
        or ".".join(words) in SHELLS
        or options.get("shell") == "True"
        or options.get("allow_pickle") == "True"
    ):
        return [".".join(words)]
    if words[-1] == "load" and words[0] in ("np", "numpy"):
        return [] if options.get("allow_pickle") == "False" else [".".join(words)]
    if words[-1] in LOADERS and len(words) > 1 and words[0] in ("joblib", "yaml", "torch", "pickle"):
        return [".".join(words)]
    return []


def test_no_module_could_execute_what_it_reads():
    found = {str(path.relative_to(ROOT)): unsafe_in(nodes(path)) for path in SOURCES}
    assert len(found) > 300
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "from pickle import loads", "eval('1')", "np.load(f)", "np.load(f, allow_pickle=True)",
        "joblib.load(f)", "yaml.load(f)", "pd.read_pickle(f)", "subprocess.run(a, shell=True)", "os.system(a)",
    ],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(source):
    assert unsafe_in(ast.walk(ast.parse(source)))


class Payload:
    """Unpickled, it writes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


WATCHED = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
_seen: list[str] = []
_watching: list[bool] = []


def _hook(event, _):
    if _watching and event in WATCHED:
        _seen.append(event)


@pytest.fixture(scope="module")
def watched():
    """Audit events of unpickling and of new processes; a hook cannot be taken away, so it is silenced."""
    sys.addaudithook(_hook)
    _watching.append(True)
    yield _seen
    _watching.clear()


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "executed"


def hostile_files(mark: Path) -> dict[str, bytes]:
    bomb = pickle.dumps(Payload(mark))
    archive = io.BytesIO()
    np.savez(archive, job_name=np.array([Payload(mark)], dtype=object))
    frame = io.BytesIO()
    table = pa.table({"job_name": ["a"], "duration_s": [1.0], "payload": [bomb]})
    import pyarrow.parquet as pq

    pq.write_table(table.replace_schema_metadata({"pandas": bomb.hex(), "ARROW:schema": "AAAA"}), frame)
    text = f"job_name,duration_s\n__import__('os').mkdir('{mark}'),1\n"
    return {
        "jobs.pkl": bomb, "jobs.csv": bomb, "jobs.parquet": b"PAR1" + bomb + b"PAR1", "jobs.json": b"[" + bomb,
        "jobs.csv.gz": gzip.compress(bomb), "jobs.npz": archive.getvalue(), "frame.parquet": frame.getvalue(),
        "code.csv": text.encode(), "class.jsonl": json.dumps({"__class__": "os.mkdir", "job_name": str(mark)}).encode(),
    }  # fmt: skip


def test_the_watch_sees_a_pickle(watched, mark):
    pickle.loads(pickle.dumps(Payload(mark)))
    assert "pickle.find_class" in watched and mark.is_dir()
    watched.clear()


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.soak)])
def test_no_upload_is_executed(watched, mark, tmp_path, every):
    watched.clear()
    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=GIB)) as store:
        for place, (name, content) in enumerate(hostile_files(mark).items()):
            (tmp_path / name).write_bytes(content)
            for format_name in ("auto", *NAMES[place % every :: every]):
                try:
                    store.ingest([tmp_path / name], IngestOptions(format=format_name))
                except WorkprofError:
                    continue
        assert watched == []
        assert not mark.exists()


def test_no_kept_result_is_executed(watched, mark, tmp_path):
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Record:
        values: np.ndarray

    cache = ResultCache(tmp_path / "cache", memory_bytes=10**6, disk_bytes=10**9)
    cache.put("hash:step:1", Record(np.ones(2)), About("hash:step:1", "step", "ds", {}, {}, 1.0, "2026"))
    (place,) = (tmp_path / "cache").glob("??/*")
    bomb = pickle.dumps(Payload(mark))
    archive = io.BytesIO()
    np.savez(archive, **{"r.values": np.array([Payload(mark)], dtype=object)})
    watched.clear()
    for content in (bomb, archive.getvalue()):
        place.mkdir(parents=True, exist_ok=True)
        (place / "record.json").write_text(json.dumps({"values": {"$array": "r.values"}, "__class__": "os.mkdir"}))
        (place / "about.json").write_text(json.dumps(vars(About("hash:step:1", "step", "ds", {}, {}, 1.0, "2026"))))
        (place / "arrays.npz").write_bytes(content)
        digests = {name: _digest(place / name) for name in CHECKED}  # forged: else it is not even looked at
        (place / "check.json").write_text(json.dumps(digests))
        fresh = ResultCache(tmp_path / "cache", memory_bytes=10**6, disk_bytes=10**9)
        assert fresh.get("hash:step:1", Record) is None
    assert watched == [] and not mark.exists()


def test_a_document_cannot_name_a_class():
    found = unpack(pd.Timedelta, Packed({"__reduce__": ["os.mkdir", ["x"]], "$class": "os.mkdir"}, {}))
    assert found == {"__reduce__": ["os.mkdir", ["x"]], "$class": "os.mkdir"}
