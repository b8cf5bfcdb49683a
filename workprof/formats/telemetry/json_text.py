"""JSON from outside: whatever is no document is refused in words."""

from __future__ import annotations

import json
from typing import Any

from workprof.errors import TraceError
from workprof.formats.repeated_keys import RepeatedKeys


def parsed(text: str, origin: str, repeated: RepeatedKeys) -> Any:
    """Return the document of a text, its repeated keys counted.

    Raises:
        TraceError: when it is none, or nested beyond reason.
    """
    try:
        found = json.loads(text, object_pairs_hook=repeated.hook)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{origin} is broken JSON ({str(error)[:100]}); save it again") from error
    repeated.end_row()
    return found
