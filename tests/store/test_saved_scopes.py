"""Scopes are kept under a name, in the home, for any dataset that has their columns."""

import pytest

from workprof.core.errors import SettingsError


@pytest.mark.slow
def test_a_scope_is_kept_under_its_name_until_it_is_removed(store):
    assert store.scopes() == {}
    assert store.save_scope(" winter ", "user=ann&period=2026-01") == "winter"
    store.save_scope("long queue", "queue=long")
    for number, period in enumerate(("22..50", "..45", "2026", "2026-W05.."), 1):
        store.remove_scope(store.save_scope(f"period {number}", f"period={period}"))
    store.save_scope("winter", "user=bob&user=ann")  # in place of the first
    assert store.scopes() == {"winter": "user=ann&user=bob", "long queue": "queue=long"}
    store.remove_scope("winter")
    assert list(store.scopes()) == ["long queue"]
    with pytest.raises(SettingsError, match="there are: long queue"):
        store.remove_scope("winter")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scope"),
    [
        *(("", "user=ann"), ("a\nb", "user=ann"), ("x" * 81, "user=ann"), ("a", "ann"), ("a", "")),
        *(("a", "period=1e9"), ("a", "period=2026-13"), ("a", "period=50..22"), ("a", "period=22..2026-01")),
    ],
)
def test_a_name_or_a_scope_that_cannot_be_is_refused(store, name, scope):
    with pytest.raises(SettingsError):
        store.save_scope(name, scope)
    assert store.scopes() == {}
