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
    "workprof/answers/help": "The glossary and the methods: documents that explain, they tell no result.",
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
REMAINING: dict[str, int] = {
    "pages/_classify/batch.py": 2,
    "pages/_classify/effects.py": 1,
    "pages/_classify/model.py": 2,
    "pages/_classify/one_job.py": 2,
    "pages/_classify/training.py": 2,
    "pages/_data/catalogue.py": 2,
    "pages/_data/mapping.py": 1,
    "pages/_frame/copy_link.py": 1,
    "pages/_frame/scope_bar.py": 2,
    "pages/_home/over_time.py": 2,
    "pages/_home/views.py": 3,
    "pages/_memory/ledger.py": 3,
    "pages/_memory/models.py": 3,
    "pages/_memory/plan.py": 4,
    "pages/_memory/policies.py": 3,
    "pages/_memory/tasks.py": 2,
    "pages/_nodes/degradation.py": 1,
    "pages/_nodes/ranking.py": 1,
    "pages/_parts/clusterings.py": 1,
    "pages/_parts/report_files.py": 2,
    "pages/_parts/running_work.py": 2,
    "pages/_parts/tables.py": 1,
    "pages/_phases/known.py": 2,
    "pages/_phases/live.py": 1,
    "pages/_phases/timeline.py": 2,
    "pages/_profiles/form.py": 4,
    "pages/_profiles/one_profile.py": 7,
    "pages/_profiles/overview.py": 1,
    "pages/_profiles/selection.py": 2,
    "pages/_profiles/views.py": 3,
    "pages/_runs/campaigns.py": 1,
    "pages/_runs/one.py": 1,
    "pages/durations.py": 1,
    "pages/home.py": 1,
    "workprof/charts/data.py": 4,
    "workprof/charts/durations/observed.py": 1,
    "workprof/charts/home.py": 15,
    "workprof/charts/memory/bins.py": 3,
    "workprof/charts/memory/boxes.py": 2,
    "workprof/charts/memory/ledger.py": 6,
    "workprof/charts/memory/models.py": 2,
    "workprof/charts/memory/policies.py": 1,
    "workprof/charts/memory/tasks.py": 2,
    "workprof/charts/memory/verdict.py": 4,
    "workprof/charts/over_time.py": 6,
    "workprof/charts/tour.py": 9,
    "workprof/cli/campaign.py": 1,
    "workprof/cli/console.py": 2,
    "workprof/cli/datasets.py": 7,
    "workprof/cli/forecasts.py": 2,
    "workprof/cli/ledger.py": 5,
    "workprof/cli/memory.py": 1,
    "workprof/cli/nodes_suite.py": 4,
    "workprof/cli/over_time.py": 9,
    "workprof/cli/pull.py": 1,
    "workprof/cli/record.py": 3,
    "workprof/cli/serve.py": 2,
    "workprof/cli/size.py": 2,
    "workprof/cli/synth.py": 1,
    "workprof/report/html.py": 2,
    "workprof/report/sections.py": 1,
    "workprof/report/summary.py": 3,
    "workprof/service/app.py": 1,
    "workprof/service/guard.py": 3,
}
"""Texts with a unit that are left, by file: move them to `workprof/answers`, and lower the number."""


def excepted(node):
    """Return the parts of a node that an exception names."""
    if isinstance(node, ast.keyword) and node.arg in WITHIN:
        return [node.value]
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in WITHIN:
        return [node.value]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [value for key, value in pairs if isinstance(key, ast.Constant) and key.value in WITHIN]
    if isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in CALLS:
        return [*node.args, *(one.value for one in node.keywords)]
    return []


def texts(tree):
    """Return (line, text) of every text that is neither a docstring nor named or passed as an exception."""
    skipped, found = set(), []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            skipped |= {id(one.value) for one in node.body if isinstance(one, ast.Expr)}
        skipped |= {id(inner) for one in excepted(node) for inner in ast.walk(one)}
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


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_no_text_with_a_unit_is_made_outside_of_answers(room):
    found = found_in(room)
    counts = {name: len(own) for name, own in found.items()}
    assert not {name: found[name] for name, n in counts.items() if n > REMAINING.get(name, 0)}


def test_the_search_sees_what_it_should():
    planted = '''
def draw(n):
    """Return 12 runs."""
    figure(title=f"Memory ({n} GB)", hover="%{x} runs", note=f"{n:,} runs of 3 s", takeaway="12 % are idle.")
    words = f"{n} profiles", f"{format_share(n)} of {counted(n, 'new job')}", "99.5 %"
    return words, f"{n} of them", "Hours"
'''
    found = {text for _, text in texts(ast.parse(planted))}
    assert found == {"{} runs of 3 s", "12 % are idle.", "{} profiles", "{} % of {} jobs"}


def test_every_exception_is_needed():
    source = [path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    for name in (*WITHIN, *CALLS):
        assert any(re.search(rf"\b{name}\b", text) for text in source), name
    assert all((ROOT / one).exists() for one in WHOLE)
