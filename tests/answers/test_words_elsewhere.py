"""Sentences and tables are made in `answers`: charts, commands, pages, report and service have no text with a unit."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("workprof/charts", "workprof/cli", "pages", "workprof/report", "workprof/service")
AMOUNT = r"(?:\{\}|\d)"
UNIT = re.compile(
    rf"{AMOUNT} ?(?:%|×|GB·h|GB|GiB|MB|kB|ms|min|h|s|d|USD)(?![\w-])"
    rf"|{AMOUNT} (?:more |other |newer |of the )?(?:runs?|jobs?|rows?|nodes?|tasks?|samples?|settings|profiles|groups"
    r"|clusters|seconds|hours|workloads?|counters?|phases?|bins?|users?)\b"
    r"|GB·h"
)
ALONE = re.compile(rf"[-+±. ]*(?:{AMOUNT}|[.,])* ?(?:%|ms|min|h|s|d|MB|GB|B)|#[0-9a-f]{{6}}|0 min|(?:lasso|select)2d")
"""An amount alone is a tick or a choice of a control; colours and Plotly's names of buttons are no words."""
WHOLE = {
    "workprof/charts/help": "The glossary and the methods: documents that explain, they tell no result.",
    "pages/_help": "They show the glossary and the methods.",
    "pages/_login": "Names of visitors and how long a login holds: no answer to a question.",
    "workprof/charts/theme.py": "Colours and sizes of figures, in pixels.",
}
"""Folder or file -> why all of it may have units."""
WITHIN = {
    "title": "The title of an axis has its unit.",
    "ticktext": "So have its ticks.",
    "tickformat": "And their format.",
    "hover": "What Plotly writes at a mark: the unit of the axis behind the number.",
    "hovertemplate": "Likewise.",
    "shows": "What is drawn, for those who cannot see it: how many marks of what.",
    "alt": "Likewise, of a table.",
    "help": "The help of a control or an option says its unit.",
    "label": "So does its label.",
    "metavar": "And what stands for its value.",
    "placeholder": "And an example of it.",
}
"""Keyword or key of a dictionary -> why the text that it names may have a unit."""
CALLS = {
    "number": "An input of a page: its label and its help.",
    "choice": "Likewise.",
    "toggle": "Likewise.",
    "text_input": "Likewise.",
    "selectbox": "Likewise.",
    "Option": "An option of a command: its help.",
    "Argument": "Likewise.",
    "Setting": "Likewise.",
    "Headline": "Figures of a dataset that no question answers.",
    "compile": "A pattern that reads texts.",
}
"""Called function -> why its texts may have units."""
REMAINING: dict[str, int] = {}
"""Texts with a unit that are left, by file: move them to `workprof/answers`, and lower the number."""


def texts(tree):
    """Return (line, text) of every text that is neither a docstring nor named or passed as an exception."""
    skipped, found = set(), []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            skipped |= {id(one.value) for one in node.body if isinstance(one, ast.Expr)}
        named = []
        if isinstance(node, ast.keyword) and node.arg in WITHIN:
            named = [node.value]
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            named = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value in WITHIN]
        elif isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in CALLS:
            named = [*node.args, *(one.value for one in node.keywords)]
        skipped |= {id(inner) for one in named for inner in ast.walk(one)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(inner) for inner in ast.walk(node)}
            found.append((node.lineno, "".join(_part(one) for one in node.values)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append((node.lineno, node.value))
    return [
        (line, text)
        for line, text in found
        if UNIT.search(text) and "%{" not in text and not ALONE.fullmatch(text.strip())
    ]


WORDED = {
    "format_share": "%",
    "format_duration": "s",
    "format_bytes": "GB",
    "gb": "GB",
    "gb_h": "GB·h",
    "formatted": "GB",
}
"""Function that writes an amount with its unit -> that unit, or one like it."""


def _part(one):
    if isinstance(one, ast.Constant):
        return one.value
    called = getattr(one.value, "func", None)
    name = getattr(called, "id", "") or getattr(called, "attr", "")
    if name == "counted" and isinstance(one.value.args[1], ast.Constant):
        return f"{{}} {one.value.args[1].value.split()[-1]}s"
    return f"{{}} {WORDED[name]}" if name in WORDED else "{}"


def found_in(room):
    """Return file -> its texts with a unit."""
    result = {}
    for path in sorted((ROOT / room).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if not any(name == one or name.startswith(f"{one}/") for one in WHOLE):
            own = texts(ast.parse(path.read_text(encoding="utf-8")))
            result |= {name: own} if own else {}
    return result


@pytest.mark.parametrize("room", ROOMS)
def test_no_text_with_a_unit_is_made_outside_of_answers(room):
    found = found_in(room)
    counts = {name: len(own) for name, own in found.items()}
    allowed = {name: n for name, n in REMAINING.items() if name.startswith(f"{room}/")}
    assert counts == allowed, {name: own for name, own in found.items() if len(own) != allowed.get(name, 0)}


def test_the_search_sees_what_it_should():
    planted = '''
def draw(n):
    """Return 12 runs."""
    figure(title=f"Memory ({n} GB)", hover="%{x} runs", note=f"{n:,} runs of 3 s", takeaway="12 % are idle.")
    words = f"{n} profiles", f"{format_share(n)} of {counted(n, 'new job')}", "99.5 %"
    return words, f"{n} of them", "Hours"
'''
    found = [text for _, text in texts(ast.parse(planted))]
    assert found == ["{} runs of 3 s", "12 % are idle.", "{} profiles", "{} % of {} jobs"]


def test_every_exception_is_needed():
    source = [path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    for name in (*WITHIN, *CALLS):
        assert any(re.search(rf"\b{name}\b", text) for text in source), name
    assert all((ROOT / one).exists() for one in WHOLE)
