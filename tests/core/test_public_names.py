"""The public names are what the package says they are, and importing it costs next to nothing."""

import subprocess
import sys

import pytest

import workprof


def test_every_public_name_is_there():
    for name in workprof.__all__:
        assert getattr(workprof, name) is not None
    assert {"Workbench", "profile", "size_memory"} <= set(workprof.__all__) <= set(dir(workprof))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        workprof.nonsense  # noqa: B018


def test_importing_brings_in_no_library():
    code = "import sys, workprof; print(*{name.split('.')[0] for name in sys.modules} & {'numpy', 'pandas', 'duckdb'})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
