"""The commands on memory: what their results are as JSON and as text; their options are the declared settings."""

import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import workprof
from workprof.answers import verdict_exports
from workprof.answers.demand import called as demand_called
from workprof.answers.ledger import runs_called
from workprof.answers.over_time import called
from workprof.answers.verdict import notes as verdict_notes
from workprof.cli import decisions, ledger
from workprof.cli.console import (
    OUT,
    Dataset,
    emit,
    emit_file,
    opened,
    parameter,
    progress_line,
    register,
    warn,
)
from workprof.cli.files import STDOUT
from workprof.cli.questions import Former, add, add_others, answered, options, settings_of
from workprof.cli.schedule import SCHEDULED
from workprof.core.errors import SettingsError
from workprof.core.fields import read
from workprof.core.question import Question
from workprof.core.shares import in_words
from workprof.core.words import counted
from workprof.memory import questions
from workprof.memory.exports import EXPORTS, Origin, exported, never_line
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.size_lists import SizeList
from workprof.store.outputs import checked_output, write_whole

app = typer.Typer(
    help="What better requests would save, and what they would break.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def memory() -> None:
    """What sizes would save, and what they would break."""


def _looked_at(dataset: str, _: Any) -> str:
    return dataset


def _tasks(workbench: Any, dataset: str) -> list[str]:
    return [f"--task {shlex.quote(one.task)}" for one in workbench.assessment(dataset).tasks]


TABLES = parameter("tables", Annotated[bool, typer.Option("--tables")], False)

add(app, answered(questions.WHY, known=_tasks))
add(
    app,
    answered(questions.BINS, known=_tasks),
    answered(questions.PROFILE_BINS, when="--profile", profiles_of=_looked_at),
)
add(
    app,
    answered(questions.TRAIN),
    answered(questions.TABLES, when="--tables", more=(TABLES,)),
)
BY_KEY = "rows are by the finest key; `memory rollup --by` and `memory ledger --by` add up"
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
        room="memory:MemoryQuestions",
    ),
)
add(
    app,
    answered(
        questions.ROLLUP,
        former={flag: Former(words, refused=True) for flag, words in FORMER_OF_ROLLUP.items()},
    ),
)
add(app, SCHEDULED)
add(app, answered(questions.DEMAND, profiles_of=_looked_at, named=demand_called))
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
            listing = _other_sizes(workbench, entry.hash, policy, given)
            content, rows, notes = exported(to, listing, origin), len(listing.sizes), (never_line(listing.never),)
        else:
            settings = _of_question(questions.VERDICT, given, "the rows of the plan")
            found = workbench.verdict(entry.hash, settings, progress_line())
            content, rows = verdict_exports.exported(to, found, origin), verdict_exports.n_rows(found)
            notes, left_out = verdict_notes(found), verdict_exports.n_left_out(found)
    for note in filter(None, (origin.note, *notes)):
        warn(f"note: {note}")
    if output == STDOUT:
        emit_file(content)
        return
    write_whole(output, content)
    result = {"file": str(output), "rows": rows, "left_out": left_out, "seconds": time.perf_counter() - started}
    emit(result, as_json, lambda: f"{counted(rows, 'row')} written to {output}")


def _other_sizes(workbench: Any, dataset: str, policy: str | None, given: Mapping[str, Any]) -> SizeList:
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
add(app, answered(questions.CHARGEBACK))
add(app, answered(questions.OVER_TIME, profiles_of=_looked_at, named=called))
add(
    app,
    answered(
        questions.LEDGER_RUNS,
        profiles_of=lambda dataset, settings: dataset if settings.ledger.by == PROFILE else "",
        named=runs_called,
    ),
)
add_others(app, (one for one in questions.QUESTIONS if one.words[0] == "memory"))
