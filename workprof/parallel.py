"""Who runs the parallel loops: this machine, or the Dask cluster that WORKPROF_DASK names.

The loops are joblib calls. Without a cluster they run one after another, each on all threads of the compiled kernels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from workprof.core.errors import SettingsError

PATIENCE_S = 10


@contextlib.contextmanager
def loops_on(scheduler: str | None) -> Iterator[None]:
    """Send the joblib loops inside this context to a Dask scheduler ('tcp://host:port'), or leave them here (None).

    Raises:
        SettingsError: when the scheduler cannot be reached, has no workers, or Dask is not installed.
    """
    if not scheduler:
        yield
        return
    try:
        from distributed import Client  # noqa: PLC0415  an extra
    except ImportError as error:
        raise SettingsError("WORKPROF_DASK is set but Dask is not installed; install workprof[dask]") from error
    import joblib  # noqa: PLC0415  heavy

    try:
        client = Client(scheduler, timeout=PATIENCE_S, set_as_default=True)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise SettingsError(f"WORKPROF_DASK is {scheduler!r}: no scheduler answers there ({error})") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise SettingsError(f"WORKPROF_DASK is {scheduler!r}: its cluster has no workers; start some")
        with joblib.parallel_config("dask"):
            yield
