"""Help: what do the terms mean, which methods are used, and which formats can be read?"""

from __future__ import annotations

from pages import _shell
from pages._frame.visit import Visit
from pages._help import views
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Help", "What do the terms mean, which methods are used, and which formats can be read?", "", kind=""
)
VIEWS = {
    "Glossary": views.glossary,
    "Settings": views.settings,
    "Methods": views.methods,
    "As published": views.definitions,
    "Formats": views.formats,
    "Limits and shortcuts": views.limits,
    "Diagnostics": views.diagnostics_view,
}


def everything(visit: Visit) -> None:
    """Show the chosen view; no dataset is needed."""
    tabs.show_open("help_tab", VIEWS, visit)


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the same whatever the dataset is."""
    del dataset
    everything(visit)


_shell.run(PAGE, body, everything)
