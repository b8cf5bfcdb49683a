"""Which answer tells the result of a question, whoever asks: by its name, so that one loads no other's methods."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workprof.core.answer import Answer, to_json
from workprof.core.question import Question
from workprof.core.records import to_json as fields_of

Tells = Callable[[Any], Answer]


def _late(module: str, name: str) -> Callable[..., Any]:
    """Return a function of a room of the answers, which is imported at its first call."""

    def tell(result: Any, *more: Any) -> Any:
        return getattr(importlib.import_module(f"workprof.answers.{module}"), name)(result, *more)

    return tell


TOLD: Mapping[str, Tells] = {
    "phases.runs": _late("phases", "runs_answer"),
    "phases.detect": _late("phases", "phases_answer"),
    "phases.timeline": _late("phases", "timeline_answer"),
    "phases.methods": _late("phase_methods", "methods_answer"),
    "phases.typical": _late("phase_methods", "typical_answer"),
    "phases.shapes": _late("shapes", "shapes_answer"),
    "phases.growing": _late("growing", "growing_answer"),
    "phases.library": _late("recognition", "library_answer"),
    "phases.align": _late("phases", "aligned_answer"),
    "phases.match": _late("recognition", "match_answer"),
    "phases.known_match": _late("recognition", "match_answer"),
    "phases.course": _late("partial", "course_answer"),
    "phases.early": _late("partial", "early_answer"),
    "phases.evaluate": _late("recognition", "evaluation_answer"),
    "nodes.rank": _late("nodes", "rank_answer"),
    "nodes.groups": _late("node_groups", "groups_answer"),
    "nodes.advice": _late("node_groups", "advice_answer"),
    "nodes.allocation": _late("node_groups", "allocation_answer"),
    "nodes.detect": _late("degradation", "detection_answer"),
    "nodes.history": _late("node_history", "history_answer"),
    "nodes.search": _late("configurations", "search_answer"),
    "profiles.classifier_evaluation": _late("classifier", "classifier_answer"),
    "profiles.classifier_alternatives": _late("alternatives", "alternatives_answer"),
    "profiles.embeddings": _late("embeddings", "embeddings_answer"),
    "profiles.explain_all": _late("classifier", "explanation_answer"),
    "profiles.feedback": _late("feedback", "observed_answer"),
    "profiles.estimate_evaluation": _late("estimates", "estimate_answer"),
    "profiles.baseline": _late("profiles", "baseline_answer"),
    "profiles.hopkins": _late("profiles", "hopkins_answer"),
    "profiles.stability": _late("profiles", "stability_answer"),
    "profiles.membership": _late("membership", "membership_answer"),
    "profiles.sweep": _late("sweep", "sweep_answer"),
    "memory.assess": _late("assessment", "assessment_answer"),
    "memory.fact": _late("assessment", "fact_answer"),
    "memory.train": _late("models", "models_answer"),
    "memory.tables": _late("models", "tables_answer"),
    "memory.replay": _late("policies", "replay_answer"),
    "memory.why": _late("policies", "why_answer"),
    "memory.bins": _late("bins", "answer"),
    "memory.profile_bins": _late("bins", "profile_answer"),
    "memory.changes": _late("changes", "changes_answer"),
    "memory.chargeback": _late("chargeback", "chargeback_answer"),
    "memory.over_time": _late("over_time", "over_time_answer"),
    "memory.over_time_runs": _late("over_time", "over_time_runs_answer"),
    "memory.ledger": _late("ledger", "ledger_answer"),
    "memory.ledger_runs": _late("ledger", "ledger_runs_answer"),
    "memory.verdict": _late("verdict", "verdict_answer"),
    "memory.rollup": _late("rollup", "rollup_answer"),
    "memory.demand": _late("demand", "demand_answer"),
    "memory.schedule": _late("schedule", "schedule_answer"),
    "memory.improvement": _late("bins", "curve_answer"),
    "memory.profile_improvement": _late("bins", "curve_answer"),
}
"""By the question's name."""

NAMED: Mapping[str, Callable[[Any, Sequence[str]], Answer]] = {
    "profiles.fit": _late("profiles", "fit_answer"),
    "profiles.durations": _late("durations", "usual_answer"),
}
"""Those that take the names of profiles, by label, the last one 'Unclustered'; their fields stay in their documents."""

PROFILE = "profile"
PEOPLE: Mapping[str, Callable[[Any, Sequence[str]], Any]] = {
    "memory.over_time": _late("over_time", "called"),
    "memory.demand": _late("demand", "called"),
    "memory.ledger": _late("ledger", "called"),
    "memory.ledger_runs": _late("ledger", "runs_called"),
}
"""Results for people, where rows are of profiles: documents keep their numbers, and say their names in sentences."""

DOCUMENTS: Mapping[str, Callable[[Any], Any]] = {
    "phases.runs": _late("phases", "runs_document"),  # a list
}
"""Documents of their own, by the question's name."""


def document_of(
    question: Question[Any, Any],
    result: Any,
    answer: Answer | None = None,
    names: Callable[[], Sequence[str]] | None = None,
) -> Any:
    """The document of a result, as commands and the service give it; its fields where no answer tells it.

    `answer` is what tells it, where that is made already; `names` finds those of profiles, for `NAMED` and `PEOPLE`.
    """
    if question.name in DOCUMENTS:
        return DOCUMENTS[question.name](result)
    if answer is None and question.name in NAMED and names is not None:
        return _beside(fields_of(result), to_json(NAMED[question.name](result, names())))
    tells = TOLD.get(question.name)
    if answer is None and tells is not None:
        answer = tells(result)
    if answer is None:
        return fields_of(result)
    document = to_json(answer)
    by_profile = question.name in PEOPLE and getattr(result.settings, "ledger", result.settings).by == PROFILE
    if names is not None and tells is not None and by_profile:
        said = tells(PEOPLE[question.name](result, names()))
        document |= {"sentence": said.sentence} | ({"notes": list(said.notes)} if said.notes else {})
    return document


def _beside(fields: Any, told: Any) -> Any:
    """What is told, with the fields of the same place that are called otherwise."""
    if isinstance(fields, dict) and isinstance(told, dict):
        return fields | {name: _beside(fields.get(name), one) for name, one in told.items()}
    if isinstance(fields, list) and isinstance(told, list) and len(fields) == len(told):
        return [_beside(*pair) for pair in zip(fields, told, strict=True)]
    return told
