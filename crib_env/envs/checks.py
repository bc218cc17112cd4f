"""Checks of arguments that all environments share."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.errors import nearest

ILLEGAL_REWARD = -1.0  # as PettingZoo's TerminateIllegalWrapper is used in its own classic games


def check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    """Raise a ValueError unless ``value`` is one of ``accepted``."""
    if value not in accepted:
        known = ", ".join(map(repr, accepted))
        raise ValueError(f"{name} must be one of {known}, got {value!r}{nearest(value, accepted)}")


ON_ILLEGAL = ("terminate", "raise", "random")
"""What an illegal action does: `on_illegal` of every environment."""

# What Gymnasium's makers and others' helpers ask for without knowing whether it is there.
COMMON_MODES = ("human", "rgb_array")
# What the extra `render` brings, by the mode that needs it.
NEEDED = {"rgb_array": ("PIL", "resvg_py"), "human": ("PIL", "resvg_py", "pygame")}
INSTALL = 'pip install "crib-env[render]"'


def choose_render_mode(wanted: str | None, modes: Sequence[str]) -> str | None:
    """Return the render mode that is asked for; None for a common one that is not there.

    Stable-Baselines3's ``make_vec_env`` asks every environment for ``"rgb_array"``, and Gymnasium
    has warned by then. For the same reason that mode without its libraries is warned of here and
    fails at `render`.
    """
    if wanted is None or wanted in modes:
        missing = [one for one in NEEDED.get(wanted or "", ()) if find_spec(one) is None]
        if missing:
            message = f"render_mode={wanted!r} needs {', '.join(missing)}, not installed: {INSTALL}"
            if wanted == "human":
                raise DependencyNotInstalled(message)
            warnings.warn(message, stacklevel=4)
        return wanted
    if wanted not in COMMON_MODES:
        check_choice("render_mode", wanted, tuple(modes))
    return None


def whole_number(name: str, value: object, least: int) -> int:
    """Return a setting given as any kind of whole number from ``least`` up."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise ValueError(f"{name} must be a whole number from {least} up, got {value!r}")
