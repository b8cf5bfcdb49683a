"""What was loaded, and whether it is sound."""

from __future__ import annotations

from workprof.charts.data import check_table, column_table, coverage_chart, ingest_sentence, join_table
from workprof.charts.home import dataset_headlines, overview_sentence
from workprof.progress import Progress
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

NOT_IN_PRINT = ["histogram"]


def _data(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    progress(None, "Looking at the columns")
    columns = workbench.column_profiles(dataset.hash)
    loaded = workbench.ingest_report(dataset.hash)
    coverage = coverage_chart(workbench.time_coverage(dataset.hash))
    tables = [
        Table("Columns", "columns", column_table(columns).drop(columns=NOT_IN_PRINT, errors="ignore")),
        Table("Checks", "checks", check_table(loaded)),
    ]
    if loaded.joins:
        tables.append(Table("Joins", "joins", join_table(loaded)))
    if loaded.rejected:
        tables.append(Table("Rejected rows (the first thousand)", "rejects", workbench.rejects(dataset.hash)))
    jobs = dataset.kind == JOBS
    return Content(
        settings={},
        headlines=dataset_headlines(dataset, columns) if jobs else (),
        words=(*((overview_sentence(dataset, columns),) if jobs else ()), ingest_sentence(loaded)),
        charts=(coverage,) if coverage is not None else (),
        tables=tuple(tables),
        published=dataset.mode == "faithful",
    )


DATA = Kind("data", "Data", "data", "", _data)
