"""The known workloads: which one the run is most like, which runs they are made of, and how far apart these lie."""

from functools import partial

import pandas as pd
import streamlit as st

from pages._frame import datasets
from pages._parts import figures, long_question, tables, tabs
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from pages._phases.form import EDITS, RUN, TAB, PageContext, edits_of, fresh, measure, source_of
from pages._phases.methods import course, growing, shapes, typical
from pages._phases.timeline import LONG_RUN
from workprof.answers.recognition import match_figures, match_sentence, match_table, threshold_note, threshold_table
from workprof.charts.phases.evaluation import distance_matrix
from workprof.charts.phases.fingerprints import MOST_OVERLAID, alignment_chart, overlay_chart
from workprof.charts.phases.matches import match_chart, match_report, scores_chart
from workprof.core.words import counted, markdown_text
from workprof.inputs import safe_name
from workprof.phases.library import LEFT_OUT, LibraryEdits, LibraryView, LibraryViewSettings, RunLabel
from workprof.phases.matching import KnownMatchSettings, Match, MatchLine, MatchRunSettings
from workprof.phases.runs import RunLine, RunList
from workprof.phases.timeline import AlignedRuns, AlignmentSettings

BUTTON, WHAT = "Match this run", "Matching"
OVER = "phases_over"
LONGEST_LABEL = 80


def match(context: PageContext) -> None:
    """Show the verdict with both runs over each other, where the library comes from, and the distances."""
    first, row = st.container(), st.container(horizontal=True)
    with row:
        train = source_of(context)
    edits = edits_of(context, train or context.dataset.hash)
    known = KnownMatchSettings(context.line.name, edits, train, context.library)
    before = partial(_before, context)
    result: Match | None
    with first:
        if edits.labels or train:
            compute = context.workbench.known_match
            edited = LongQuestion("phases_start_match", known, compute, BUTTON, before, WHAT)
            result = long_question.result(context.visit, context.dataset, edited)
        else:  # the question of `workprof phases match`, and its kept answer
            whole, of_all = MatchRunSettings(context.line.name, context.library), context.workbench.match_run
            shared = LongQuestion("phases_start_match_run", whole, of_all, BUTTON, before, WHAT)
            result = long_question.result(context.visit, context.dataset, shared)
        if result is None:
            return
        figures.headline(markdown_text(match_sentence(result), 500))
        lines = {_recorded_name(line): line for line in result.matches}
        over = st.container()
    with row:
        picked = _picked(lines, result)
    with over:
        if picked and context.line.samples <= LONG_RUN:
            chart = overlay_chart(_aligned(context, picked, train), context.counters[:MOST_OVERLAID])
            figures.show(chart, key="phases_overlay", sentence=False)
    _match(context, result, known)
    figures.fold("While it ran", "phases_course", course, context, train, edits)
    if picked:
        figures.fold("Alignment", "phases_alignment", _alignment, context, picked, lines[picked].offset, train)
        _entry(context, picked, train)


def _before(context: PageContext) -> str:
    return f"Which workload is {markdown_text(context.line.name)}? Not matched with these settings yet."


def _match(context: PageContext, result: Match, settings: KnownMatchSettings) -> None:
    figures.headline_row(match_figures(result))
    for note in result.notes:
        st.caption(f":material/info: {markdown_text(note, 400)}")
    scores = scores_chart(result)
    if scores is not None:
        st.header("Distance to each workload")
        figures.show(scores, key="phases_unlikeness", sentence=False)
    figures.fold("Nearest runs", "phases_nearest", _nearest, result)
    stem = f"{safe_name(result.unknown.replace('/', '-'))}-match"
    with st.container(horizontal=True):
        st.download_button(
            "Match report, JSON",
            data=partial(match_report, result, settings, context.dataset.hash),
            file_name=f"{stem}.json",
            mime="application/json",
            on_click="ignore",
            key="phases_match_json",
            icon=":material/download:",
            help="Verdict, distances and settings.",
        )
        tables.csv(match_table(result).frame, stem, "phases_match_csv", "Distances, CSV")


def _nearest(result: Match) -> None:
    by = measure("Distance", "phases_distance")
    figures.show(match_chart(result, by), key=f"phases_match_{by}")


def _recorded_name(line: MatchLine) -> str:
    """Return the name as recorded: a run with a label by hand keeps it as 'workload/run'."""
    return line.run if "/" in line.run else f"{line.workload}/{line.run}"


def _picked(lines: dict[str, MatchLine], result: Match) -> str:
    """Show the runs of the library, the nearest first, and return the chosen one; '' where there is none."""
    if not lines:
        return ""
    names = tuple(lines)
    near = (at for at, name in enumerate(names) if lines[name].workload == result.verdict.nearest)
    return choice("Compared with", OVER, names, "Runs of the library, the nearest first.", index=next(near, 0))


def _aligned(context: PageContext, picked: str, train: str) -> AlignedRuns:
    settings = AlignmentSettings(context.line.name, picked, train, context.library)
    with st.spinner("Aligning…"):
        return context.workbench.aligned_runs(context.dataset.hash, settings)


def _alignment(context: PageContext, picked: str, offset: int, train: str) -> None:
    """Show which second of the run goes with which second of the chosen one."""
    figures.show(alignment_chart(_aligned(context, picked, train), offset), key="phases_alignment_chart")


def _entry(context: PageContext, name: str, train: str) -> None:
    """Show the way to the timeline of the chosen run of the library."""
    st.button(
        f"Timeline of {markdown_text(name, 60)}",
        key="phases_open_entry",
        type="tertiary",
        icon=":material/timeline:",
        on_click=_open,
        args=(name, train or context.dataset.hash, context.dataset.kind),
    )


def _open(name: str, dataset: str, kind: str) -> None:
    """Turn to the whole timeline of a run, in the dataset that it is of (a callback)."""
    datasets.select(dataset, kind)
    fresh()
    st.session_state[RUN] = name
    tabs.select(TAB, "Timeline")


def library(context: PageContext) -> None:
    """Show how far the known runs lie apart, then what each counts as, and the thresholds."""
    first = st.container()
    with st.container(horizontal=True):
        source = source_of(context, "Library from") or context.dataset.hash
        by = measure("Distance", "phases_distance")
    runs = context.workbench.phase_runs(source)
    edits = edits_of(context, source)
    _labels(context, source, runs, edits)
    with first:
        result = _compared(context, source, runs, edits)
        if result is None:
            return
        chart = distance_matrix(result, by)
        figures.headline(markdown_text(chart.takeaway, 400))
        figures.show(chart, key=f"phases_matrix_{by}", sentence=False)
    figures.fold("Typical runs", "phases_typical", typical, context, source, edits)
    figures.fold("Shapes of runs", "phases_shapes", shapes, context, source, edits)
    figures.fold("Memory that grows over a run", "phases_growing", growing, context)
    st.header("Thresholds")
    st.caption(threshold_note(result))
    alt = "Thresholds of each workload"
    tables.saved(threshold_table(result), "phases-thresholds", key="phases_thresholds", alt=alt)


def _compared(context: PageContext, source: str, runs: RunList, edits: LibraryEdits) -> LibraryView | None:
    return long_question.result(
        context.visit,
        context.dataset,
        LongQuestion(
            name="phases_start_library",
            settings=LibraryViewSettings(edits, context.library),
            compute=context.workbench.library_view,
            source=source,
            button="Compare the runs",
            before=lambda: f"The fingerprints of {len(runs.runs)} runs are not compared with these settings yet.",
            what="Comparing the runs",
        ),
    )


def _labels(context: PageContext, dataset: str, runs: RunList, edits: LibraryEdits) -> None:
    """Show the runs of the library and the form that changes what they count as."""
    counts_as = {line.name: edits.label_of(line.workload, line.run) for line in runs.runs}
    inside = [label for label in counts_as.values() if label]
    with st.expander(
        f"Labels: {counted(len(inside), 'run')} of {counted(len(set(inside)), 'workload')} are known, "
        f"{len(counts_as) - len(inside)} excluded",
        icon=":material/bookmarks:",
        key="phases_labels",
    ):
        table = pd.DataFrame(
            {
                "run": line.name,
                "counts as": counts_as[line.name] or "excluded",
                "changed by hand": counts_as[line.name] != line.workload,
                "samples": line.samples,
                "status": line.status or "unknown",
            }
            for line in runs.runs
        )
        alt = f"{len(counts_as)} runs with the workload that each counts as"
        tables.show(table, key="phases_label_table", alt=alt)
        if context.visit.refusal:
            st.caption(f"{context.visit.refusal.removesuffix('.')}: the library cannot be changed here.")
        else:
            _label_form(context, dataset, runs, edits)


def _label_form(context: PageContext, dataset: str, runs: RunList, edits: LibraryEdits) -> None:
    by_label: dict[str, list[RunLine]] = {}
    for line in runs.runs:
        if label := edits.label_of(line.workload, line.run):
            by_label.setdefault(label, []).append(line)
    options = {f"all runs of {name}": lines for name, lines in sorted(by_label.items())}
    options |= {line.name: [line] for line in runs.runs}
    with st.grid(min_column_width=220, gap="small"):
        picked = st.selectbox(
            "Workload or run",
            list(options),
            index=None,  # the one that was excluded or renamed is gone: none other takes its place
            key="phases_label_of",
            placeholder="Choose one",
            persist_state="session",
        )
        label = st.text_input(
            "Counts as",
            key="phases_label",
            max_chars=LONGEST_LABEL,
            placeholder="name of a workload",
            persist_state="session",
        )
    lines = options[picked] if picked else []
    with st.container(horizontal=True):
        if st.button(
            "Add or rename", icon=":material/label:", key="phases_label_set", disabled=not (lines and label.strip())
        ):
            _save(context, dataset, edits, lines, label.strip())
        if st.button("Exclude", icon=":material/bookmark_remove:", key="phases_label_out", disabled=not lines):
            _save(context, dataset, edits, lines, LEFT_OUT)
        if st.button("As recorded", icon=":material/undo:", key="phases_label_undo", disabled=not edits.labels):
            _save(context, dataset, LibraryEdits(), [], "")


def _save(context: PageContext, dataset: str, edits: LibraryEdits, lines: list[RunLine], label: str) -> None:
    """Keep the label of these runs; one that is as recorded needs none. The labels of a link are taken over with it."""
    given = {(one.workload, one.run): one.label for one in edits.labels}
    given |= {(line.workload, line.run): label for line in lines}
    labels = tuple(RunLabel(*key, label=own) for key, own in sorted(given.items()) if own != key[0])
    context.workbench.set_library_edits(dataset, LibraryEdits(labels))
    st.query_params.pop(EDITS, None)
    st.rerun()
