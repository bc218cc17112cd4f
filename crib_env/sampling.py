"""Random legal actions for users' loops, examples and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def check_rng(rng: object) -> np.random.Generator:
    """Return a generator given as the source of chance.

    Raises:
        TypeError: it is none. A seed is no substitute: every call would draw the same again.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    seed = rng if isinstance(rng, int) else 1
    raise TypeError(
        "rng must be a numpy.random.Generator, made once before the loop: "
        f"rng = numpy.random.default_rng({seed}); got {rng!r}"
    )


def sample_legal(masks: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a legal action for each mask, each as likely.

    Args:
        masks: int8 or bool, [N, actions]: ``info["action_mask"]`` of a vector environment.
        rng: the source of chance.

    Returns:
        int64[N].

    Raises:
        ValueError: an array of another shape or kind, or a mask without a legal action.
        TypeError: ``rng`` is no generator.
    """
    given = np.asarray(masks)
    if given.ndim != 2 or given.dtype not in (np.int8, np.bool_):
        raise ValueError(
            f"masks must be int8 or bool of shape [N, actions], got {given.dtype} of "
            f"{given.shape}; pass masks[None] for a single mask, and take the first answer"
        )
    from crib_env.engine.sampling import nth_legal

    draws = check_rng(rng).integers(1 << 32, size=len(given))
    actions = np.empty(len(given), dtype=np.int64)
    bad = nth_legal(np.ascontiguousarray(given).view(np.int8), draws, actions)
    if bad >= 0:
        raise ValueError(f"masks[{bad}] allows no action: that episode has ended")
    return actions
