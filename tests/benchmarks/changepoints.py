"""Change points of 72 counters over an hour against the plain recursion in NumPy, one counter after the other.

Both sides hold every run length (nothing is pruned), read the most probable path off and sum up the evidence; the two
must agree on both. The reference keeps its table of log probabilities, as the recursion is usually written.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_COUNTERS, N_SAMPLES = 72, 3600

DATA = f"""
import time
import numpy as np
rng = np.random.default_rng(0)
values = rng.normal(size=({N_COUNTERS}, {N_SAMPLES}))
for counter in values:
    for change in rng.integers(60, {N_SAMPLES}, 3):
        counter[change:] += rng.normal(0, 3)
PRIOR = dict(mu0=0.0, kappa0=0.1, alpha0=2.0, beta0=2.0)
HAZARD = {N_SAMPLES} / 4
"""

OURS = (
    DATA
    + """
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.changepoints import change_points
whole = dict(readout="path", hazard_samples=HAZARD, min_samples=1, max_phases=1000, prune=0.0)
settings = ChangePointSettings(**whole, **PRIOR)
change_points(values[:, :30], settings)  # compiles, or loads what was compiled
times = []
for _ in range(3):
    started = time.perf_counter()
    found = change_points(values, settings)
    times.append(time.perf_counter() - started)
seconds = min(times)
told = {"evidence": found.log_evidence.tolist(), "starts": found.starts.tolist()}
"""
)

REFERENCE = (
    DATA
    + """
from scipy.special import gammaln, logsumexp

def recursion(y, mu0, kappa0, alpha0, beta0):
    n = len(y)
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 0], evidence = 0.0, 0.0
    runs = np.arange(n)
    kappa, alpha = kappa0 + runs, alpha0 + runs / 2
    constant = gammaln(alpha + 0.5) - gammaln(alpha) - 0.5 * np.log(2 * np.pi * (kappa + 1) / kappa)
    mu, beta = np.array([mu0]), np.array([beta0])
    change, stay = np.log(1 / HAZARD), np.log1p(-1 / HAZARD)
    for t in range(n):
        k, a = kappa[:t + 1], alpha[:t + 1]
        spread = k * (y[t] - mu) ** 2 / (2 * (k + 1))
        predictive = constant[:t + 1] - 0.5 * np.log(beta) - (a + 0.5) * np.log1p(spread / beta)
        joint = table[t, :t + 1] + predictive
        total = logsumexp(joint)
        table[t + 1, 0] = change
        table[t + 1, 1:t + 2] = joint - total + stay
        evidence += total
        mu = np.concatenate([[mu0], (k * mu + y[t]) / (k + 1)])
        beta = np.concatenate([[beta0], beta + spread])
    return table, evidence

def path(table):
    changes, t = [], len(table) - 1
    while t > 0:
        t -= 1 + int(np.argmax(table[t, 1:]))
        if t > 0:
            changes.append(t)
    return changes[::-1]

started = time.perf_counter()
told = {"evidence": [], "starts": []}
for counter in values:
    table, evidence = recursion(counter, **PRIOR)
    told["evidence"].append(evidence)
    told["starts"] += path(table)
seconds = time.perf_counter() - started
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    if ours.told["starts"] != theirs.told["starts"]:
        raise AssertionError("the two sides find different changes")
    pairs = zip(ours.told["evidence"], theirs.told["evidence"], strict=True)
    worst = max(abs(a - b) for a, b in pairs)
    if worst > 1e-8:
        raise AssertionError(f"the log evidences differ by {worst}")
    return beside(
        ours,
        theirs,
        "plain NumPy recursion in float64, counter by counter",
        note=(
            f"{N_COUNTERS} counters of {N_SAMPLES:,} samples, every run length kept; log evidences agree within "
            f"{worst:.0e}, and ours also finds the most probable segmentation in that time"
        ),
    )
