import pytest

from workprof.core.errors import NotEnoughData, SettingsError
from workprof.profiles.settings import ProfileSettings, clustered_rows, default_min_cluster_size, preset, resolve


def test_presets_leave_the_features_alone():
    assert preset("paper", 5000) == {
        "scaler": "power",
        "metric": "euclidean",
        "min_cluster_size": 300,
        "min_samples": 0,
    }
    assert preset("fine", 100_001)["min_cluster_size"] == 100
    assert preset("coarse", 100_001)["min_cluster_size"] == 1000
    with pytest.raises(SettingsError, match="paper, fine, coarse"):
        preset("best", 10)


def test_a_profile_has_two_rows_at_least():
    with pytest.raises(SettingsError, match="at least 2, or 0"):
        ProfileSettings(min_cluster_size=1)


@pytest.mark.parametrize(("rows", "size"), [(100_001, 300), (686, 20), (50, 20), (1_000_000, 3000)])
def test_default_size(rows, size):
    assert default_min_cluster_size(rows) == size


def test_resolving_leaves_nothing_open_and_repeats():
    resolved = resolve(ProfileSettings(), 100_001)
    assert (resolved.features, resolved.min_cluster_size, resolved.min_samples) == (("sensors10",), 300, 300)
    assert resolved.silhouette == "sampled"
    assert resolve(resolved, 100_001) == resolved
    faithful = resolve(ProfileSettings(mode="faithful"), 100_001)
    assert (faithful.features, faithful.silhouette) == (("all17",), "exact")
    assert resolve(ProfileSettings(min_cluster_size=50), 20_000).min_samples == 50


def test_too_few_rows_say_how_many():
    with pytest.raises(NotEnoughData, match="More than 600 would do"):
        resolve(ProfileSettings(min_cluster_size=300), 600)
    with pytest.raises(NotEnoughData):
        resolve(ProfileSettings(), 0)


def test_optics_sees_a_sample():
    assert clustered_rows(ProfileSettings(algorithm="optics"), 100_001) == 10_000
    assert clustered_rows(ProfileSettings(), 100_001) == 100_001
    assert clustered_rows(ProfileSettings(sample_rows=500), 100) == 100
