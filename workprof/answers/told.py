"""Which answer tells the result of a question, whoever asks."""

from collections.abc import Callable, Mapping
from typing import Any

from workprof.answers import (
    alternatives,
    assessment,
    bins,
    changes,
    chargeback,
    classifier,
    configurations,
    degradation,
    estimates,
    feedback,
    ledger,
    membership,
    models,
    node_groups,
    nodes,
    over_time,
    phase_methods,
    phases,
    policies,
    profiles,
    recognition,
    rollup,
    schedule,
    sweep,
    verdict,
)
from workprof.core.answer import Answer, to_json
from workprof.core.question import Question
from workprof.core.records import to_json as fields_of
from workprof.forecasts import questions as of_forecasts
from workprof.memory import questions as memory
from workprof.nodes import questions as of_nodes
from workprof.phases import questions as of_phases
from workprof.profiles import questions as of_profiles

Tells = Callable[[Any], Answer]

TOLD: Mapping[str, Tells] = {
    of_phases.RUNS.name: phases.runs_answer,
    of_phases.DETECT.name: phases.phases_answer,
    of_phases.TIMELINE.name: phases.timeline_answer,
    of_phases.METHODS.name: phase_methods.methods_answer,
    of_phases.TYPICAL.name: phase_methods.typical_answer,
    of_phases.LIBRARY.name: recognition.library_answer,
    of_phases.ALIGN.name: phases.aligned_answer,
    of_phases.MATCH.name: recognition.match_answer,
    of_phases.KNOWN_MATCH.name: recognition.match_answer,
    of_phases.EVALUATE.name: recognition.evaluation_answer,
    of_nodes.RANK.name: nodes.rank_answer,
    of_nodes.GROUPS.name: node_groups.groups_answer,
    of_nodes.ADVICE.name: node_groups.advice_answer,
    of_nodes.ALLOCATE.name: node_groups.allocation_answer,
    of_nodes.DETECT.name: degradation.detection_answer,
    of_nodes.SEARCH.name: configurations.search_answer,
    of_forecasts.EVALUATE_CLASSIFIER.name: classifier.classifier_answer,
    of_forecasts.ALTERNATIVES.name: alternatives.alternatives_answer,
    of_forecasts.EXPLAIN.name: classifier.explanation_answer,
    of_forecasts.OBSERVE.name: feedback.observed_answer,
    of_forecasts.EVALUATE_ESTIMATES.name: estimates.estimate_answer,
    of_profiles.BASELINE.name: profiles.baseline_answer,
    of_profiles.HOPKINS.name: profiles.hopkins_answer,
    of_profiles.STABILITY.name: profiles.stability_answer,
    of_profiles.MEMBERSHIP.name: membership.membership_answer,
    of_profiles.SWEEP.name: sweep.sweep_answer,
    memory.ASSESS.name: assessment.assessment_answer,
    memory.FACT.name: assessment.fact_answer,
    memory.TRAIN.name: models.models_answer,
    memory.TABLES.name: models.tables_answer,
    memory.REPLAY.name: policies.replay_answer,
    memory.WHY.name: policies.why_answer,
    memory.BINS.name: bins.answer,
    memory.PROFILE_BINS.name: bins.profile_answer,
    memory.CHANGES.name: changes.changes_answer,
    memory.CHARGEBACK.name: chargeback.chargeback_answer,
    memory.OVER_TIME.name: over_time.over_time_answer,
    memory.OVER_TIME_RUNS.name: over_time.over_time_runs_answer,
    memory.LEDGER.name: ledger.ledger_answer,
    memory.LEDGER_RUNS.name: ledger.ledger_runs_answer,
    memory.VERDICT.name: verdict.verdict_answer,
    memory.ROLLUP.name: rollup.rollup_answer,
    memory.SCHEDULE.name: schedule.schedule_answer,
    memory.CURVE.name: bins.curve_answer,
    memory.PROFILE_CURVE.name: bins.curve_answer,
}
"""By the question's name."""

OF_RECORD: Mapping[type, Tells] = {
    question.result: TOLD[question.name]
    for room in (of_profiles, of_forecasts, memory, of_nodes, of_phases)
    for question in room.QUESTIONS
    if question.name in TOLD
}
"""By the class of the result."""


DOCUMENTS: Mapping[str, Callable[[Any], Any]] = {
    of_phases.RUNS.name: phases.runs_document,  # a list
}
"""Documents of their own, by the question's name."""


def document_of(question: Question[Any, Any], result: Any) -> Any:
    """The document of a result, as commands and the service give it; its fields where no answer tells it."""
    if question.name in DOCUMENTS:
        return DOCUMENTS[question.name](result)
    tells = TOLD.get(question.name)
    return fields_of(result) if tells is None else to_json(tells(result))
