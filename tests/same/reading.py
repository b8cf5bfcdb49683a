"""What stands on a page, in a report's file and in its bundle, as plain numbers and texts."""

import base64
import codecs
import html
import io
import json
import re
import zipfile
from dataclasses import dataclass

import numpy as np
import pandas as pd

from workprof.answers.help.terms import glossary_of

FIGURE = re.compile(r'<script type="application/json" id="([\w-]+)-(figure|config)">(.*?)</script>', re.DOTALL)
CONTROLS = ("selectbox", "number_input", "text_input", "multiselect", "slider", "toggle", "checkbox", "button_group")
HEADLINE = re.compile(r"<dt>(.*?)</dt><dd>(.*?)<small>(.*?)</small></dd>", re.DOTALL)


def decoded(value):
    """Return a figure's tree with typed arrays as lists; NaN as null, as JSON has it."""
    if isinstance(value, dict) and set(value) >= {"dtype", "bdata"}:
        array = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]).newbyteorder("<"))
        if "shape" in value:
            array = array.reshape([int(size) for size in str(value["shape"]).split(",")])
        return decoded(array.tolist())
    if isinstance(value, dict):
        return {name: decoded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


@dataclass(frozen=True)
class Seen:
    """What a page shows.

    Attributes:
        figures: name -> its traces, typed arrays decoded.
        metrics: (label, value, second line) in order.
        tables: the data of every table.
        words: every sentence, one after the other.
        files: file name -> bytes of every download button.
        code: every block of code.
    """

    figures: dict
    metrics: list
    tables: list
    words: str
    files: dict
    code: list

    def metric(self, label):
        """Return the values of all metrics of a label."""
        return [value for name, value, _ in self.metrics if name == label]

    def csv(self, name, **how):
        """Return a downloaded CSV file."""
        return pd.read_csv(io.BytesIO(self.files[name]), **how)


def seen(test, files):
    """Return what a page of Streamlit's test driver shows; `files`: name -> function that makes the download."""
    figures = {}
    for chart in test.get("plotly_chart"):
        config = json.loads(chart.proto.config or "{}")
        name = config.get("toImageButtonOptions", {}).get("filename", chart.key)
        figures[name] = decoded(json.loads(chart.proto.spec)["data"])
    metrics = [(one.label, one.value, one.delta) for one in test.metric]
    told = (*test.title, *test.markdown, *test.caption, *test.info, *test.warning, *test.success)
    words = " ".join(str(item.value) for item in told).replace("\\", "")
    made = {name: _bytes(make()) for name, make in files.items()}
    return Seen(
        figures,
        metrics,
        [one.value for one in (*test.dataframe, *test.table)],
        words,
        made,
        [one.value for one in test.code],
    )


def unexplained(test):
    """Return the labels of figures without help, and of controls that are a term of the glossary and have none."""
    figures = [one.label for one in test.metric if not one.help]
    controls = [one for kind in CONTROLS for one in test.get(kind)]
    return figures + [one.label for one in controls if glossary_of(one.label) and not one.help]


def _bytes(made):
    return made.encode() if isinstance(made, str) else bytes(made)


@dataclass(frozen=True)
class Printed:
    """What a report's file and bundle hold: of a section, figures by name, metrics, and tables as CSV bytes."""

    page: str
    bundle: bytes

    def figures(self, section):
        """Return name -> the traces of each figure of that name in a section."""
        found = {}
        for place, part, document in FIGURE.findall(self.page):
            if re.fullmatch(rf"{section}-\d+", place):
                found.setdefault(place, {})[part] = json.loads(document)
        named = {}
        for one in found.values():
            name = one["config"]["toImageButtonOptions"]["filename"]
            named.setdefault(name, []).append(decoded(one["figure"]["data"]))
        return named

    def metrics(self, section):
        """Return (label, value, second line) of a section."""
        inside = self.page.partition(f'<section id="{section}">')[2].partition("</section>")[0]
        return [tuple(html.unescape(text) for text in found) for found in HEADLINE.findall(inside)]

    def csv(self, section):
        """Return stem -> bytes of the section's CSV files."""
        with zipfile.ZipFile(io.BytesIO(self.bundle)) as files:
            names = [name for name in files.namelist() if name.startswith(f"{section}/")]
            return {name.partition("/")[2].removesuffix(".csv"): files.read(name) for name in names}


def same_figures(page, printed, section):
    """Check every figure of a page that the report's section has, trace by trace; return their names."""
    there = printed.figures(section)
    compared = {name for name in page.figures if name in there}
    for name in compared:
        assert page.figures[name] in there[name], name
    return compared


def same_metrics(page, printed, section, n=None):
    """Check that the section prints the page's metrics (its first n), label, value and second line."""
    assert page.metrics
    assert [one for one in page.metrics[:n] if one not in printed.metrics(section)] == []


def bar(traces, by="y", of="x", name=None):
    """Return category -> value of a bar chart's traces (of one trace, where a name is given)."""
    return {
        label: value
        for trace in traces
        if name is None or trace.get("name") == name
        for label, value in zip(trace[by], trace[of], strict=True)
    }


def ask_for_the_mark(test):
    """Let CSV files begin with a byte order mark."""
    test.session_state["csv_mark"] = True
    test.run()


def marked(*pages):
    """Return the names of the files of pages that begin with the mark: each CSV file, and no other."""
    files = {name: data for page in pages for name, data in page.files.items()}
    names = {name for name, data in files.items() if data.startswith(codecs.BOM_UTF8)}
    assert names == {name for name in files if name.endswith(".csv")}
    return names
