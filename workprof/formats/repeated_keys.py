"""Keys that stand more than once in one JSON object: the last value counts, as every reader of JSON has it; counted.

RFC 8259 (section 4) leaves open what such an object means. So the row is kept, and people are told.
"""

from collections import Counter
from typing import Any

from workprof.store.reports import Check

NAME = "repeated keys"
DOCUMENTS = "documents"
MOST_NAMES = 1000
"""Different names that are counted; a hostile file repeats others in every row."""
MOST_SHOWN = 5
LONGEST = 40


class RepeatedKeys:
    """Counts them while a decoder reads: `hook` is its `object_pairs_hook`."""

    def __init__(self) -> None:
        self.rows = 0
        self._times: Counter[str] = Counter()
        self._here: list[str] = []

    def hook(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object of its pairs, and note the keys that repeat an earlier one."""
        result = dict(pairs)
        if len(result) < len(pairs):
            times = Counter(key for key, _ in pairs)
            self._here += [key for key, count in times.items() if count > 1]
        return result

    def forget(self) -> None:
        """Forget what was noted since the last row: it is read again, or is no row."""
        self._here = []

    def end_row(self) -> None:
        """Count the row that was read."""
        if not self._here:
            return
        self.rows += 1
        for name in dict.fromkeys(self._here):
            if name in self._times or len(self._times) < MOST_NAMES:
                self._times[name] += 1
        self._here = []

    def checks(self, of: str = "rows") -> tuple[Check, ...]:
        """The finding with the keys that repeat most often; nothing where none does."""
        if not self.rows:
            return ()
        order = sorted(self._times.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{_short(name)} ({count:,})" for name, count in order[:MOST_SHOWN])
        others = f"{len(order) - MOST_SHOWN:,} {'or more ' if len(order) == MOST_NAMES else ''}others"
        more = f" and {others}" if len(order) > MOST_SHOWN else ""
        what = of.removesuffix("s") if self.rows == 1 else of
        text = f"{self.rows:,} {what} with a key that stands there more than once; its last value counts: {shown}{more}"
        return (Check(NAME, "warning", self.rows, text),)


def _short(name: str) -> str:
    """A key as it can be shown: halves of characters marked, not longer than a line holds."""
    whole = name.encode("utf-8", "replace").decode()
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}..."
