"""Which kinds of jobs there are, and whether there is anything to cluster."""

from __future__ import annotations

from workprof.charts.clusterability import hopkins_line
from workprof.charts.downloads import summary_table
from workprof.charts.profiles.features import feature_boxes, metadata_heatmap
from workprof.charts.profiles.jobs import profile_map
from workprof.charts.profiles.overview import condensed_tree, headlines, profile_names, silhouette_boxes, size_bars
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench


def profiles_of(workbench: Workbench, dataset: Dataset, settings: ProfileSettings, progress: Progress) -> ProfileFit:
    """Return the profiles: kept, or found by a job."""
    return through_job(workbench.profiles, dataset.hash, settings, progress)


def _profiles(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    fit = profiles_of(workbench, dataset, ProfileSettings(), progress)
    hopkins = through_job(workbench.hopkins, dataset.hash, HopkinsSettings(), progress)
    names = profile_names(fit, workbench.profile_notes(dataset.hash, ProfileSettings()))
    charts = [
        size_bars(fit, names),
        profile_map(fit, names),
        silhouette_boxes(fit, names),
        condensed_tree(fit, names),
        *(feature_boxes(fit, names, feature) for feature in fit.features),
        *(metadata_heatmap(fit, names, heatmap.field) for heatmap in fit.heatmaps),
        hopkins_line(hopkins),
    ]
    return Content(
        settings={"profiles": fit.settings, "hopkins": HopkinsSettings()},
        headlines=headlines(fit),
        words=fit.notes,
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(Table("Profiles", "profiles", summary_table(fit, names)),),
        published=fit.settings.mode == "faithful",
    )


PROFILES = Kind("profiles", "Profiles", "profiles", JOBS, _profiles)
