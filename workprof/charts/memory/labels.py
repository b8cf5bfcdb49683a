"""Labels of marks that stand side by side: one stack of lines instead of words over words."""

from __future__ import annotations

from collections.abc import Sequence

NEAR_ACROSS = 0.15
"""Of the axis: about the length of a label."""
NEAR_UP = 0.05
"""Of a power of ten on a logarithmic axis of one to two of them: about the height of a line."""


def stacked_labels(across: Sequence[float], up: Sequence[float], names: Sequence[str]) -> list[str]:
    """Return the label of every mark; of marks that stand close, the middle one bears all names, the highest first.

    Args:
        across: (n_marks,) horizontal places as shares of the axis.
        up: (n_marks,) vertical places in powers of ten.
        names: (n_marks,) '' = no label.
    """
    labels = [""] * len(names)
    stacks: list[list[int]] = []
    for at in sorted((at for at, name in enumerate(names) if name), key=lambda at: -up[at]):
        near = next((stack for stack in stacks if _near(across, up, stack[-1], at)), None)
        if near is None:
            stacks.append([at])
        else:
            near.append(at)
    for stack in stacks:
        labels[stack[len(stack) // 2]] = "<br>".join(names[at] for at in stack)
    return labels


def _near(across: Sequence[float], up: Sequence[float], one: int, other: int) -> bool:
    return abs(across[one] - across[other]) < NEAR_ACROSS and abs(up[one] - up[other]) < NEAR_UP
