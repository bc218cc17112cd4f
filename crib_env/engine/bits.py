"""What the observations of all families have in common: slices, and points still to make."""

from __future__ import annotations

from crib_env.engine.jit import kernel

TENS = 20  # thermometer of the tens of points still to make
NEED = TENS + 10


def offsets(layout: tuple[tuple[str, int, str], ...]) -> dict[str, int]:
    """Return where each slice of a layout begins, and under ``"end"`` the vector's length."""
    begins, at = {}, 0
    for name, size, _ in layout:
        begins[name] = at
        at += size
    begins["end"] = at
    return begins


@kernel
def encode_need(obs, at, need):
    """Write points still to make: a thermometer of tens, then the units one-hot."""
    for i in range(min(need // 10, TENS)):
        obs[at + i] = 1
    obs[at + TENS + need % 10] = 1
