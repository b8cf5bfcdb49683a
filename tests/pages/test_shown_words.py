"""What every view really shows: no banned wording, no raw name of an option or a column, no long sentence."""

import json
import re

import plotly.io
import pytest
from streamlit.testing.v1.element_tree import Block, Button, DownloadButton, Expander, Widget

from tests.docs.test_words import FOUND, prose
from tests.pages import addresses
from tests.sentences import long_ones, sentences
from workprof.formats.fields import JOB_FIELDS
from workprof.workbench.declared import DECLARED

pytestmark = pytest.mark.slow

CHOICES = {str(one) for question in DECLARED.values() for leaf in question.leaves for one in leaf.about.choices}
RAW = {"eom", *(one for one in (*CHOICES, *(field.name for field in JOB_FIELDS)) if "_" in one)}
NAMED = re.compile(rf"(?<![\w.-])({'|'.join(sorted(map(re.escape, RAW), key=len, reverse=True))})(?![\w-])")


def texts(node):
    """Yield what a reader sees of an element: words, labels, options, headings; neither its help nor its cells."""
    proto = node.proto
    if node.type == "plotly_chart":
        yield from drawn(plotly.io.from_json(proto.spec).to_dict())
    elif node.type in ("dataframe", "arrow_data_frame"):
        return
    elif node.type == "metric":
        yield from (proto.label, proto.body, proto.delta)
    elif isinstance(node, Expander) or node.type in ("popover", "tab"):
        yield getattr(node, "label", "")
    elif isinstance(node, Button | DownloadButton):
        yield proto.label
    elif isinstance(node, Widget):
        yield getattr(proto, "label", "")
        yield from map(str, getattr(node, "options", ()))
    elif node.type not in ("code", "bidi_component", "html", "imgs"):
        yield str(getattr(proto, "body", "") or getattr(proto, "label", ""))


def drawn(found):
    """Yield the words of a figure: titles, names in the legend, annotations, words at ticks."""
    for key, value in found.items() if isinstance(found, dict) else enumerate(found if isinstance(found, list) else ()):
        if isinstance(value, dict | list):
            yield from drawn(value)
        elif isinstance(value, str) and key in ("text", "name", "ticksuffix"):
            yield value


MISSING = re.compile(r"no column|missing: ")
"""Names of columns that a file lacks are named as the file would have them."""


def faults(text):
    text = prose(text).replace("\\", "")
    if MISSING.search(text):
        return [found[0] for found in FOUND.finditer(text)]
    return [found[0] for pattern in (FOUND, NAMED) for found in pattern.finditer(text)]


SMALL = re.compile(r"[a-z]{2,}(?![\w.])")
"""A word; a symbol (p95), a published name (scores_v3) or a counter's begins as it is written."""


NAMED_DATA = {"tasks", "part", "the default, not saved: place", "the default, not saved: score"}
"""Datasets and scenarios side by side are called as they are, and so are the columns of a dataset's first rows."""


def small_headings(node):
    """Return the headings of a table or tab, or the label of a card, that begin with a small letter."""
    if node.type in ("dataframe", "arrow_data_frame") and not node.proto.alt.startswith("First rows of"):
        looks = json.loads(node.proto.columns or "{}")
        shown = {name: looks.get(name, {}) for name in map(str, node.value.columns)}
        labels = [look.get("label") or name for name, look in shown.items() if not look.get("hidden")]
    elif node.type in ("heading", "tab", "metric"):
        labels = [getattr(node, "value", "") if node.type == "heading" else node.label]
    else:
        labels = []
    return [label for label in labels if SMALL.match(label) and label not in NAMED_DATA]


def assert_plain(test):
    shown = [text for node in addresses.everything(test) for text in texts(node)]
    assert sum(map(len, map(sentences, shown))) > 5
    assert {text[:160]: bad for text in shown if (bad := faults(text))} == {}
    assert long_ones(shown) == []
    assert [bad for node in addresses.everything(test) for bad in small_headings(node)] == []


def test_the_search_sees_what_it_should():
    assert faults("Split: by_job, at best `by_job`") == ["at best", "by_job"]
    assert faults("peak\\_memory\\_bytes") == ["peak_memory_bytes"]
    assert faults("By job · peak memory (GB)") == []
    assert isinstance(Block, type)
