"""What an extra installs is named, with the command, where it is missing."""

import io
import re
import sys
import tomllib

import pytest

from tests.sources import PACKAGE, ROOT, python_files
from workprof.core.errors import SettingsError
from workprof.core.extras import MISSING, installed_version
from workprof.store.spreadsheet import _loaded

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
NEEDED = re.compile(r'needed\("([\w.]+)", "(\w+)"\)')


@pytest.mark.parametrize(
    ("library", "extra", "call"),
    [
        ("openpyxl", "excel", lambda: _loaded(io.BytesIO())),
    ],
)
def test_a_missing_package_names_its_extra(monkeypatch, library, extra, call):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SettingsError) as caught:
        call()
    assert library in str(caught.value)
    assert f"pip install 'workprof[{extra}]'" in str(caught.value)


def test_every_package_that_is_needed_is_in_its_extra():
    found = {pair for path in python_files(PACKAGE) for pair in NEEDED.findall(path.read_text(encoding="utf-8"))}
    assert {extra for _, extra in found} >= {"nodes", "excel"}
    for module, extra in found:
        assert [one for one in EXTRAS[extra] if re.match(rf"{module.partition('.')[0]}\b", one)], (module, extra)


def test_all_is_everything_but_spark():
    (whole,) = EXTRAS["all"]
    named = set(whole.partition("[")[2].rstrip("]").split(","))
    assert named == set(EXTRAS) - {"all", "test", "docs", "spark"}


def test_versions_are_those_of_whichever_build_there_is():
    assert re.fullmatch(r"\d+\.\d+.*", installed_version("xgboost"))
    assert installed_version("no-such-library") == MISSING
