"""The house rules that a machine can check: imports point down, heavy libraries wait."""

import ast
import subprocess
import sys

import pytest

from tests.sources import PACKAGE, ROOT, nodes, python_files

GROUND = {"core"}
MIDDLE = {
    "store",
    "formats",
    "synthetic",
    "cache",
    "jobs",
    "steps",
    "children",
    "background",
    "inputs",
    "pull",
    "sources",
    "campaign",
}
METHODS = {"profiles", "forecasts", "memory", "nodes", "phases"}

MAY_IMPORT = {
    **dict.fromkeys(GROUND, GROUND),
    **dict.fromkeys(MIDDLE, GROUND | MIDDLE),
    **{name: GROUND | {name} for name in METHODS},  # pure: neither store nor cache nor one another
    "forecasts": GROUND | {"forecasts", "profiles"},  # what is foretold is the profiles
    "answers": GROUND | METHODS | {"answers"},
    "charts": GROUND | METHODS | {"answers", "charts", "store"},  # records only, see the test below
    "workbench": GROUND | MIDDLE | METHODS | {"workbench"},
    "library": GROUND | MIDDLE | METHODS | {"answers", "library", "workbench"},
    "watch": GROUND | MIDDLE | METHODS | {"answers", "watch", "workbench"},
    "report": GROUND | MIDDLE | METHODS | {"answers", "report", "workbench", "charts"},
    "__main__": {"cli"},
    "cli": GROUND | MIDDLE | METHODS | {"answers", "cli", "workbench", "report", "watch"},
    "service": GROUND | MIDDLE | METHODS | {"answers", "workbench", "service", "watch"},
}
RECORDS_FOR_CHARTS = {"store": {"workprof.store.reports"}}
HEAVY = [
    "xgboost",
    "shap",
    "hdbscan",
    "tslearn",
    "sklearn",
    "numba",
    "scipy",
    "streamlit",
    "plotly",
    "duckdb",
    "optuna",
    "imblearn",
]


def imported(path):
    """Yield every workprof module that a file imports, wherever the import stands."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "workprof":
            if node.module == "workprof":
                yield from (f"workprof.{alias.name}" for alias in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("workprof."))


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_imports_point_down():
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in python_files(PACKAGE)
        if room(path) != "__init__"
        for module in imported(path)
        if module.split(".")[1] not in MAY_IMPORT[room(path)]
    ]
    assert wrong == []


def test_answers_draw_nothing_and_know_no_face():
    """Words and tables alone: imported in a process of their own, they bring neither figures nor a page or a shell."""
    rooms = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in python_files(PACKAGE / "answers")
        if path.stem != "__init__"
    ]
    assert rooms
    code = f"import sys, {', '.join(rooms)}; print(*[one for one in FACES if one in sys.modules])"
    code = code.replace("FACES", repr(["plotly", "streamlit", "typer"]))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_charts_import_records_of_the_store_only():
    wrong = [
        f"{path.name} imports {module}"
        for path in python_files(PACKAGE / "charts")
        for module in imported(path)
        if module.startswith("workprof.store") and module not in RECORDS_FOR_CHARTS["store"]
    ]
    assert wrong == []


@pytest.mark.parametrize("library", ["streamlit", "matplotlib"])
def test_the_core_never_imports(library):
    wrong = []
    for path in python_files(PACKAGE):
        for node in nodes(path):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [f"{path.name}: {name}" for name in names if name.split(".")[0] == library]
    assert wrong == []


@pytest.mark.parametrize("module", ["workprof", "workprof.profiles.fit", "workprof.cli.main"])
def test_heavy_libraries_wait(module):
    code = f"import sys, {module}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def test_top_level_is_as_agreed():
    fixed = {"pyproject.toml", "app.py", "pages", "workprof", "data", "tests", "README.md"}
    beside = {"Makefile", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "docs"}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    top = {line.split("/")[0] for line in tracked if line and not line.startswith(".")}
    assert top <= fixed | beside


ON_EVERY_PAGE = {"_frame", "_login", "_parts"}


def test_every_file_of_the_pages_is_in_a_room():
    flat = {path.stem for path in (ROOT / "pages").glob("_*.py")}
    assert flat == {"__init__", "_shell"}


def test_what_is_on_every_page_knows_no_page():
    """A page's room imports the frame and the parts, not the reverse."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {node.module}"
        for room in ("_frame", "_parts")
        for path in python_files(ROOT / "pages" / room)
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pages.")
        if node.module.split(".")[1] not in ON_EVERY_PAGE
    ]
    assert wrong == []
