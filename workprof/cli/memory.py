"""The commands on memory: what their results are as JSON and as text; their options are the declared settings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import workprof
from workprof.answers import verdict_exports
from workprof.answers.compared import compared_answer
from workprof.answers.decisions import left_out_words
from workprof.cli import decisions, ledger, over_time
from workprof.cli.console import (
    OUT,
    STDOUT,
    Dataset,
    emit,
    emit_file,
    opened,
    parameter,
    progress_line,
    register,
    table,
    warn,
)
from workprof.cli.questions import Face, Former, add, add_others, answered, options, settings_of
from workprof.core.answer import to_text as answer_text
from workprof.core.errors import SettingsError
from workprof.core.fields import read
from workprof.core.question import Question
from workprof.core.shares import in_words
from workprof.core.units import GB, format_share
from workprof.memory import questions
from workprof.memory.assessment import Assessment
from workprof.memory.exports import EXPORTS, Origin, exported, never_line
from workprof.memory.facts import FactPoints
from workprof.memory.model_tables import PredictorTables
from workprof.memory.models import PredictorResult
from workprof.memory.policies import BY_TASK
from workprof.memory.replay import ReplayResult, sized_from_words
from workprof.memory.rollup import Rollup
from workprof.memory.size_lists import SizeList
from workprof.memory.usage import TARGET_WORDS, evidence_words, excluded_words, lower_bound_words
from workprof.memory.why import Why
from workprof.store.outputs import checked_output, write_whole

app = typer.Typer(
    help="What better requests would save, and what they would break.", no_args_is_help=True, rich_markup_mode=None
)

SHOWN_TASKS = SHOWN_ROWS = 30
PARTS = 4
"""Of the runs in order of a number, for people; `--json` has the points."""


@app.callback()
def memory() -> None:
    """What sizes would save, and what they would break."""


def _assessment_text(result: Assessment) -> str:
    whole = result.memory
    rows: list[dict[str, object]] = [
        {
            "task": one.task if len(one.task) <= 48 else f"...{one.task[-45:]}",
            "runs": f"{one.n:,}{' (few)' if one.too_few else ''}",
            "request GB": f"{one.requested_gb:.2f}",
            "peak p50 / max GB": f"{one.peak_gb.p50:.2f} / {one.peak_gb.max:.2f}",
            "used": format_share(one.utilisation),
            "used, by time": format_share(one.utilisation_by_time),
            "wasted GB·h": f"{one.wasted_gb_h:,.1f}",
            "class": one.size_class,
        }
        for one in result.tasks[:SHOWN_TASKS]
    ]
    head = (
        f"{result.n_judged:,} of {result.n_finished:,} finished runs have a request and a use: they use "
        f"{format_share(whole.utilisation)} of the memory that they request, {format_share(whole.utilisation_by_time)} "
        f"weighted by run time.\nGB·h: {result.requested_gb_h:,.4g} requested by {result.n_requesting:,} of these, "
        f"{result.used_gb_h:,.4g} used by {result.n_runs:,}, {result.wasted_gb_h:,.4g} not used by {result.n_judged:,}"
    )
    if result.n_lower_bound:
        head += f".\n{lower_bound_words(result.n_lower_bound, result.n_runs).capitalize()}"
    if result.evidence:
        head += f"\n{evidence_words(result.evidence)}"
    rest = len(result.tasks) - len(rows)
    return f"{head}\n\n{table(rows)}" + (f"\n... and {rest} more tasks: --json has all" if rest else "")


def fact_text(result: FactPoints) -> str:
    """Return the use by category, or by quarters of the runs in order of the number."""
    settings = result.settings
    whose = f"task {settings.task}" if settings.task else "all tasks"
    head = f"{settings.column} ({result.kind}, {result.known}) of {whose}: {result.n:,} runs, "
    head += f"{result.n_missing:,} without it"
    return f"{head}\n\n{table(_boxes(result) or _quarters(result))}"


def why_text(result: Why) -> str:
    """Return the sizes of the next run, what they rest on, and the retry probability."""
    sizes = ", then ".join(f"{size / GB:.3f}" for size in (result.size_bytes, result.next_bytes, result.last_bytes))
    odds = result.odds_of_retry
    request = (
        "" if np.isnan(result.requested_bytes) else f"; the last one requested {result.requested_bytes / GB:.3f} GB"
    )
    few = "\nso few runs make it a guess" if result.too_few else ""
    cheapest = result.candidate_bytes[int(result.candidate_cost_gb_h.argmin())]
    return (
        f"{result.settings.task}: {sizes} GB by {BY_TASK}, from {result.n_known:,} runs that used up to "
        f"{result.used_bytes.max() / GB:.3f} GB{request}\n"
        f"{result.n_above:,} of them used more; {result.retried:,} of {result.n_tried:,} sized so in turn failed "
        f"({format_share(odds.low)} to {format_share(odds.high)})\n"
        f"cheapest for the past runs: {cheapest / GB:.3f} GB at {result.candidate_cost_gb_h.min():.4g} GB·h a run{few}"
    )


def _boxes(result: FactPoints) -> list[dict[str, object]]:
    return [
        {
            "value": box.task,
            "runs": f"{box.n:,}",
            "median GB": f"{box.median_gb:.3f}",
            "quartiles GB": f"{box.q1_gb:.3f} to {box.q3_gb:.3f}",
        }
        for box in result.boxes
    ]


def _quarters(result: FactPoints) -> list[dict[str, object]]:
    order = np.argsort(result.values, kind="stable")
    parts = [part for part in np.array_split(order, PARTS) if len(part)]
    return [
        {
            "from": f"{result.values[part[0]]:.6g}",
            "to": f"{result.values[part[-1]]:.6g}",
            "points": f"{len(part):,}",
            "median GB": f"{np.median(result.used_gb[part]):.3f}",
            "largest GB": f"{result.used_gb[part].max():.3f}",
        }
        for part in parts
    ]


def _tables_text(result: PredictorTables) -> str:
    models: list[dict[str, object]] = [
        {"bins": one.k, "model": f"{one.model}, {one.sampling}", "accuracy": format_share(one.accuracy)}
        | {"u-score": f"{one.u_score:.1f}"}
        for one in result.models
    ]
    samplings: list[dict[str, object]] = [
        {"bins": one.k, "model": one.model, "sampling": one.sampling, "done": one.done, "u-score": f"{one.u_score:.1f}"}
        for one in result.samplings
    ]
    binnings: list[dict[str, object]] = [
        {"bins": one.k, "model": one.model, "optimal": format_share(one.optimal_improvement)}
        | {"estimated": format_share(one.estimated_improvement), "replayed": format_share(one.replayed_improvement)}
        for one in result.binnings
    ]
    parts = ("Tables 7, 8", table(models), "Tables 9, 10", table(samplings), "Table 11", table(binnings))
    differ = f"the estimate prefers {result.best_k_by_estimate} bins, the replay {result.best_k_by_replay}"
    return "\n\n".join((*parts, differ))


def _models_text(result: PredictorResult) -> str:
    rows: list[dict[str, object]] = [
        {
            "model": one.name,
            "accuracy": format_share(one.accuracy),
            "u-score": f"{one.u_score:.1f}",
            "under-estimated": format_share(one.u_rate),
            "95 % interval": f"{format_share(one.u_rate_interval.low)} to {format_share(one.u_rate_interval.high)}",
            "estimated": format_share(one.estimated_improvement),
            "replayed": format_share(one.replayed_improvement),
        }
        for one in (*result.models, *result.cheapest, result.constant, result.cheapest_constant)
    ]
    warning = "\nestimate and replay rank these models differently: rely on the replay" if result.ranks_differ else ""
    return table(rows) + warning


def _replay_text(result: ReplayResult) -> str:
    rows: list[dict[str, object]] = [
        {
            "policy": one.policy,
            "wasted GB·h": f"{one.wasted_gb_h:,.2f}",
            "charged GB·h": f"{one.charged_gb_h:,.2f}",
            "failures": f"{one.failures:,.10g}",
            "failed runs": f"{format_share(one.failed_share.low, 2)} to {format_share(one.failed_share.high, 2)}",
            "saves": format_share(one.saving_share),
        }
        for one in sorted(result.policies.values(), key=lambda one: one.wasted_gb_h)
    ]
    sized = f"memory measure {TARGET_WORDS[result.target]}, input {result.input_column}"
    head = f"{result.n_test:,} runs of {result.n_tasks} tasks, {result.protocol}, {sized}"
    evidence = evidence_words(result.evidence)
    parts = [head, sized_from_words(result), *([evidence] if evidence else []), "", table(rows)]
    if result.compared is not None:
        parts += ["", answer_text(compared_answer(result.compared))]
    return "\n".join(parts)


def _notes(result: Any) -> Iterable[str]:
    excluded = excluded_words(getattr(result, "left_out", {}))
    return (*getattr(result, "notes", ()), *([f"excluded: {excluded}"] if excluded else []))


def _looked_at(dataset: str, _: Any) -> str:
    return dataset


def _rollup_text(result: Rollup) -> str:
    rows: list[dict[str, object]] = [
        {
            "name": one.name if len(one.name) <= 48 else f"...{one.name[-45:]}",
            "runs": f"{one.n_runs:,}",
            "memory GB": f"{one.memory_gb.before:,.2f} -> {one.memory_gb.after:,.2f}",
            "cores": f"{one.cores.before:,.2f} -> {one.cores.after:,.2f}",
            "GB·h": f"{one.memory_gb_h.before:,.1f} -> {one.memory_gb_h.after:,.1f}",
            "kills": f"{one.n_failures:,}",
        }
        for one in (*result.rows[:SHOWN_ROWS], result.total)
    ]
    return table(rows)


TABLES = parameter("tables", Annotated[bool, typer.Option("--tables")], False)

add(app, Face(questions.ASSESS, _assessment_text))
add(
    app,
    answered(questions.BINS),
    answered(questions.PROFILE_BINS, when="--profile", profiles_of=_looked_at),
)
add(
    app,
    Face(questions.TRAIN, _models_text, _notes),
    Face(questions.TABLES, _tables_text, _notes, "--tables", more=(TABLES,)),
)
add(app, Face(questions.REPLAY, _replay_text, _notes))
BY_KEY = "rows are by the finest key; `memory rollup --by` and `memory ledger --by` add up"
ROLLED_UP = "goes with a later release: the judged runs of `memory plan` with every row taken, summed"
NODES = "ask `memory plan --what-if-cap SIZE --node-size SIZE`"
FORMER_OF_ROLLUP = {
    **dict.fromkeys(
        ("--rule", "--headroom", "--percentile", "--step", "--least-runs", "--sizes"),
        "`memory plan` chooses sizes by what they would have cost",
    ),
    **dict.fromkeys(("--cap", "--capacity", "--growth"), NODES),
    **dict.fromkeys(("--price", "--currency"), "ask `memory plan --price-gb-h P`"),
    "--measure": "amounts are held on average; `memory plan --node-size SIZE` has the peak",
    "--cores": "`memory plan` has rows for CPU",
    "--leave-out-bursts": "bursts count; `memory over-time` names them",
}
add(
    app,
    answered(
        questions.VERDICT,
        former={
            "--by": Former(BY_KEY),
            "--cap": Former("give --what-if-cap", "--what-if-cap"),
            "--node": Former("give --node-size", "--node-size"),
        },
    ),
)
add(
    app,
    Face(
        questions.ROLLUP,
        to_text=_rollup_text,
        notes=lambda result: (ROLLED_UP, *_notes(result)),
        former={flag: Former(words, refused=True) for flag, words in FORMER_OF_ROLLUP.items()},
    ),
)
add(app, Face(questions.FACT, fact_text))
add(app, Face(questions.WHY, why_text))
add(
    app,
    answered(questions.CURVE),
    answered(questions.PROFILE_CURVE, when="--profile"),
)


RECOMMENDED = "recommended"
"""A policy of the release before: the verdict."""


@app.command("violations", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def _violations() -> None:
    """Refuse a command of the release before."""
    raise SettingsError("memory violations is gone; `memory plan --times X --what-if-cap SIZE` lists who breaks")


def _export(
    dataset: str,
    to: str,
    output: Path,
    policy: str | None,
    bins: bool,
    home: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    if to not in EXPORTS:
        raise SettingsError(f"--to is {to!r}; choose from {', '.join(EXPORTS)}")
    if given.pop("rule") is not None:
        raise SettingsError(
            "--rule is no option any more: leave it out for the rows of `memory plan`, or name a --policy"
        )
    if policy == RECOMMENDED:
        warn(f"note: --policy {RECOMMENDED} goes with the next release: these are the rows of `memory plan`")
        policy = None
    if policy and bins:
        raise SettingsError("give either --policy or --bins")
    if as_json and output == STDOUT:
        raise SettingsError("-o - prints the file on stdout, where --json prints its answer; leave out one")
    if output != STDOUT:
        checked_output(output)
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        shares = workbench.machine_shares(entry.hash)
        origin = Origin(entry.name, entry.hash, workprof.__version__, in_words(shares))
        notes: tuple[str, ...] = ()
        left_out = 0
        if policy or bins:
            listing = _other_sizes(workbench, entry.hash, policy, bins, given)
            content, rows, notes = exported(to, listing, origin), len(listing.sizes), (never_line(listing.never),)
        else:
            settings = _of_question(questions.VERDICT, given, "the rows of the plan")
            found = workbench.verdict(entry.hash, settings, progress_line())
            content, rows = verdict_exports.exported(to, found, origin), verdict_exports.n_rows(found)
            notes, left_out = (left_out_words(found),), verdict_exports.n_left_out(found)
    for note in filter(None, (origin.note, *notes)):
        warn(f"note: {note}")
    if output == STDOUT:
        emit_file(content)
        return
    write_whole(output, content)
    result = {"file": str(output), "rows": rows, "left_out": left_out, "seconds": time.perf_counter() - started}
    emit(result, as_json, lambda: f"{rows:,} rows written to {output}")


def _other_sizes(workbench: Any, dataset: str, policy: str | None, bins: bool, given: Mapping[str, Any]) -> SizeList:
    """Return sizes that are not the verdict's: of a policy, or as bins."""
    result: SizeList
    if policy:
        settings = _of_question(questions.REPLAY, {**given, "policies": policy}, f"--policy {policy}")
        result = workbench.policy_sizes(dataset, settings, progress_line())
    else:
        settings = _of_question(questions.BINS, {**given, "cap": None}, "--bins")
        if given["k"] and given["edges"]:
            raise SettingsError("give either --edges or -k")
        cap = read(questions.REPLAY.leaf("retry.cap_bytes"), given["cap"]) if given["cap"] else None
        result = workbench.bin_sizes(dataset, settings, cap)
    return result


def _of_question(question: Question[Any, Any], given: Mapping[str, Any], of: str) -> Any:
    """Return the settings that options ask for, without one of another export among them."""
    own = {one.name for one in options(question)}
    if odd := sorted(name for name, value in given.items() if value is not None and name not in own):
        flag = f"--{odd[0].replace('_', '-')}" if len(odd[0]) > 1 else f"-{odd[0]}"
        raise SettingsError(f"{flag} changes nothing for {of}; leave it out")
    return settings_of(question, given)


_EXPORTED = (questions.VERDICT, questions.REPLAY, questions.BINS)
_FIXED = ("policies", "protocol", "seeds", "prices", "mode")
"""Options of the replay and of bins that sizes of next runs do not have."""

register(
    app,
    "export",
    "Write what to request, for other programs: the rows of `memory plan`, or the sizes of a policy or bins.",
    _export,
    [
        parameter("dataset", Dataset),
        parameter("to", Annotated[str, typer.Option("--to", help=f"One of {', '.join(EXPORTS)}.", show_default=False)]),
        parameter(
            "output",
            Annotated[Path, typer.Option("-o", "--output", help="File to write; - is stdout.", show_default=False)],
        ),
        parameter(
            "policy",
            Annotated[
                str | None,
                typer.Option("--policy", metavar="NAME", help="Sizes for next runs: of a policy of the replay."),
            ],
            None,
        ),
        parameter(
            "bins",
            Annotated[
                bool,
                typer.Option("--bins", help="Bins as named sizes S, M, L ...: of --task, or of all runs."),
            ],
            False,
        ),
        *(one for one in options(*_EXPORTED) if one.name not in _FIXED),
        parameter("rule", Annotated[str | None, typer.Option("--rule", hidden=True)], None),
        *OUT,
    ],
)

decisions.register_on(app)
ledger.register_on(app)
over_time.register_on(app)
add_others(app, (one for one in questions.QUESTIONS if one.words[0] == "memory"))
