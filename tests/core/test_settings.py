"""The environment becomes one frozen record."""

from pathlib import Path

import pytest

from workprof.core.errors import SettingsError
from workprof.core.settings import frame_ancestors, from_environment


def test_home_defaults_to_the_data_home(tmp_path):
    assert from_environment({"XDG_DATA_HOME": str(tmp_path)}).home == tmp_path / "workprof"
    assert from_environment({"WORKPROF_HOME": str(tmp_path / "h")}).home == tmp_path / "h"


def test_limits_and_switches(tmp_path):
    settings = from_environment(
        {
            "WORKPROF_HOME": str(tmp_path),
            "WORKPROF_MEMORY_LIMIT": "2GB",
            "WORKPROF_READONLY": "1",
            "WORKPROF_DATA": "/d",
        }
    )
    assert settings.memory_limit_bytes == 2_000_000_000
    assert settings.readonly
    assert settings.data == Path("/d")


@pytest.mark.parametrize("limit", ["much", "1KB"])
def test_a_limit_that_cannot_be_used_is_named(limit):
    with pytest.raises(SettingsError, match="WORKPROF_MEMORY_LIMIT"):
        from_environment({"WORKPROF_MEMORY_LIMIT": limit})


def test_who_may_frame_the_dashboard_is_told_as_origins():
    assert frame_ancestors({}) == frame_ancestors({"WORKPROF_FRAME_ANCESTORS": " , "}) == ()
    named = "https://wiki.example.org, http://localhost:*,https://*.example.org:8443,http://[::1]:80"
    assert frame_ancestors({"WORKPROF_FRAME_ANCESTORS": named}) == tuple(one.strip() for one in named.split(","))


NO_ORIGINS = ("*", "https://*", "wiki.example.org", "https://a.example/x", "https://a b", "https://a;b *", "'none'")


@pytest.mark.parametrize("entry", NO_ORIGINS)
def test_what_is_no_origin_is_refused(entry):
    with pytest.raises(SettingsError, match=r"WORKPROF_FRAME_ANCESTORS has .*give origins like"):
        frame_ancestors({"WORKPROF_FRAME_ANCESTORS": f"https://wiki.example.org,{entry}"})


def test_what_starts_by_itself_is_switched_by_its_longest_time():
    assert from_environment({}).ahead_s == 20
    assert from_environment({"WORKPROF_AHEAD": "0"}).ahead_s == 0
    assert from_environment({"WORKPROF_AHEAD": "1.5"}).ahead_s == 1.5
    for text in ("soon", "-1", "nan"):
        with pytest.raises(SettingsError, match="WORKPROF_AHEAD"):
            from_environment({"WORKPROF_AHEAD": text})
