"""What workprof does not do, from the constants that limit it; and the keys that work everywhere."""

from __future__ import annotations

from workprof.memory.assessment import FEWEST_RUNS
from workprof.memory.bin_search import MOST_BINS
from workprof.memory.plan import LEAST_RUNS
from workprof.memory.scenarios import MOST_COMPARED
from workprof.profiles.settings import EXACT_SILHOUETTE_ROWS, OPTICS_ROWS
from workprof.profiles.sweep import OPTICS_SWEEP_ROWS

LIMITS = (
    "One process holds a home folder at a time: the dashboard or one command. Several servers over one home are not "
    "supported.",
    "The dashboard listens on 127.0.0.1 only. Nothing leaves the machine, and nothing that is uploaded is executed or "
    "unpickled.",
    "Databases are written by DuckDB 2 and cannot be read by DuckDB 1.",
    f"Silhouettes are exact up to {EXACT_SILHOUETTE_ROWS:,} rows and in faithful mode, else sampled with a "
    "standard error; exact ones can be asked for.",
    f"OPTICS sees at most {OPTICS_ROWS:,} rows, {OPTICS_SWEEP_ROWS:,} in a sweep; the sample is said.",
    f"A task with fewer than {FEWEST_RUNS} runs is marked as thin; below {LEAST_RUNS} it keeps its request.",
    f"One to {MOST_BINS} bins per task; up to {MOST_COMPARED} scenarios side by side.",
    "Tables show their first 1,000 rows; the CSV beside them has all.",
    "Profiles say which jobs behave alike, not why. A saving is what past runs would have saved; it promises nothing "
    "about other inputs.",
    "Money appears only with a price of yours: no price list comes with workprof.",
)

KEYS = (
    ("Tab, Shift + Tab", "next and previous control"),
    ("Enter, Space", "press a button, open a fold, tick a box"),
    ("Arrows", "move a slider, choose in an open list, go through the tabs or the cells of a table"),
    ("Letters", "search in an open list"),
    ("Esc", "close a list, a dialog or a full-screen table"),
    ("Ctrl + F or Cmd + F", "search in the table that has the focus"),
    ("Ctrl + P or Cmd + P", "print the page, or save it as PDF"),
)
