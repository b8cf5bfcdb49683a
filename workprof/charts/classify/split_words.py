"""The four splits in words."""

from __future__ import annotations

SPLIT_NAMES = {"random": "random", "by_job": "by job", "by_group": "by group", "by_time": "by time"}
SPLIT_WORDS = {
    "random": "rows drawn at random (other rows of the same job may be in training)",
    "by_job": "jobs that training never saw",
    "by_group": "groups that training never saw",
    "by_time": "jobs that start after everything in training ended",
}
