"""Random legal actions for users' loops, examples and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def check_rng(rng: object) -> np.random.Generator:
    """Return a generator given as the source of chance."""
    if isinstance(rng, np.random.Generator):
        return rng
    seed = rng if isinstance(rng, int) else 1
    raise TypeError(
        "rng must be a numpy.random.Generator, made once before the loop: "
        f"rng = numpy.random.default_rng({seed}); got {rng!r}"
    )


def sample_legal(masks: npt.NDArray[Any], rng: np.random.Generator) -> Any:
    """Draw a legal action for each mask, each as likely.

    Args:
        masks: int8 or bool: a mask [actions], or [N, actions], ``info["action_mask"]`` of a vector
            environment.
        rng: the source of chance.

    Returns:
        of one mask an int; of N int64[N].

    Raises:
        ValueError: an array of another shape or kind, or a mask without a legal action.
        TypeError: ``rng`` is no generator.
    """
    given = np.asarray(masks)
    if given.ndim not in (1, 2) or given.dtype.char not in "b?":
        raise ValueError(
            "masks must be int8 or bool of shape [actions] or [N, actions], got "
            f"{given.dtype} of {given.shape}"
        )
    if given.ndim == 1:
        legal = given.nonzero()[0]
        if not legal.size:
            raise ValueError("the mask allows no action: that episode has ended")
        return legal.item(int(check_rng(rng).random() * legal.size))
    from crib_env.engine.sampling import nth_legal

    draws = check_rng(rng).integers(1 << 32, size=len(given))
    actions = np.empty(len(given), dtype=np.int64)
    bad = nth_legal(np.ascontiguousarray(given).view(np.int8), draws, actions)
    if bad >= 0:
        raise ValueError(f"masks[{bad}] allows no action: that episode has ended")
    return actions
