"""No name of a trace becomes markup on any page: neither in Markdown, nor in labels, nor in a figure."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from google.protobuf.message import Message

from tests.hostile_texts import LIVE, MARK, TEXTS, TURNING
from tests.pages import hostile_home
from tests.pages.addresses import everything
from tests.pages.all_views import View
from tests.pages.conftest import problems
from workprof.core.settings import from_environment
from workprof.core.words import label_text, markdown_text
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

RUN = f"<script>{MARK}()</script> 0/1"
VIEWS = (
    *(View("data", tab) for tab in ("Validation", "Columns", "Preview")),
    *(View("profiles", tab) for tab in ("Profile", "Box plots", "Map", "Metadata", "Export", "Cluster tendency")),
    View("profiles", "Map", {"profiles_selected": "p0_1"}),
    View("classify", "One job", {"classify_job": "7"}),
    View("classify", "One job", {"classify_from": "own fields"}),
    View("classify", "One job", {"classify_search": MARK}),
    View("classify", "Model"),
    View("durations", "Observed"),
    *(View("memory", tab) for tab in ("Tasks", "Bins", "Roll-up", "Ledger", "Models")),
    View("memory", "Policies", {"memory_policies": ["workprof", "preset", "p95"]}),
    View("memory", "Policies", {"memory_task": f"{TEXTS[0]} 0", "memory_input": hostile_home.INPUT}),
    *(View("nodes", tab) for tab in ("Ranking", "Groups", "Degradation", "Over time")),
    *(View("phases", tab, {"phases_run": RUN}) for tab in ("Timeline", "Fingerprint")),
    View("phases", "Match", {"phases_run": RUN, "phases_mode": "faithful"}),
    View("phases", "Library", {"phases_mode": "faithful"}),
    *(View(page) for page in ("home", "runs", "report")),
)

PLAIN_FIELDS = {
    "id", "form_id", "form_submitter_id", "url", "data", "spec", "config", "columns", "default", "set_value", "value",
    "placeholder", "query_param_key", "raw_value", "code_text", "page", "user_key", "widget_id", "color", "icon",
    "alt", "accessible_label", "element_id", "raw_values", "chart_data", "url_pathname", "query_string",
}  # fmt: skip
"""Fields of Streamlit's messages that no browser reads as Markdown."""

NOT_READ = PLAIN_FIELDS - {"value", "default", "placeholder", "code_text"}
"""Fields that no visitor sees; what is in tables and figures is looked at for itself."""

PLAIN_OPTIONS = ("selectbox", "multiselect", "select_slider")
"""Elements whose options are shown as they are."""


@pytest.fixture
def hashes(home, request, tmp_path_factory):
    """The hostile home, with a forecaster for the page that shows one."""
    view = getattr(request.node, "callspec", None)
    trained = view is not None and view.params["view"].page == "classify"
    made, found = hostile_home.make(tmp_path_factory, with_forecaster=trained)
    shutil.copytree(made, home)
    return found


def texts_in(message: Message, kind: str, path: str = "", plain=PLAIN_FIELDS):
    """Yield name and text of every field that Markdown may be made of."""
    for field, value in message.ListFields():
        name = f"{path}.{field.name}"
        if field.name in plain or (field.name == "options" and kind in PLAIN_OPTIONS):
            continue
        for one in value if field.is_repeated else (value,):
            if isinstance(one, Message):
                yield from texts_in(one, kind, name, plain)
            elif isinstance(one, str):
                yield name, one


def markup(test):
    """Return where a name of the trace stands as markup."""
    found = []
    for node in everything(test):
        if node.type == "plotly_chart":
            found += [f"figure: {text[:120]!r}" for text in drawn(json.loads(node.proto.spec)) if live_in_figure(text)]
        elif isinstance(getattr(node, "proto", None), Message):
            plain = node.type in ("code", "text", "text_area", "text_input") and {"body", "value"}
            for name, text in texts_in(node.proto, node.type):
                if not (plain and name.rsplit(".", 1)[-1] in plain) and LIVE.search(text):
                    found.append(f"{node.type}{name}: {text[:200]!r}")
    return found


def turned(test):
    """Return where a name of the trace turns the direction of writing."""
    found = []
    for node in everything(test):
        if node.type in ("dataframe", "arrow_data_frame", "table", "arrow_table"):
            found += [f"{node.type}: {text[:200]!r}" for text in [node.value.to_csv()] if TURNING.search(text)]
        elif node.type == "plotly_chart":
            found += [f"figure: {text[:120]!r}" for text in drawn(json.loads(node.proto.spec)) if TURNING.search(text)]
        elif isinstance(getattr(node, "proto", None), Message):
            texts = texts_in(node.proto, "", plain=NOT_READ)
            found += [f"{node.type}{name}: {text[:200]!r}" for name, text in texts if TURNING.search(text)]
    return found


def drawn(spec):
    """Yield every text of a figure."""
    if isinstance(spec, dict):
        for value in spec.values():
            yield from drawn(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from drawn(value)
    elif isinstance(spec, str):
        yield spec


def live_in_figure(text):
    """Tell whether Plotly, which reads some HTML and %{...} in texts, would make something of a name."""
    return MARK in text and bool(re.search(rf"<(?:/?script|img|svg|a)\b|%\{{{MARK}", text))


@pytest.mark.some(2)
@pytest.mark.parametrize("view", VIEWS, ids=repr)
def test_no_name_becomes_markup(app, hashes, view):
    test = app(view.page, **view.parameters(hashes))
    assert problems(test) == []
    assert markup(test) == []
    assert turned(test) == []


def test_runs_without_a_result_name_the_dataset_as_it_is_written(app, home, tmp_path):
    """Runs without requests: of others Home adds up the ledger on the way."""
    bare = pd.DataFrame({"job_name": "a", "duration_s": np.arange(1.0, 301.0)})
    bare.to_csv(tmp_path / "bare.csv", index=False)
    with Workbench(from_environment()) as workbench:
        few = workbench.ingest([tmp_path / "bare.csv"]).hash
        workbench.rename(few, f"www.{MARK}.org")
    test = app("runs", ds=few)
    assert problems(test) == []
    assert any(MARK in item.value for item in test.info)
    assert markup(test) == []
    assert turned(test) == []


def test_the_search_finds_what_it_looks_for(app, hashes):
    alive = [text for text in TEXTS if LIVE.search(text)]
    assert len(alive) >= 9
    for escaped in (markdown_text, label_text):
        assert [text for text in alive if LIVE.search(escaped(text, 400))] == []
    assert any(MARK in str(node.proto) for node in everything(app("memory", ds=hashes.tasks)))


@pytest.mark.parametrize("text", ["24.6 %", "1 h 03 min", "no data", "-0.43", "1,234", "12.5 GB·h", "min_cluster_size"])
def test_a_plain_figure_is_shown_as_it_is_written(text):
    assert label_text(text) == text
