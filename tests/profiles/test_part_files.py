"""Profiles of runs in Parquet files, file by file."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.profiles.planted import job_table
from workprof.core.errors import Cancelled, ColumnMissing, NoRows, SettingsError, TraceError
from workprof.profiles import part_files
from workprof.profiles.fit import fit_profiles
from workprof.profiles.part_files import FileList, assign_files, file_assigner, list_files
from workprof.profiles.settings import ProfileSettings

SAMPLED = ProfileSettings(sample_rows=1_000)


@pytest.fixture(scope="module")
def jobs():
    return job_table(3_000)


@pytest.fixture(scope="module")
def fit(jobs):
    return fit_profiles({"jobs": jobs}, SAMPLED)


@pytest.fixture(scope="module")
def whole(fit, jobs):
    names = (*(f"P{label}" for label in range(fit.scores.n_clusters)), "none")
    return file_assigner(fit, jobs, names)


@pytest.fixture
def parts(tmp_path, jobs):
    """A folder of three files, one of them in a folder of its own, and what an engine leaves beside them."""
    folder = tmp_path / "parts"
    (folder / "day=2").mkdir(parents=True)
    for name, first in (("a", 0), ("b", 1_000), ("day=2/a", 2_000)):
        jobs.iloc[first : first + 1_000].to_parquet(folder / f"{name}.parquet")
    for name in ("_SUCCESS", "_metadata.parquet", ".hidden.parquet", "notes.txt"):
        (folder / name).write_text("no part")
    return folder


def columns(fit):
    return {name: [(name, 1.0)] for name in fit.features}


def read(folder, *names):
    return pd.concat([pd.read_parquet(folder / f"{name}.parquet") for name in names], ignore_index=True)


@pytest.mark.slow
def test_files_have_the_profiles_of_their_runs(fit, whole, jobs, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(part_files, "ROWS_AT_ONCE", 300)
    told = []
    out = tmp_path / "out"
    found = assign_files(
        whole, list_files([parts], out, columns(fit)), out, lambda share, words: told.append((share, words))
    )
    written = read(out, "a", "b", "day=2/a")
    assert sorted(str(one.relative_to(out)) for one in out.rglob("*.*")) == [
        "a.parquet",
        "b.parquet",
        "day=2/a.parquet",
    ]
    labels, strength = whole.assign(jobs[list(fit.features)].to_numpy())
    assert np.array_equal(written["profile"], labels)
    assert np.array_equal(written["strength"], strength)
    assert list(written["name"]) == [whole.names[label] for label in labels]
    assert (found.rows, found.files, found.reused, found.without_values) == (3_000, 3, 0, 0)
    assert found.notes == ("Files that do not end in .parquet were left out: 1.",)
    assert (
        dict(zip(found.names, found.runs.tolist(), strict=True))
        == written["name"].value_counts().reindex(whole.names, fill_value=0).to_dict()
    )
    assert told[-1] == (1.0, "3,000 of 3,000 runs assigned")


def test_they_are_the_profiles_that_the_dataset_has(fit, whole, jobs):
    """But for runs that joined the tree: those at the rims, as `settle_rim` parts them."""
    labels, strength = whole.assign(jobs[list(fit.features)].to_numpy())
    assigned = np.isnan(fit.silhouettes)
    both = assigned & (labels >= 0) & (fit.labels >= 0)
    assert np.array_equal(labels[both], fit.labels[both])
    assert ((labels < 0) != (fit.labels < 0))[assigned].mean() < 0.02
    for profile in range(fit.scores.n_clusters):
        weakest = fit.probabilities[assigned & (fit.labels == profile)].min()
        assert strength[labels == profile].min() >= weakest


def test_a_file_that_was_assigned_is_left_as_it_is(fit, whole, parts, tmp_path):
    out = tmp_path / "out"
    files = list_files([parts], out, columns(fit))

    def halt(share, words):
        if share > 0:
            raise Cancelled(words)

    with pytest.raises(Cancelled):
        assign_files(whole, files, out, halt)
    assert len(list(out.rglob("*.parquet"))) == 1
    first = assign_files(whole, files, out)
    assert first.reused == 1
    again = assign_files(whole, files, out)
    assert again.reused == 3
    assert np.array_equal(first.runs, again.runs)
    os.utime(files.files[0].source, ns=(1, 1))
    (out / "b.parquet").unlink()
    (out / ".b.parquet.1234.part").write_text("of a call that was killed")
    assert assign_files(whole, files, out).reused == 1
    sideways = FileList((replace(files.files[2], source=files.files[0].source),), 0)
    assert assign_files(whole, sideways, out).reused == 0  # of another file, whatever its size and date
    renamed = file_assigner(fit, job_table(3_000), [*whole.names[:-1], "outlier"])
    assert assign_files(renamed, files, out).reused == 0
    assert not list(out.rglob("*.part"))


def test_a_run_without_any_feature_has_no_profile(fit, whole, jobs, tmp_path):
    table = jobs.copy()
    table.loc[:4, list(fit.features)] = np.nan
    table.loc[5, fit.features[0]] = np.inf  # one of them is missing: as the clustering fills it
    table.to_parquet(tmp_path / "runs.parquet")
    found = assign_files(
        whole, list_files([tmp_path / "runs.parquet"], tmp_path / "out", columns(fit)), tmp_path / "out"
    )
    written = read(tmp_path / "out", "runs")
    assert written.loc[:4].isna().all(axis=None)
    assert written.loc[5:].notna().all(axis=None)
    assert found.without_values == 5
    assert found.runs.sum() == len(table) - 5
    assert found.notes == ("5 of 3,000 runs (0.2 %) lack every feature and have no profile.",)


def test_runs_that_lack_a_feature_which_all_clustered_runs_have_are_told(fit, whole, jobs, tmp_path):
    feature = next(name for name in fit.features if name not in whole.transform.indicators)
    table = jobs.copy()
    table.loc[:299, feature] = np.nan
    table.to_parquet(tmp_path / "runs.parquet")
    for _ in range(2):  # the second time of the file that is there
        found = assign_files(
            whole, list_files([tmp_path / "runs.parquet"], tmp_path / "out", columns(fit)), tmp_path / "out"
        )
        assert found.notes[0].startswith("300 of 3,000 runs (10.0 %) lack a feature that nearly all runs of")
    assert found.reused == 1


def test_a_column_may_have_another_name_and_unit(fit, whole, jobs, tmp_path):
    first = fit.features[0]
    jobs.assign(other=jobs[first] / 4).drop(columns=first).to_parquet(tmp_path / "runs.parquet")
    known = columns(fit) | {first: [(first, 1.0), ("other", 4.0)]}
    assign_files(whole, list_files([tmp_path / "runs.parquet"], tmp_path / "out", known), tmp_path / "out")
    assert np.array_equal(
        read(tmp_path / "out", "runs")["profile"], whole.assign(jobs[list(fit.features)].to_numpy())[0]
    )


def test_what_is_no_file_of_runs_is_refused(fit, jobs, parts, tmp_path):
    out, known = tmp_path / "out", columns(fit)

    def refused(error, words, *paths, into=out):
        with pytest.raises(error, match=words):
            list_files(paths, into, known)

    refused(SettingsError, "there is no file or folder", tmp_path / "none")
    refused(SettingsError, "does not end in .parquet", parts / "notes.txt")
    refused(SettingsError, "would both be written", parts / "a.parquet", parts / "day=2" / "a.parquet")
    refused(SettingsError, "is one of the files to assign", parts, into=parts)
    refused(SettingsError, "is given twice", parts / "a.parquet", parts)
    refused(SettingsError, "is given twice", parts, parts / "day=2")
    for content in (b"", b"something else", (parts / "b.parquet").read_bytes()):
        out.mkdir(exist_ok=True)
        (out / "a.parquet").write_bytes(content)
        refused(SettingsError, "holds no profiles that this command wrote", parts / "a.parquet")
    (out / "a.parquet").unlink()
    (tmp_path / "nothing").mkdir()
    refused(NoRows, "there is no run in", tmp_path / "nothing")
    jobs.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    refused(NoRows, "there is no run in", tmp_path / "empty.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")
    refused(TraceError, "broken Parquet file", tmp_path / "broken.parquet")
    jobs.drop(columns=fit.features[1]).to_parquet(tmp_path / "fewer.parquet")
    refused(ColumnMissing, f"has no column {fit.features[1]}, of which", tmp_path / "fewer.parquet")
    jobs.assign(**{fit.features[1]: "many"}).to_parquet(tmp_path / "texts.parquet")
    refused(TraceError, f"column {fit.features[1]} is .*string, no number", tmp_path / "texts.parquet")
    table = pa.Table.from_pandas(jobs)
    pq.write_table(table.append_column(fit.features[0], table[fit.features[0]]), tmp_path / "twice.parquet")
    refused(TraceError, f"has 2 columns {fit.features[0]}", tmp_path / "twice.parquet")


def test_output_inside_the_folder_is_no_part_of_it(fit, whole, parts):
    for reused in (0, 3):
        files = list_files([parts], parts / "profiles", columns(fit))
        assert assign_files(whole, files, parts / "profiles").reused == reused
        assert len(files.files) == 3
    assert len(list_files([parts / "day=2"], parts.parent, columns(fit)).files) == 1  # nor the other way round


def test_whatever_a_number_is_stored_as_is_read(fit, whole, jobs, tmp_path):
    first, second, third = fit.features[:3]
    table = jobs.assign(**{first: 2**63 - 1, second: None, third: -1e200})
    table.loc[0, third] = -1e308
    table.to_parquet(tmp_path / "runs.PARQUET")
    found = assign_files(whole, list_files([tmp_path], tmp_path / "out", columns(fit)), tmp_path / "out")
    assert found.runs.sum() == len(jobs)
    assert found.runs[-1] == len(jobs)  # beyond all numbers once they are scaled


def test_shares_that_are_not_those_of_the_dataset_are_told(fit, whole, jobs, tmp_path):
    """Such as those of a file in other units."""
    first = fit.features[0]
    jobs.assign(**{first: jobs[first] * 100}).to_parquet(tmp_path / "runs.parquet")
    found = assign_files(whole, list_files([tmp_path], tmp_path / "out", columns(fit)), tmp_path / "out")
    assert "look at the units of the files' columns" in found.notes[0]


def test_a_tree_of_other_profiles_is_refused(fit, whole, jobs):
    swapped = replace(fit, labels=np.where(fit.labels == 0, 1, np.where(fit.labels == 1, 0, fit.labels)))
    with pytest.raises(SettingsError, match="has other profiles than the clustering itself"):
        file_assigner(swapped, jobs, whole.names)
    with pytest.raises(SettingsError, match="has other profiles than the clustering itself"):
        file_assigner(fit, jobs, whole.names[1:])


def test_a_footer_that_tells_of_other_rows_is_told(fit, whole, jobs, tmp_path):
    path = tmp_path / "runs.parquet"
    jobs.to_parquet(path)
    files = list_files([path], tmp_path / "out", columns(fit))
    jobs.iloc[:100].to_parquet(path)
    with pytest.raises(TraceError, match="holds 100 rows, not the 3,000 of its footer"):
        assign_files(whole, files, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_that_goes_or_breaks_meanwhile_is_told(fit, whole, jobs, tmp_path):
    path = tmp_path / "runs.parquet"
    pq.write_table(pa.Table.from_pandas(jobs), path, compression="none")
    files = list_files([path], tmp_path / "out", columns(fit))
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * (len(content) // 2) + content[len(content) // 2 + 4 :])
    with pytest.raises(TraceError, match="broken Parquet file"):
        assign_files(whole, files, tmp_path / "out")
    path.unlink()
    with pytest.raises(TraceError, match="every worker must see the files"):
        assign_files(whole, files, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_clustering_without_a_profile_assigns_none(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).random((300, 2)), columns=["one", "two"])
    settings = ProfileSettings(features=("one", "two"), min_cluster_size=140)
    found = fit_profiles({"jobs": table}, settings)
    assert found.scores.n_clusters == 0
    table.to_parquet(tmp_path / "runs.parquet")
    files = list_files([tmp_path / "runs.parquet"], tmp_path / "out", columns(found))
    assert assign_files(file_assigner(found, table, ["none"]), files, tmp_path / "out").runs.tolist() == [300]


@pytest.mark.slow
def test_optics_assigns_nothing():
    table = job_table(300)
    found = fit_profiles({"jobs": table}, ProfileSettings(algorithm="optics"))
    with pytest.raises(SettingsError, match="has no HDBSCAN tree"):
        file_assigner(found, table, ["none"])
