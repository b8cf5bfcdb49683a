"""The store of a viewer where people are not named: what was written about a dataset leaves it without names."""

# ruff: noqa: D102  each answers as the method of TraceStore

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import duckdb
import pandas as pd

from workprof.core.errors import WorkprofError
from workprof.core.refreshes import Refresh
from workprof.core.scope import SIGN, split
from workprof.core.settings import Settings
from workprof.store.connection import quoted
from workprof.store.documents import Unreadable
from workprof.store.pseudonyms import Names, Pseudonyms
from workprof.store.reports import Dataset, IngestReport, ProfileNote
from workprof.store.trace_store import TraceStore
from workprof.store.users import Users

Value = TypeVar("Value")
Record = TypeVar("Record")

HIDDEN = "not shown to viewers"


class NamelessStore(TraceStore):
    """A store that names nobody."""

    def __init__(self, settings: Settings) -> None:
        """Open as the other one; raises as it does."""
        super().__init__(settings)
        self._users = Users(settings.home)

    def _without_names(self, value: Value) -> Value:
        pseudonyms = self._database.pseudonyms
        return value if pseudonyms is None else pseudonyms.within(value, self._names(pseudonyms))

    def _names(self, pseudonyms: Pseudonyms) -> Names:
        """Every name in the rows of this home and of who logs in, and its pseudonym."""
        people = tuple(self._users.all()) if "user" in pseudonyms.columns else ()

        def read(cursor: duckdb.DuckDBPyConnection) -> Names:
            result = {name: pseudonyms.of("user", name) for name in people}
            for entry in self._known.entries():
                for column in entry.hidden:
                    query = f"SELECT DISTINCT CAST({quoted(column)} AS VARCHAR) FROM {quoted(entry.table)}"
                    names = [str(name) for (name,) in cursor.execute(query).fetchall() if name]
                    result |= {name: pseudonyms.of(column, name) for name in names}
            return pseudonyms.names(result)

        return self._unchanged(("names", repr(people)), read)

    def datasets(self) -> tuple[Dataset, ...]:
        return tuple(self._nameless(one) for one in super().datasets())

    def dataset(self, name_or_hash: str) -> Dataset:
        return self._nameless(super().dataset(name_or_hash))

    def _nameless(self, dataset: Dataset) -> Dataset:
        """Its own name stays, as links and commands have it."""
        return dataclasses.replace(dataset, origin=self._without_names(dataset.origin))

    def report(self, dataset: str) -> IngestReport:
        found = super().report(dataset)
        checks = self._without_names(found.checks)
        return dataclasses.replace(found, checks=checks, rejects_file=None)

    def rejects(self, dataset: str, limit: int = 1000) -> pd.DataFrame:
        found = super().rejects(dataset, limit)
        return found.assign(**dict.fromkeys(("text", "reason"), HIDDEN))

    def notes(self, clustering: str) -> tuple[ProfileNote, ...]:
        return self._without_names(super().notes(clustering))

    def decisions(self, dataset: str, cls: type[Record]) -> tuple[tuple[Record, ...], dict[str, Unreadable]]:
        found, unreadable = super().decisions(dataset, cls)
        pseudonyms = self._database.pseudonyms
        if pseudonyms is None or not found:
            return self._without_names((found, unreadable))
        stay = self._values_of_rows(dataset, [str(vars(one)["row_key"]) for one in found])
        names = self._names(pseudonyms).instead
        of_rows = pseudonyms.names({**names, **{value: value for value in stay}})
        shown: list[Any] = []
        for one in found:
            key, by = str(vars(one)["row_key"]), str(vars(one)["by"])
            shown.append(
                dataclasses.replace(
                    self._without_names(one),  # type: ignore[type-var]
                    row_key=pseudonyms.text(key, of_rows),
                    by=names.get(by) or pseudonyms.of("user", by),
                )
            )
        return tuple(shown), self._without_names(unreadable)

    def _values_of_rows(self, dataset: str, keys: Sequence[str]) -> set[str]:
        """What the rows of a dataset have, as viewers see them, in the columns that keys of decisions name."""
        columns = {part.partition("=")[0] for key in keys for part in key.split(",")}
        try:
            entry = self._entry(split(dataset)[0])
        except WorkprofError:  # it was removed
            return set()
        result = set()
        with self._database.cursor() as cursor:
            for one in entry.columns:
                if one.name in columns and not one.numeric and one.name not in entry.hidden:
                    query = f"SELECT DISTINCT CAST({quoted(one.name)} AS VARCHAR) FROM {entry.relation}"
                    result |= {str(value) for (value,) in cursor.execute(query).fetchall() if value}
        return result

    def scopes(self) -> dict[str, str]:
        return self._without_names(super().scopes())

    def scenarios(self, dataset: str, cls: type[Record]) -> tuple[Record, ...]:
        return self._without_names(super().scenarios(dataset, cls))

    def unreadable_scenarios(self, dataset: str, cls: type[Record]) -> dict[str, Unreadable]:
        return {}

    def unreadable_feedback(self, dataset: str, state: type[object], jobs: type[object]) -> dict[str, Unreadable]:
        return {}

    def feedback(self, dataset: str, settings: str, cls: type[Record]) -> Record | None:
        return None  # what was observed of finished jobs was learned under their names

    def finished_jobs(self, dataset: str, settings: str, cls: type[Record]) -> tuple[Record, ...]:
        return ()

    def sources(self, cls: type[Record]) -> dict[str, Record | Unreadable]:
        return self._without_names(super().sources(cls))

    def notices(self, kind: str, cls: type[Record]) -> dict[str, Record]:
        """Of alerts those about whole datasets: a scope may name people."""
        found = super().notices(kind, cls).items()
        whole = {name: one for name, one in found if SIGN not in getattr(one, "dataset", "")}
        return self._without_names(whole)

    def refreshes(self, name: str, most: int = 1000) -> tuple[Refresh, ...]:
        return self._without_names(super().refreshes(name, most))
