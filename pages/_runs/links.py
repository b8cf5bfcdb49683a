"""Where a kept run can be looked at: the page of its question, with every setting in the address."""

import contextlib
from typing import Any

from workprof.core.errors import NotEnoughData
from workprof.core.question import parameters_of as settings_of
from workprof.nodes.advice import AdviceSettings
from workprof.nodes.allocation import AllocationSettings
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings
from workprof.workbench.declared import STORED, question_of

Parameters = dict[str, str | list[str]]

CHOOSE_CLUSTERING = ("durations", "memory")
"""Pages whose address names a clustering."""


def page_of(step: str) -> str:
    """Return the name of the page that shows a step; Home where no question declares it."""
    if step not in STORED:
        return "home"
    question = STORED[step]
    return (question.made_by[0] if question.made_by else question).page


def fit_parameters(step: str, clustering: ProfileSettings) -> Parameters:
    """Return the clustering that a run rests on for the Profiles page's form, but for what the run says itself."""
    own = {key for leaf in STORED[step].leaves for key in (leaf.key(FIT.page), leaf.words_key(FIT.page))}
    return {key: text for key, text in settings_of(FIT, clustering).items() if key not in own}


def parameters_of(step: str, dataset: str, settings: Any, task_label: str = "") -> Parameters:
    """Return the address's parameters that show a run on its page; settings are None where they are not known.

    `task_label` is how the Memory page calls the task; '' = all tasks, or not known.
    """
    result: Parameters = {"ds": dataset}
    if step not in STORED:
        return result
    question, own_settings = STORED[step], settings
    if settings is not None:
        with contextlib.suppress(NotEnoughData):  # of no sweep that can be started again: the page opens as it is
            question, own_settings = question_of(step, settings)
    if question.tab:
        result[f"{question.page}_tab"] = question.tab
    if settings is not None:
        result |= settings_of(question, own_settings)
    if isinstance(own_settings, AdviceSettings) and own_settings.ranking.weights:
        result["nodes_weights"] = "own"
    if isinstance(own_settings, AllocationSettings):
        result["nodes_allocation"] = "true"
    return result | ({"memory_task": task_label} if task_label else {})
