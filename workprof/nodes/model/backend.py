"""JAX as this package uses it: on the processor, with 64-bit numbers, loaded when the first network is asked for."""

from __future__ import annotations

from typing import Any


def jax_on_cpu() -> Any:
    """Return the jax module, set to the processor and to double precision."""
    import jax  # noqa: PLC0415  heavy

    settings: Any = jax.config
    settings.update("jax_platforms", "cpu")
    settings.update("jax_enable_x64", True)
    return jax
