"""What is said of profiles without and with an autoencoder."""

import math

from workprof.answers.profiles import AGREEMENT, CLUSTERED, N_PROFILES, SILHOUETTE
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.forecasts.embeddings import FORECAST, Embeddings, EmbeddingScores

WORDS = {"none": "Scaled features, the default", "autoencoder": "Autoencoder"}
TARGETS = {"duration_s": "Duration wrong by", "peak_memory_bytes": "Memory wrong by"}


def _mean(one: EmbeddingScores, target: str) -> float:
    return float(one.errors[target].mean()) if target in one.errors else float("nan")


def _forecast(target: str) -> Column:
    return Column(
        f"{target.removesuffix('_s').removesuffix('_bytes')}_factor",
        lambda one: _mean(one, target),
        TARGETS[target],
        "%.2f ×",
        "Median factor of a forecast from metadata, of runs of jobs that training did not see; mean of the folds.",
    )


METHODS = (
    Column("embedding", "", "Embedding", said=lambda one: WORDS[one.embedding]),
    Column(N_PROFILES.name, "", N_PROFILES.heading, N_PROFILES.form, N_PROFILES.help),
    Column(CLUSTERED.name, "", CLUSTERED.heading, unit="share", help=CLUSTERED.help),
    Column(SILHOUETTE.name, "silhouette", SILHOUETTE.heading, SILHOUETTE.form, "Of the scaled features in both cases."),
    Column(AGREEMENT.name, "", AGREEMENT.heading, AGREEMENT.form, AGREEMENT.help, optional=True),
    *map(_forecast, FORECAST),
    Column("factors_by_fold", lambda one: {name: values.tolist() for name, values in one.errors.items()}, aside=True),
    Column("clustering_seconds", "seconds", "Clustering", unit="s"),
)


def embeddings_answer(result: Embeddings) -> Answer:
    """Whether an autoencoder makes better profiles: by what they forecast in every fold."""
    plain, other = result.methods
    better = [
        TARGETS[name].removesuffix(" wrong by").lower()
        for name, errors in plain.errors.items()
        if (other.errors[name] < errors).all()
    ]
    separation, default = (
        f"{one.silhouette:.3f}" if math.isfinite(one.silhouette) else "unknown" for one in (other, plain)
    )
    apart = f"Separation {separation} with an autoencoder, {default} without"
    forecast = f"{' and '.join(better)} better in every fold" if better else "no forecast is better in every fold"
    return Answer(
        f"{apart}; {forecast}.",
        tables=(Table("embeddings", "Profiles without and with an autoencoder", METHODS, result.methods),),
        document={"n_rows": result.n_rows, "folds": result.settings.folds, "seconds": result.seconds},
    )
