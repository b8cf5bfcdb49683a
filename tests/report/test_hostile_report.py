"""A report of a trace whose every name is hostile: no tag, no attribute and no formula in it comes from a name."""

import csv
import io
import json
import re
import shutil
import zipfile
from html.parser import HTMLParser

import pytest

from tests.hostile_texts import MARK, TURNING
from tests.pages import hostile_home
from workprof.core.settings import from_environment
from workprof.core.table import csv_bytes
from workprof.core.text import FORMULA_STARTS
from workprof.report.bundle import report_bundle
from workprof.report.html import report_html
from workprof.report.report import make_report
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

TAGS = {
    "html", "head", "meta", "title", "style", "script", "body", "main", "header", "h1", "h2", "h3", "p", "nav", "ul",
    "li", "a", "section", "dl", "div", "dt", "dd", "small", "figure", "figcaption", "details", "summary", "table",
    "thead", "tbody", "tr", "th", "td", "pre", "footer",
}  # fmt: skip
ATTRIBUTES = {
    "lang",
    "charset",
    "name",
    "content",
    "aria-label",
    "href",
    "id",
    "class",
    "role",
    "type",
    "scope",
    "title",
}
TEXT_ATTRIBUTES = {"aria-label", "title"}
SECTIONS = {
    "jobs": ("data", "profiles"),
    "tasks": ("data", "memory"),
    "nodes": ("data", "nodes"),
    "phases": ("data", "phases"),
}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|-?inf|nan")


class Tags(HTMLParser):
    """Collects what a browser would make of a file."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.json, self._of = set(), set(), [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        self._of = dict(attrs).get("type", "") if tag == "script" else ""

    def handle_data(self, data):
        (self.json if self._of == "application/json" else self.texts).append(data)

    def handle_endtag(self, tag):
        self._of = ""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    home, hashes = hostile_home.make(tmp_path_factory, with_forecaster=False)
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(home, folder / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            yield workbench, {name: getattr(hashes, name) for name in SECTIONS}


@pytest.fixture(scope="module", params=SECTIONS)
def made(hostile, request):
    workbench, hashes = hostile
    note = f"<script>{MARK}()</script> & [{MARK}](javascript:{MARK}())"
    return make_report(workbench, hashes[request.param], SECTIONS[request.param], note)


@pytest.mark.some(2)
def test_every_section_is_made(made):
    assert [(section.kind.name, section.reason) for section in made.sections if section.status != "done"] == []


def test_no_tag_and_no_attribute_is_of_a_name(made):
    page = Tags()
    page.feed(report_html(made))
    page.close()
    assert page.tags <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    marked = {(name, value) for name, value in page.attributes if MARK in value}
    assert {name for name, _ in marked} <= TEXT_ATTRIBUTES
    assert all(value.startswith(("#", "http")) or not value for name, value in page.attributes if name == "href")
    assert any(MARK in text for text in page.texts)


def test_the_figures_of_a_report_hold_no_live_name(made):
    page = Tags()
    page.feed(report_html(made))
    for document in page.json:
        assert not re.search(rf"<(?:/?script|img|svg|a)\b[^>]*{MARK}", json.dumps(json.loads(document)))


def test_no_cell_of_the_bundle_is_a_formula(made):
    with zipfile.ZipFile(io.BytesIO(report_bundle(made))) as bundle:
        names = bundle.namelist()
        assert all(re.fullmatch(r"[a-z]+/[A-Za-z0-9_-]+\.csv|manifest\.json", name) for name in names)
        for name in names:
            if name.endswith(".csv"):
                rows = list(csv.reader(io.StringIO(bundle.read(name).decode(), newline="")))
                assert [cell for row in rows for cell in row if is_formula(cell)] == []


def test_nothing_in_a_report_turns_the_direction_of_writing(made):
    assert not TURNING.search(report_html(made).split("<body>")[1])
    with zipfile.ZipFile(io.BytesIO(report_bundle(made))) as bundle:
        assert [name for name in bundle.namelist() if TURNING.search(bundle.read(name).decode())] == []


def is_formula(cell):
    return cell.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(cell)


def test_no_cell_of_an_export_is_a_formula(hostile, tmp_path):
    workbench, hashes = hostile
    for name, dataset in hashes.items():
        workbench.export(dataset, tmp_path / f"{name}.csv")
        text = (tmp_path / f"{name}.csv").read_bytes().decode()
        assert [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if is_formula(cell)] == []
        assert not TURNING.search(text)
        workbench.export(dataset, tmp_path / f"{name}.schema.json")
        assert not TURNING.search((tmp_path / f"{name}.schema.json").read_text())
        rows = workbench.rows(dataset, (0, 1, 2)) if name in ("jobs", "tasks") else None
        if rows is not None:
            cells = csv.reader(io.StringIO(csv_bytes(rows).decode(), newline=""))
            assert [cell for row in cells for cell in row if is_formula(cell)] == []
