"""Where a kept run can be looked at: the page of its step, with its settings in the address as far as it has them."""

from __future__ import annotations

from typing import Any

from pages._runs.parameters import MAKERS, Parameters
from workprof.core.question import parameters_of as core_parameters
from workprof.nodes.advice import AdviceSettings
from workprof.workbench.declared import DECLARED, declared_of

PAGES = {"sweep_group": "sweep"}
ROOMS = {"profiles": "profiles", "memory": "memory", "nodes": "nodes", "phases": "phases"}
CHOOSE_CLUSTERING = ("durations", "memory")
"""Pages whose address names a clustering."""
TABS = {step: question.tab for step, question in DECLARED.items() if question.tab}


def page_of(step: str) -> str:
    """Return the name of the page that shows a step."""
    if step in DECLARED:
        return DECLARED[step].page
    room, _, name = step.partition(".")
    return PAGES.get(name, ROOMS.get(room, "home"))


def parameters_of(step: str, dataset: str, settings: Any, task_label: str = "") -> Parameters:
    """Return the address's parameters that show a run on its page; settings that the page has no control for are left.

    Args:
        step: of the run.
        dataset: content hash.
        settings: its record; None = not known.
        task_label: how the Memory page calls the task; '' = all tasks, or not known.
    """
    found: Parameters = {"ds": dataset}
    if step in TABS:
        found[f"{page_of(step)}_tab"] = TABS[step]
    make = MAKERS.get(type(settings))
    question, asked = declared_of(step, settings) if settings is not None else (None, None)
    if question is not None:
        found |= core_parameters(question, asked)
        if isinstance(asked, AdviceSettings) and asked.ranking.weights:
            found["nodes_weights"] = "own"
    elif make is not None:
        found |= make(settings)
    if task_label:
        found["memory_task"] = task_label
    return found
