"""One run of a page."""

from __future__ import annotations

from dataclasses import dataclass

from pages._frame.open_home import House
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

READONLY = "This server is read-only."


@dataclass(frozen=True)
class Visit:
    """One run of a page: the open home, and the dataset that the page is about (None where none is needed or there)."""

    house: House
    dataset: Dataset | None

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.house.workbench

    @property
    def readonly(self) -> bool:
        """Whether changes are refused."""
        return self.house.settings.readonly

    @property
    def refusal(self) -> str | None:
        """Why changes are refused, for the help of a disabled control; None where they are not."""
        return READONLY if self.readonly else None
