"""What the shells check alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crib_env.errors import IllegalActionError, nearest

ILLEGAL_REWARD = -1.0  # as PettingZoo's TerminateIllegalWrapper is used in its own classic games


def check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    """Raise a ValueError unless ``value`` is one of ``accepted``."""
    if value not in accepted:
        known = ", ".join(map(repr, accepted))
        raise ValueError(f"{name} must be one of {known}, got {value!r}{nearest(value, accepted)}")


# What Gymnasium's makers and others' helpers ask for without knowing whether it is there.
COMMON_MODES = ("human", "rgb_array")


def choose_render_mode(wanted: str | None, modes: Sequence[str]) -> str | None:
    """Return the render mode that is asked for; None for a common one that is not there.

    Stable-Baselines3's ``make_vec_env`` asks every environment for ``"rgb_array"``, and Gymnasium
    has warned by then.

    Raises:
        ValueError: a mode that nobody knows.
    """
    if wanted is None or wanted in modes:
        return wanted
    if wanted not in COMMON_MODES:
        check_choice("render_mode", wanted, tuple(modes))
    return None


def whole_number(name: str, value: object, least: int) -> int:
    """Return a setting given as any kind of whole number from ``least`` up.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise ValueError(f"{name} must be a whole number from {least} up, got {value!r}")


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
