"""What is compiled in several processes and loaded in one is what each of them compiled."""

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import workprof
from workprof.core.compiled import KernelFile, compiled

KERNELS = """
import sys
import numpy as np
from workprof.core.compiled import compiled

@compiled
def sorted_first(values):
    return np.sort(values)[:3].sum()

@compiled
def smallest_first(values):
    return values[np.argsort(values)][:3].sum()

def main(names):
    values = np.random.default_rng(3).permutation(200).astype(float)
    for name in names:
        print(globals()[name](values))
"""


def printed(folder, code, **environment):
    run = [sys.executable, "-c", code]
    given = os.environ | environment
    return subprocess.run(run, cwd=folder, env=given, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture
def kernels(tmp_path):
    (tmp_path / "kernels.py").write_text(textwrap.dedent(KERNELS))
    return tmp_path


@pytest.mark.soak
@pytest.mark.slow
def test_functions_of_two_processes_keep_apart(kernels):
    """`sort` compiled here and `argsort` there, by numba's own numbers of one name; a third process loads both."""
    for name in ("sorted_first", "smallest_first"):
        assert printed(kernels, f"import kernels; kernels.main([{name!r}])") == ["3.0"]
    both = printed(kernels, "import kernels; kernels.main(['sorted_first', 'smallest_first'])")
    assert both == ["3.0", "3.0"]
    assert printed(kernels, "import kernels; kernels.main(['smallest_first', 'sorted_first'])") == both


@pytest.mark.slow
def test_kernels_are_plain_functions_where_numba_is_switched_off(kernels):
    assert printed(kernels, "import kernels; kernels.main(['sorted_first'])", NUMBA_DISABLE_JIT="1") == ["3.0"]


@pytest.mark.parametrize("lost", ["code", "index"])
def test_two_writers_at_once_never_swap_their_code(tmp_path, monkeypatch, lost):
    """Both have read an empty index; one is overtaken by the other before it writes its code, or its index."""
    first, second = (KernelFile(tmp_path, "kernel", "stamp") for _ in range(2))
    step = f"_save_{'data' if lost == 'code' else 'index'}"
    write = getattr(first, step)

    def overtaken(*values):
        with monkeypatch.context() as context:
            context.setattr(second, "_load_index", dict)
            second.save("floats", "code for floats")
        write(*values)

    monkeypatch.setattr(first, step, overtaken)
    monkeypatch.setattr(first, "_load_index", dict)
    first.save("integers", "code for integers")
    reader = KernelFile(tmp_path, "kernel", "stamp")
    assert reader.load("integers") == "code for integers"
    assert reader.load("floats") in {"code for floats", None}
    assert KernelFile(tmp_path, "kernel", "changed since").load("integers") is None


def test_the_cache_is_ours():
    @compiled
    def tripled(value):
        return 3 * value

    assert isinstance(tripled._cache._cache_file, KernelFile)
    assert tripled(np.int64(2)) == 6


WITHIN = """
from workprof.core.compiled import compiled, compiled_within

@compiled_within
def tripled(value):
    return 3 * value

@compiled
def six_times(value):
    return 2 * tripled(value)

def main():
    print(six_times(2.0))
    for made in (tripled, six_times):
        one = next(iter(made.overloads.values()))
        print(one.fndesc.llvm_cpython_wrapper_name in one.library.get_llvm_str())
"""


@pytest.mark.slow
def test_a_kernel_of_kernels_has_no_way_in_from_python(tmp_path):
    """In a process and a folder of its own: what was compiled before cannot be looked into."""
    (tmp_path / "within.py").write_text(WITHIN)
    told = printed(tmp_path, "import within; within.main()", NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    assert told == ["12.0", "False", "True"]


def test_only_kernels_call_what_has_no_way_in():
    """Python would call into nothing, which ends the process."""
    for path in Path(workprof.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "compiled_within" not in text:
            continue
        tree = ast.parse(text)
        parts = [(one, [ast.unparse(each) for each in getattr(one, "decorator_list", [])]) for one in tree.body]
        within = {one.name for one, marks in parts if "compiled_within" in marks}
        for one, marks in parts:
            named = {each.id for each in ast.walk(one) if isinstance(each, ast.Name)}
            assert not named & within or any(mark.startswith("compiled") for mark in marks), (path, named & within)


OF_A_RECORD = """
from typing import NamedTuple
from workprof.core.compiled import compiled

class {name}(NamedTuple):
    value: float

@compiled
def doubled(record):
    return 2 * record.value

def main():
    print(doubled({name}(1.5)))
"""


@pytest.mark.slow
def test_a_class_that_a_kernel_takes_may_be_renamed(tmp_path):
    for name in ("Before", "After"):
        (tmp_path / "renamed.py").write_text(OF_A_RECORD.format(name=name))
        assert printed(tmp_path, "import renamed; renamed.main()") == ["3.0"]


BARYCENTER = """
import numpy as np
from workprof.phases.typical import barycenter
print(barycenter([np.arange(12.0).reshape(2, 6), np.ones((2, 5))], 1.0).sum())
from tslearn.barycenters import softdtw
print(sum(softdtw._njit_softdtw_func_from_distance_matrix.stats.cache_misses.values()))
"""


@pytest.mark.soak
@pytest.mark.slow
def test_what_tslearn_compiles_is_kept_for_later_processes(tmp_path):
    first, second = (printed(tmp_path, BARYCENTER, NUMBA_CACHE_DIR=str(tmp_path / "kept")) for _ in range(2))
    assert (first[1], second[1]) == ("1", "0")
    assert first[0] == second[0]
