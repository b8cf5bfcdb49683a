"""The site of `make docs`: questions, commands and settings have their place, links lead somewhere, notebooks run."""

import importlib.util
import re
from pathlib import Path

import pytest

import workprof
from tests.docs.commands import ROOT
from workprof.answers.help.methods import METHODS
from workprof.workbench.declared import DECLARED

spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)

LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "docs"
    return folder, build.write_source(folder, notebooks=False)


def pages(entry):
    """Yield the files of a navigation."""
    for value in entry.values() if isinstance(entry, dict) else [entry]:
        yield from value if isinstance(value, list) else [value]


def test_every_page_of_the_navigation_is_there(site):
    folder, settings = site
    listed = [page for entry in settings["nav"] for page in pages(entry)]
    assert [page for page in listed if not (folder / page).is_file()] == []
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    assert written == set(listed)


def test_links_of_the_site_lead_somewhere(site):
    folder, _ = site
    wrong = [
        f"{page.relative_to(folder)}: {target}"
        for page in folder.rglob("*.md")
        for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert wrong == []


def test_every_question_is_on_the_page_of_its_method(site):
    folder, _ = site
    assert set(build.QUESTIONS_OF) == {one.name for one in METHODS}
    texts = {one.name: (folder / "methods" / f"{build.slug(one.name)}.md").read_text("utf-8") for one in METHODS}
    kept_apart = {"profiles.held_out"}  # an example of the Classify page
    for name, question in DECLARED.items():
        own = [method for method, begins in build.QUESTIONS_OF.items() if name.startswith(begins)]
        assert len(own) == (name not in kept_apart), name
        for method in own:
            assert f"## {question.title}" in texts[method]
            assert [leaf.path for leaf in question.leaves if f"`{leaf.path}`" not in texts[method]] == []
    for method in METHODS:
        assert method.limits
        assert all(source in texts[method.name] for source in method.sources)


def test_every_command_and_public_name_is_in_a_reference(site):
    folder, _ = site
    line = (folder / "reference" / "command-line.md").read_text(encoding="utf-8")
    for words in ("workprof memory plan", "workprof phases detect", "workprof campaign run", "workprof serve"):
        assert f"## {words}\n" in line
    assert line.count("\n## ") > 50
    library = (folder / "reference" / "library.md").read_text(encoding="utf-8")
    assert [name for name in workprof.__all__ if name != "__version__" and f"## wp.{name}\n" not in library] == []
    assert "### bench.memory.replay(dataset, settings)" in library
    assert "\n    shares: dict[str, float]  # weight of each aspect that counted, summing to 1\n" in library


NOTEBOOKS = {path.stem: path for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")}


def ran(name, monkeypatch):
    """Run a notebook in its folder; return its names and the values of its cells."""
    monkeypatch.chdir(NOTEBOOKS[name].parent)
    names = {}
    return names, [build.run_cell(source, names) for kind, source in build.cells(NOTEBOOKS[name]) if kind == "code"]


def test_there_are_three_notebooks():
    assert set(NOTEBOOKS) == {"profiles", "memory-what-if", "phases"}
    for path in NOTEBOOKS.values():
        assert '"outputs": []' in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_notebook_of_profiles_finds_the_planted_ones(monkeypatch):
    names, values = ran("profiles", monkeypatch)
    assert names["fit"].scores.n_clusters >= 10
    assert [value for value in values if isinstance(value, float)][0] > 0.9  # noqa: RUF015


@pytest.mark.soak
@pytest.mark.slow
def test_the_notebook_of_memory_trades_kills_against_waste(monkeypatch):
    names, _ = ran("memory-what-if", monkeypatch)
    wasted = [one.wasted for one in names["answers"].values()]
    assert wasted == sorted(wasted, reverse=True)
    assert names["today"].memory.judged.saved_share > 0.3
    assert names["tight"].memory.today.above > names["today"].memory.today.above


@pytest.mark.slow
def test_the_notebook_of_phases_finds_the_planted_changes(monkeypatch):
    names, values = ran("phases", monkeypatch)
    assert names["found"].changes["cpu %"] == [60, 210]
    assert names["joint"].changes["x0"] == [60, 210]
    assert values[-1] < 0.05


@pytest.mark.slow
def test_a_notebook_becomes_a_page_with_its_results():
    here = Path.cwd()
    page = build.notebook_page(NOTEBOOKS["phases"])
    assert Path.cwd() == here
    assert page.count("```python") == sum(kind == "code" for kind, _ in build.cells(NOTEBOOKS["phases"]))
    assert "plotly" in page
    assert "<table" in page
