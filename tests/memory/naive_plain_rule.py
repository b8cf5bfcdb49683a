"""The plain rule of sizing, written slowly: a multiple of the largest known use of the key, never above the request.

A key is (user, task, request) where the trace has users, else (task, request). Known is what had ended when a run was
submitted; it was submitted when it started where the trace does not say.
"""

from dataclasses import dataclass

BLOCKS = 4


@dataclass
class Run:
    key: tuple
    submitted: float
    ended: float
    hours: float
    request: float
    use: float
    size: float = 0.0

    @property
    def killed(self):
        return self.size < self.request and self.size < self.use

    @property
    def booked(self):
        return self.request * self.hours

    @property
    def charged(self):
        after = max(self.request, self.use) if self.killed else 0.0
        return (self.size + after) * self.hours


@dataclass(frozen=True)
class Judged:
    """Of the later half of the runs: how many, how many were killed, the share of booked GB·h that was saved."""

    runs: int
    kills: int
    saved_share: float


def in_order_of_submission(jobs):
    """Return the runs that have a request, a use and an end."""
    runs = []
    for row in jobs.to_dict("records"):
        submitted = row.get("submit_time_s", row["start_time_s"])
        key = (row.get("user"), row["task_name"], row["requested_memory_bytes"])
        use, hours = row["peak_memory_bytes"], row["duration_s"] / 3600
        values = (submitted, row["end_time_s"], hours, row["requested_memory_bytes"], use)
        if all(value >= 0 for value in values):
            runs.append(Run(key, *values))
    return sorted(runs, key=lambda run: run.submitted)


def judge(jobs, least, times, *, table=False):
    """Return what `times` the largest of `least` known uses saves; sizes stand from origin to origin if `table`."""
    runs = in_order_of_submission(jobs)
    half, peers = len(runs) // 2, {}
    origins = [half + round((len(runs) - half) * block / BLOCKS) for block in range(BLOCKS)]
    for place, run in enumerate(runs):
        earlier = peers.setdefault(run.key, [])
        moment = run.submitted
        if table and place >= half:
            moment = runs[max(origin for origin in origins if origin <= place)].submitted
        known = [one for one in earlier if one.ended <= moment]
        kills = [one.ended for one in known if one.killed]
        since = [one for one in known if not kills or one.ended > max(kills)]
        enough = len(since) >= (2 * least + 1 if kills else least)
        run.size = min(run.request, times * max(one.use for one in known)) if enough else run.request
        earlier.append(run)
    judged = runs[half:]
    saved = 1 - sum(run.charged for run in judged) / sum(run.booked for run in judged)
    return Judged(len(judged), sum(run.killed for run in judged), saved)
