"""Figures and tables of memory: what is asked for and used, bins, models, policies, roll-ups, scenarios."""

from workprof.charts.memory.bins import bin_headlines, bin_table
from workprof.charts.memory.classes import classes_chart, with_limits
from workprof.charts.memory.confusion import bin_confusion
from workprof.charts.memory.facts import fact_bars, fact_scatter, fact_table, facts_of_task
from workprof.charts.memory.frontier import frontier_chart
from workprof.charts.memory.headlines import assessment_headlines, assessment_sentence, left_out_words
from workprof.charts.memory.improvement import improvement_chart
from workprof.charts.memory.learning import learning_curve
from workprof.charts.memory.models import (
    estimated_and_replayed,
    every_model,
    importance_table,
    input_words,
    model_headlines,
    model_sentence,
    model_table,
    ranking_warning,
)
from workprof.charts.memory.policies import (
    choice_table,
    picked,
    policy_headlines,
    policy_name,
    policy_table,
)
from workprof.charts.memory.profile_bins import (
    profile_bins_scenario,
    profile_headlines,
    profile_notes,
    profile_sentence,
)
from workprof.charts.memory.published_tables import (
    best_models_table,
    binnings_sentence,
    binnings_table,
    samplings_table,
)
from workprof.charts.memory.reasons import why_costs, why_headlines, why_history, why_sentence
from workprof.charts.memory.rollup import plan_table, rollup_bars, rollup_headlines, rollup_sentence, rollup_table
from workprof.charts.memory.scenarios import (
    bins_scenario,
    comparison_table,
    models_scenario,
    policy_scenario,
    rollup_scenario,
    scenario_table,
)
from workprof.charts.memory.task_boxes import task_boxes, zoom_end_gb
from workprof.charts.memory.tasks import group_table, task_table
from workprof.charts.memory.usage import bins_sentence, usage_ecdf
from workprof.charts.memory.violations import violations_sentence, violations_table
from workprof.charts.memory.waterfall import waterfall
from workprof.charts.memory.words import task_labels

__all__ = [
    "assessment_headlines",
    "assessment_sentence",
    "best_models_table",
    "bin_confusion",
    "bin_headlines",
    "bin_table",
    "binnings_sentence",
    "binnings_table",
    "bins_scenario",
    "bins_sentence",
    "choice_table",
    "classes_chart",
    "comparison_table",
    "estimated_and_replayed",
    "every_model",
    "fact_bars",
    "fact_scatter",
    "fact_table",
    "facts_of_task",
    "frontier_chart",
    "group_table",
    "importance_table",
    "improvement_chart",
    "input_words",
    "learning_curve",
    "left_out_words",
    "model_headlines",
    "model_sentence",
    "model_table",
    "models_scenario",
    "picked",
    "plan_table",
    "policy_headlines",
    "policy_name",
    "policy_scenario",
    "policy_table",
    "profile_bins_scenario",
    "profile_headlines",
    "profile_notes",
    "profile_sentence",
    "ranking_warning",
    "rollup_bars",
    "rollup_headlines",
    "rollup_scenario",
    "rollup_sentence",
    "rollup_table",
    "samplings_table",
    "scenario_table",
    "task_boxes",
    "task_labels",
    "task_table",
    "usage_ecdf",
    "violations_sentence",
    "violations_table",
    "waterfall",
    "why_costs",
    "why_headlines",
    "why_history",
    "why_sentence",
    "with_limits",
    "zoom_end_gb",
]
