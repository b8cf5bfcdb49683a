"""Would the choice of a factor hold on a workflow that it was not made on?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.errors import NotEnoughData
from workprof.nodes.transfer.factors import FACTORS
from workprof.nodes.transfer.transfer import ErrorFigures, Transfer, error_figures


@dataclass(frozen=True)
class HeldOutChoice:
    """The factor of the smallest median error on all other workflows, and its errors on this one.

    Attributes:
        workflow: held out.
        chosen: factor.
        errors: of the chosen factor on the workflow.
        by_factor: factor -> its errors on the workflow.
    """

    workflow: str
    chosen: str
    errors: ErrorFigures
    by_factor: dict[str, ErrorFigures]


def leave_one_workflow_out(found: Transfer) -> tuple[HeldOutChoice, ...]:
    """Return, for each workflow, the factor that the others would choose and what it then does.

    Raises:
        NotEnoughData: with a single workflow.
    """
    told = found.predicted
    workflows = sorted(set(told.workflow.tolist()))
    if len(workflows) < 2:
        raise NotEnoughData(f"leaving one workflow out needs two, there is {workflows[0]!r} only")
    factors = [name for name in told.by_method if name in FACTORS]
    choices = []
    for workflow in workflows:
        out = told.workflow == workflow
        others = {name: error_figures(told.by_method[name][~out], told.measured_s[~out]) for name in factors}
        here = {name: error_figures(told.by_method[name][out], told.measured_s[out]) for name in factors}
        chosen = min(factors, key=lambda name: others[name].median)
        choices.append(HeldOutChoice(workflow, chosen, here[chosen], here))
    return tuple(choices)


def held_out_errors(found: Transfer, choices: tuple[HeldOutChoice, ...]) -> ErrorFigures:
    """Return the errors over all workflows, each predicted by the factor that the others chose."""
    told = found.predicted
    chosen = {one.workflow: one.chosen for one in choices}
    predicted_s = np.array(
        [told.by_method[chosen[str(workflow)]][place] for place, workflow in enumerate(told.workflow)]
    )
    return error_figures(predicted_s, told.measured_s)
