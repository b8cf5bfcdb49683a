"""Figures and tables of nodes: rankings, aspects, groups, advice, degradation, transfer."""

from workprof.charts.nodes.advice import advice_sentence, best_price_sentence, use_table, weight_bars
from workprof.charts.nodes.aspects import aspect_lines, aspect_table
from workprof.charts.nodes.code_map import code_map
from workprof.charts.nodes.detection import (
    detection_headlines,
    detection_reliability,
    detectors_table,
    orientation_table,
    reconstruction_errors,
    trust_sentence,
    unscored_table,
    unseen_metrics_table,
)
from workprof.charts.nodes.groups import groups_headlines, groups_sentence, groups_table, silhouette_bars
from workprof.charts.nodes.ranked import OVERALL, ranked_bars, ranking_sentence
from workprof.charts.nodes.scenarios import leaders_sentence, node_comparison_table, node_scenario_table
from workprof.charts.nodes.tables import (
    degraded_sentences,
    dropped_sentence,
    dropped_table,
    leave_out_table,
    node_table,
    pair_table,
    ranking_headlines,
    robustness_sentence,
)
from workprof.charts.nodes.timeline import runs_table, timeline
from workprof.charts.nodes.transfer import interval_sentence, transfer_bars, transfer_table

__all__ = [
    "OVERALL",
    "advice_sentence",
    "aspect_lines",
    "aspect_table",
    "best_price_sentence",
    "code_map",
    "degraded_sentences",
    "detection_headlines",
    "detection_reliability",
    "detectors_table",
    "dropped_sentence",
    "dropped_table",
    "groups_headlines",
    "groups_sentence",
    "groups_table",
    "interval_sentence",
    "leaders_sentence",
    "leave_out_table",
    "node_comparison_table",
    "node_scenario_table",
    "node_table",
    "orientation_table",
    "pair_table",
    "ranked_bars",
    "ranking_headlines",
    "ranking_sentence",
    "reconstruction_errors",
    "robustness_sentence",
    "runs_table",
    "silhouette_bars",
    "timeline",
    "transfer_bars",
    "transfer_table",
    "trust_sentence",
    "unscored_table",
    "unseen_metrics_table",
    "use_table",
    "weight_bars",
]
