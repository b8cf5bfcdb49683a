"""Is there anything to cluster? The Hopkins statistic of the scaled rows, in the paper's convention: near 0 = yes.

Two conventions: with u the distance from a uniform random point to the nearest row and w that from a row to the nearest
other row, the paper's H is sum(w) / (sum(u) + sum(w)), near 0 for clustered rows; textbooks print 1 - H, near 1 for
clustered rows. Uniform rows have 0.5 in both.

Two exponents: the theory needs distances to the power d, the number of columns (only those are volumes, and only then H
of m uniform rows follows Beta(m, m)); most programs add up plain distances, which keeps the 0.5 of uniform rows but
pulls everything else towards it. Both are given; `hopkins` is the plain one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.core.units import format_count
from workprof.profiles.features import Prepared, prepare
from workprof.profiles.settings import Features, Metric, Mode, ProfileSettings, Scaler, Seed

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED_HOPKINS = 0.0033
"""PolarisProfiler's value for its 100,001 rows and 17 features. Unverified: neither repository has code for it."""

CLUSTERED_BELOW = 0.3
UNEVEN_BELOW = 0.45
REGULAR_ABOVE = 0.7
"""Wright's hopkins package for R reads 0.7 to 1 as clustered and 0 to 0.3 as regularly spaced; its H is 1 - ours.

A reading other than that of uniform rows also needs the power variant outside the band of those: of few rows the plain
value is there by chance.
"""

MOST_SAMPLED = 2_000
SAMPLED_SHARE = 0.1
LEAST_SAMPLED = 20
SMALLEST_ROWS = 10
MOST_DRAWS = 1_000
STEPS = {"scale": 0.1, "distances": 1.0}


@settings
class HopkinsSettings:
    """Settings of the Hopkins statistic; it depends on the features' scaling and on the distance."""

    features: Features = ()
    scaler: Scaler = "power"
    metric: Metric = "euclidean"
    mode: Mode = "corrected"
    n_sampled: Annotated[
        int,
        Setting(
            "Rows and uniform points of one draw.",
            unit="rows",
            least=0,
            empty="10 % of the rows, 20 to 2,000",
            key="profiles_hopkins_sampled",
            label="Rows of a draw",
        ),
    ] = 0
    resamples: Annotated[
        int,
        Setting(
            "Random draws; the statistic is their mean.",
            least=1,
            most=MOST_DRAWS,
            key="profiles_hopkins_resamples",
            label="Draws",
        ),
    ] = 5
    distinct: Annotated[
        bool,
        Setting(
            "Rows that are exactly equal make the value small by themselves; this takes one of each.",
            key="profiles_hopkins_distinct",
            label="Ignore duplicate rows",
        ),
    ] = False
    seed: Seed = 0

    def preparation(self) -> ProfileSettings:
        """The settings that prepare the rows; the size only has to fit any table."""
        return ProfileSettings(self.features, self.scaler, self.metric, mode=self.mode, min_cluster_size=2)


@dataclass(frozen=True, repr=False)
class Hopkins(Shown):
    """The Hopkins statistic with its spread over random draws."""

    settings: HopkinsSettings  # as given, n_sampled in rows
    hopkins: float  # mean over the draws, 0-1, plain distances; near 0 = clusterable, 0.5 = uniform
    hopkins_sd: float  # standard deviation over the draws; NaN with one draw
    hopkins_power: float  # the same with distances to the power of n_dims
    hopkins_power_sd: float
    draws: Floats  # (resamples,) values of the single draws, plain distances
    draws_power: Floats  # (resamples,) with distances to the power of n_dims
    uniform_low: float  # 95 % of the draws_power of uniform rows lie between this
    uniform_high: float  # and this
    reading: str  # 'clustered', 'uneven', 'no sign of clusters' or 'regularly spaced' (`hopkins_reading`)
    n_rows: int  # that were searched
    n_sampled: int  # rows and uniform points of one draw
    n_dims: int  # columns of the scaled matrix, the exponent
    n_duplicates: int  # rows that repeat an earlier row exactly
    resamples: int  # draws
    seed: int  # of every random draw
    features: tuple[str, ...]  # names that were used
    notes: tuple[str, ...]  # what a reader must know, features left out and values filled in included
    seconds: float  # time of the computation


def hopkins(frames: Mapping[str, pd.DataFrame], settings: HopkinsSettings, progress: Progress = silent) -> Hopkins:
    """The Hopkins statistic of `frames["jobs"]`.

    Uniform points are drawn in the bounding box of the scaled rows; nearest neighbours are exact, among all rows. The
    rows are put in order of their values first, so that permuting the jobs changes nothing.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than 10 rows or two usable features.

    Source: Hopkins and Skellam 1954, Cross and Jain 1982 (any dimension), Wright 2022 (the confusion of definitions).
    The plain form is pyclustertend's `hopkins`, a Python program with the paper's convention; what the paper used is
    not known. Ours differs in the mean over several seeded draws.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415  heavy

    n_jobs = len(frames["jobs"])
    if n_jobs < SMALLEST_ROWS:
        raise NotEnoughData(f"{n_jobs} rows are too few for the Hopkins statistic; {SMALLEST_ROWS} are needed")
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings.preparation())
        rows, n_duplicates = _in_order(prepared.points, distinct=settings.distinct)
    default = max(LEAST_SAMPLED, min(MOST_SAMPLED, round(SAMPLED_SHARE * len(rows))))
    resolved = replace(settings, n_sampled=min(settings.n_sampled or default, len(rows)))
    with watch.step("distances", "Measuring distances to random points") as report:
        tree, draws = KDTree(rows), []
        for draw in range(resolved.resamples):
            draws.append(_one_draw(tree, rows, resolved, draw))
            report(len(draws) / resolved.resamples)
    return _record(prepared, resolved, np.array(draws), (len(rows), n_duplicates), watch)


def hopkins_of_distances(to_rows: Floats, to_others: Floats, exponent: float = 1.0) -> float:
    """sum(w^e) / (sum(u^e) + sum(w^e)), 0-1; NaN when every distance is 0.

    u (m,) are distances from uniform points to the nearest row, w from rows to the nearest other row. The exponent is 1
    = plain, or the number of dimensions.
    """
    largest = max(float(to_rows.max()), float(to_others.max())) or float("nan")
    u, w = float(((to_rows / largest) ** exponent).sum()), float(((to_others / largest) ** exponent).sum())
    return w / (u + w)


def hopkins_reading(plain: float, power: float, uniform: tuple[float, float]) -> str:
    """What the plain statistic says, where the power variant is outside the band of uniform rows, too."""
    low, high = uniform
    if power < low and plain < UNEVEN_BELOW:
        return "clustered" if plain < CLUSTERED_BELOW else "uneven"
    return "regularly spaced" if power > high and plain > REGULAR_ABOVE else "no sign of clusters"


def _in_order(points: Floats, *, distinct: bool) -> tuple[Floats, int]:
    """The rows sorted by value (each distinct one once where wanted), and how many repeat another."""
    ordered = points[np.lexsort(points.T[::-1])]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new] if distinct else ordered, int((~new).sum())


def _one_draw(tree: Any, rows: Floats, settings: HopkinsSettings, draw: int) -> tuple[float, float]:
    """The statistic with plain distances and with the exponent n_dims, from one random draw."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415  heavy

    rng = np.random.default_rng([settings.seed, draw])
    drawn: Ints = rng.choice(len(rows), size=settings.n_sampled, replace=False)
    uniform = rng.uniform(rows.min(axis=0), rows.max(axis=0), size=(settings.n_sampled, rows.shape[1]))
    # In the empty space a tree is slower than looking at all rows.
    search = NearestNeighbors(n_neighbors=1, algorithm="brute", metric=settings.metric).fit(rows)
    to_rows = np.asarray(search.kneighbors(uniform)[0])[:, 0]
    p = 1 if settings.metric == "manhattan" else 2
    to_others = np.asarray(tree.query(rows[drawn], k=2, p=p)[0])[:, 1]  # the first is the row itself
    return hopkins_of_distances(to_rows, to_others), hopkins_of_distances(to_rows, to_others, rows.shape[1])


def _record(
    prepared: Prepared, settings: HopkinsSettings, draws: Floats, counts: tuple[int, int], watch: Stopwatch
) -> Hopkins:
    from scipy.stats import beta  # noqa: PLC0415  heavy

    n_rows, n_duplicates = counts
    plain, power = draws.T
    spread = draws.std(axis=0, ddof=1) if len(draws) > 1 else np.full(2, np.nan)
    low, high = beta.ppf([0.025, 0.975], settings.n_sampled, settings.n_sampled)
    return Hopkins(
        settings=settings,
        hopkins=float(plain.mean()),
        hopkins_sd=float(spread[0]),
        hopkins_power=float(power.mean()),
        hopkins_power_sd=float(spread[1]),
        draws=plain.copy(),
        draws_power=power.copy(),
        uniform_low=float(low),
        uniform_high=float(high),
        reading=hopkins_reading(float(plain.mean()), float(power.mean()), (float(low), float(high))),
        n_rows=n_rows,
        n_sampled=settings.n_sampled,
        n_dims=prepared.points.shape[1],
        n_duplicates=n_duplicates,
        resamples=settings.resamples,
        seed=settings.seed,
        features=prepared.matrix.names,
        notes=prepared.notes + _notes(prepared, settings, n_duplicates),
        seconds=watch.seconds,
    )


def _notes(prepared: Prepared, settings: HopkinsSettings, n_duplicates: int) -> tuple[str, ...]:
    notes = [
        "Near 0 = clusterable, 0.5 = uniform (the paper's convention); other texts print 1 - H.",
        "A small value says that the rows do not fill their bounding box evenly: one dense group does that, too.",
        f"The published {PUBLISHED_HOPKINS} (other rows, 17 features) is not verified: no code for it is public.",
    ]
    if n_duplicates and settings.distinct:
        notes.append(f"{format_count(n_duplicates)} exact copies of other rows are left out.")
    elif n_duplicates:
        copies = f"{format_count(n_duplicates)} rows repeat another row exactly"
        notes.append(f"{copies}: their nearest distance is 0, which by itself makes the value smaller.")
    if prepared.transform.indicators:
        marked = ", ".join(prepared.transform.indicators)
        notes.append(f"The columns that mark missing values ({marked}) hold 0 or 1 only; they make the value smaller.")
    return tuple(notes)
