"""JSON from outside: whatever is no document is refused in words."""

from __future__ import annotations

import json
from typing import Any

from workprof.errors import TraceError


def parsed(text: str, origin: str) -> Any:
    """Return the document of a text.

    Raises:
        TraceError: when it is none, or nested beyond reason.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{origin} is broken JSON ({str(error)[:100]}); save it again") from error
