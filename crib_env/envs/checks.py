"""What the shells check alike, and what they set alike at the start of an episode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.errors import IllegalActionError

ILLEGAL_REWARD = -1.0  # as PettingZoo's TerminateIllegalWrapper is used in its own classic games


def check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    """Raise a ValueError unless ``value`` is one of ``accepted``."""
    if value not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}")


def whole_action(action: object, actions: int) -> int:
    """Return an action given as any kind of whole number.

    Raises:
        IllegalActionError: it is none.
    """
    if isinstance(action, (int, np.integer)) and not isinstance(action, (bool, np.bool_)):
        return int(action)
    if isinstance(action, np.ndarray) and action.size == 1 and action.dtype.kind in "iu":
        return int(action.reshape(())[()])
    raise IllegalActionError(f"an action is a whole number from 0 to {actions - 1}, got {action!r}")


def set_scores(states: npt.NDArray[np.void], scores: tuple[int, int]) -> None:
    """Let episodes just begun start from ``scores``; heels already turned stay on top (T3)."""
    heels = states["scores"] - states["start"]
    states["scores"] = np.array(scores) + heels
    states["start"] = scores
    if "rear" in (states.dtype.names or ()):
        states["rear"] = states["scores"]
