"""The Report page: the file and the bundle that its buttons save hold what the command's hold."""

import io
import time
import zipfile

import pytest

from tests.same.conftest import PATIENCE_S
from tests.same.reading import FIGURE, Printed

pytestmark = pytest.mark.slow


def make_the_report(test):
    """Press the button and wait until its files can be saved."""
    test.button(key="report_make").click().run()
    end = time.monotonic() + PATIENCE_S
    while not test.get("download_button"):
        assert time.monotonic() < end
        time.sleep(0.2)
        test.run()


def test_the_files_of_the_page_are_the_commands(tasks):
    page = tasks.page("report", "tasks", report_sections=["data", "memory"], act=make_the_report)
    (html,) = (content for name, content in page.files.items() if name.endswith(".html"))
    (bundle,) = (content for name, content in page.files.items() if name.endswith(".zip"))
    target = tasks.folder / "report.html"
    words = ("--sections", "data,memory", "-o", target, "--bundle", tasks.folder / "report.zip")
    told = tasks.command("report", "tasks", *words)
    written = Printed(target.read_text(encoding="utf-8"), (tasks.folder / "report.zip").read_bytes())
    saved = Printed(html.decode(), bundle)
    assert len(FIGURE.findall(saved.page)) > 3
    assert FIGURE.findall(saved.page) == FIGURE.findall(written.page)
    for section in ("data", "memory"):
        assert saved.metrics(section) == written.metrics(section) != []
        assert saved.csv(section) == written.csv(section) != {}
    (lines,) = (table for table in page.tables if "section" in table.columns)
    assert lines["state"].tolist() == [one["status"] for one in told["sections"]]
    assert names_in(saved) == names_in(written)


def names_in(printed):
    with zipfile.ZipFile(io.BytesIO(printed.bundle)) as files:
        return set(files.namelist())
