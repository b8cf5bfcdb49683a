"""Memory: how much is wasted, what would better requests save, and at what risk?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame.errors import lacking
from pages._frame.visit import Visit
from pages._memory import bins, demand, ledger, models, nodes_needed, plan, policies, scenarios, scope, tasks
from pages._memory.scope import PageContext
from pages._parts import forms, tabs
from workprof.core.errors import NotEnoughData
from workprof.memory.questions import QUESTIONS
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Memory",
    "How much memory is wasted, what would better requests save, and at what risk?",
    "Memory needs a dataset with the columns peak_memory_bytes and duration_s, and for savings "
    "requested_memory_bytes (or one request for all, set here).",
    resets=True,
)


def _plan(context: PageContext) -> None:
    """Show the plan; where nothing can be sized, why, and the ledger."""
    try:
        plan.plan(context)
    except NotEnoughData as error:
        lacking(str(error))
        ledger.without_memory(context.visit, context.dataset)


VIEWS = {
    "Plan": _plan,
    "Explore": tabs.parts(
        "memory_explore",
        {
            "Tasks": tasks.tasks,
            "Ledger": ledger.ledger,
            "Nodes needed": nodes_needed.nodes_needed,
            "Demand": demand.demand,
        },
    ),
    "Bins": bins.bins,
    "Compare": tabs.parts("memory_compare", {"Policies": policies.policies, "Models": models.models}),
    "Scenarios": scenarios.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what the page is about, then the chosen view."""
    forms.arrive("memory", QUESTIONS)
    above, views, below = st.container(), st.container(), st.container()
    context = scope.context(visit, dataset, above, below)
    if context is None:
        ledger.without_memory(visit, dataset)
        return
    with views:
        tabs.show_open(scope.TAB, VIEWS, context)


_shell.run(PAGE, body)
