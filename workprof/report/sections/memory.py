"""What jobs ask for and use, what a plan would save, and what it would break."""

from __future__ import annotations

from workprof.charts.memory.boxes import task_boxes
from workprof.charts.memory.models import learning_curve
from workprof.charts.memory.plans import plan_table, rollup_bars, rollup_headlines, rollup_sentence, rollup_table
from workprof.charts.memory.policies import frontier_chart, policy_headlines, policy_table
from workprof.charts.memory.tasks import (
    assessment_headlines,
    assessment_sentence,
    classes_chart,
    group_table,
    left_out_words,
    task_table,
)
from workprof.errors import ColumnMissing
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.replay import ReplaySettings
from workprof.memory.rollup import RollupSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

REQUEST = "requested_memory_bytes"


def _memory(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    if REQUEST not in {column.name for column in workbench.columns(dataset.hash)}:
        raise ColumnMissing(f"savings compare with requests, and {dataset.name} has no column {REQUEST}; map it")
    asked, plan, policies = AssessmentSettings(), RollupSettings(), ReplaySettings()
    assessed = workbench.assessment(dataset.hash, asked, progress)
    rolled = workbench.rollup(dataset.hash, plan, progress)
    replayed = through_job(workbench.replay, dataset.hash, policies, progress)
    return Content(
        settings={"assessment": asked, "plan": plan, "replay": policies},
        headlines=(*assessment_headlines(assessed), *rollup_headlines(rolled), *policy_headlines(replayed, 0.0)),
        words=(assessment_sentence(assessed), rollup_sentence(rolled), left_out_words(assessed.left_out)),
        charts=(
            task_boxes(assessed),
            classes_chart(assessed),
            rollup_bars(rolled),
            frontier_chart(replayed, 0.0),
            learning_curve(replayed),
        ),
        tables=(
            Table("Tasks, most GB·h wasted first", "memory-tasks", task_table(assessed)),
            Table("Tasks by what they ask for", "memory-groups", group_table(assessed)),
            Table("Before and after the plan", "memory-rollup", rollup_table(rolled)),
            Table("The plan", "memory-plan", plan_table(rolled.plan)),
            Table("Policies on the same runs", "memory-policies", policy_table(replayed)),
        ),
    )


MEMORY = Kind("memory", "Memory", "memory", JOBS, _memory)
