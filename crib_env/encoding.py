"""From views to network inputs: observations and masks, and the meaning of every entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.arrays import kernel_array
from crib_env.engine.entries import entries_of
from crib_env.engine.family import SUITS, Family, Features, Layout, check_features, family_of
from crib_env.engine.show import show_table
from crib_env.errors import check_choice
from crib_env.policy import Views
from crib_env.registration import ENVIRONMENTS, env_module
from crib_env.rules import games_of


def encode(
    views: Views | np.void, features: bool | None = None, suits: str = "real"
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int8]]:
    """Return the observations and action masks of views, for your own network.

    Args:
        views: structured array [B] of views, as agents receive them; or one view.
        features: as in the environments.
        suits: as in the environments; see `canonical_views`.

    Returns:
        uint8[B, size], with features float32[B, size + features], and int8[B, actions]. The slices
        are those of `crib_env.observation_layout`.

    Raises:
        ValueError: not views of a known game, or invalid ``features`` or ``suits``.
    """
    if suits != "real":
        views = canonical_views(views, suits)
    views = kernel_array(np.atleast_1d(views))
    family = family_of(views)
    check_features(features)
    obs = np.empty((len(views), family.obs_size), dtype=np.uint8)
    masks = np.empty((len(views), family.actions), dtype=np.int8)
    entries_of(family).encode(views, obs, masks)
    if not features:
        return obs, masks
    both = np.zeros((len(views), family.obs_size + family.features.size), dtype=np.float32)
    both[:, : family.obs_size] = obs
    entries_of(family).write_features(views, show_table(), family.obs_size, both)
    return both, masks


def canonical_views(views: Views | np.void, suits: str = "canonical") -> Views:
    """Return views in canonical cards: views that differ only by suits become equal.

    While a seat discards, its suits are put in a fixed order; in the pegging suits do not matter,
    and cards of one rank are numbered. A canonical card has the same index in ``hand`` as the card
    that it replaces.

    Args:
        views: structured array [B] of views of a two-hand game; or one view.
        suits: ``"ranks"`` also hides the seat's own discards in the pegging, so that the views of
            two positions differ only if their ranks do.

    Returns:
        new views, [B]; the given ones do not change.

    Raises:
        ValueError: not views of a game with canonical suits, or invalid ``suits``.
    """
    check_choice("suits", suits, SUITS)
    copies = np.array(np.atleast_1d(views))
    family = family_of(copies)
    if not family.canonical:
        raise ValueError(f"{games_of(family.name)} has no canonical suits: its suits count in full")
    if suits != "real":
        family.canonical[suits].relabel_views(copies)
    return copies


class ObservationLayout(dict[str, slice]):
    """The slices of an observation by name; ``str`` gives a table with their meanings.

    Attributes:
        meanings: the meaning of each slice's entries, by its name.
        actions: the number of actions.
        rows: the number and the width of the rows of features, (0, 0) without features.
        row: the slices of one row, by name.
        places, first: see `crib_env.engine.family.Features`.
    """

    def __init__(self, parts: Layout, actions: int = 0, features: Features | None = None) -> None:
        super().__init__()
        self.meanings: dict[str, str] = {}
        at = 0
        for one in parts:
            self[one.name] = slice(at, at + one.size)
            self.meanings[one.name] = one.meaning
            at += one.size
        self.actions = actions
        self.rows, self.first = (0, 0), 0
        self.row: ObservationLayout = self
        self.places: tuple[tuple[int, ...], ...] | None = None
        if features is not None:
            self.rows = features.rows, features.width
            self.places, self.first = features.places, features.first
            self.row = ObservationLayout(features.row)

    def __str__(self) -> str:
        rows = [
            f"| `{name}` | {part.start} to {part.stop - 1} | {self.meanings[name]} |" for name, part in self.items()
        ]
        return "\n".join(["| slice | entries | meaning |", "|---|---|---|", *rows])


def layout_of(family: Family, features: bool | None) -> ObservationLayout:
    """Return the slices of a family's observations."""
    return ObservationLayout(family.layout_with(features), family.actions, family.features if features else None)


def observation_layout(name: str, features: bool | None = None) -> ObservationLayout:
    """Return the slices of an environment's observation vector by name, with their meanings.

    Args:
        name: the environment's module or id, ``"six_card_v0"`` or ``"crib_env/SixCard-v0"``.
        features: as the environment was made with. If True, numbers of the view and ``rows`` follow
            the bits; the layout's ``row`` has the slices of one row.

    Raises:
        ValueError: no environment of that name, or invalid ``features``.
    """
    by_id = {gym_name: module for module, gym_name in ENVIRONMENTS.items()}
    bare = str(name).rpartition("/")[2]
    found = by_id.get(bare, bare.replace("-", "_"))
    module = env_module(found if found in ENVIRONMENTS else str(name))
    return layout_of(module.maker.family, features)
