"""Every page of the dashboard, its views, and the links that open them on a home with every kind of data."""

from dataclasses import dataclass
from urllib.parse import quote_plus

CLASSIFIED = "classify_job=3"
BY_TIME = "durations_split=by_time"
PUBLISHED = "phases_mode=faithful&phases_splits=1&phases_open_splits=0&phases_run=two+steps%2F1"


@dataclass(frozen=True)
class Page:
    """One page: its address, the kind of data that it is looked at with (a field of Hashes), and its views."""

    name: str
    data: str = "jobs"
    tabs: tuple[str, ...] = ()
    more: str = ""

    @property
    def path(self):
        return "/" if self.name == "home" else f"/{self.name}"

    def link(self, hashes, tab=""):
        parts = [f"ds={getattr(hashes, self.data)}", self.more]
        if tab or self.tabs:
            parts.append(f"{self.name}_tab={quote_plus(tab or self.tabs[0])}")
        return f"{self.path}?{'&'.join(part for part in parts if part)}"


_PROFILES = ("Profile", "Map", "Box plots", "Silhouettes", "Metadata")
_SWEEP = ("Score map", "Ranking", "All settings", "Summary", "Target", "Compare two")
_PHASES = ("Timeline", "Fingerprint", "Match", "Library", "Evaluation", "Live")
_HELP = ("Glossary", "Settings", "Methods", "As published", "Formats", "Limits and shortcuts", "Diagnostics")

PAGES = (
    Page("home"),
    Page("data", tabs=("Validation", "Columns", "Preview")),
    Page("profiles", tabs=_PROFILES),
    Page("classify", tabs=("One job", "Batch", "Model", "Drift"), more=CLASSIFIED),
    Page("sweep", tabs=_SWEEP),
    Page("durations", tabs=("Observed", "Prediction error"), more=BY_TIME),
    Page("memory", "tasks", ("Plan", "Explore", "Bins", "Compare", "Scenarios")),
    Page("nodes", "nodes", ("Ranking", "Degradation", "Over time", "Groups", "Transfer", "Scenarios")),
    Page("phases", "phases", _PHASES, PUBLISHED),
    Page("runs"),
    Page("report"),
    Page("help", tabs=_HELP),
)
BY_NAME = {page.name: page for page in PAGES}
