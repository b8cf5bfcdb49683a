"""How well a job's profile is known before it runs."""

from __future__ import annotations

from workprof.charts.classify.job import Naming
from workprof.charts.classify.model import confusion_heatmap, reliability_diagram, split_bars, table_five
from workprof.charts.profiles.overview import profile_names
from workprof.forecasts.classifier import ClassifierSettings
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind
from workprof.report.sections.profiles import profiles_of
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench


def _classify(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    settings = ClassifierSettings()
    fit = profiles_of(workbench, dataset, settings.profiles, progress)
    found = through_job(workbench.classifier_evaluation, dataset.hash, settings, progress)
    naming = Naming(profile_names(fit, workbench.profile_notes(dataset.hash, ProfileSettings())), settings.mode)
    shown = found.splits[found.shown]
    return Content(
        settings={"classifier": settings},
        words=found.notes,
        charts=(
            split_bars(found, naming),
            table_five(shown, naming),
            confusion_heatmap(shown, naming),
            reliability_diagram(shown, naming),
        ),
        published=settings.mode == "faithful",
    )


CLASSIFY = Kind("classify", "Classify", "classify", JOBS, _classify)
