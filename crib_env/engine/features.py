"""Compiled entries that write a family's features (`Family.features`) for many views or games.

They run as a separate pass after the games have stepped, so steps without features cost nothing
extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import float32, int64, void

from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import FLAGS_T, OBS_T, TABLE_T, Array
from crib_env.engine.show import show_table

FLOATS_T = float32[:, ::1]


@dataclass(frozen=True)
class FeatureEntries:
    """The entries of a family; see `feature_entries`."""

    write: Entry
    observe: Entry

    def of_views(self, views: Array, bits: Array, features: int, level: int) -> Array:
        """Return observations with features, float32[B, obs_size + features].

        Shapes: bits uint8[B, obs_size].
        """
        seen = bits.shape[1]
        observations = np.zeros((len(views), seen + features), dtype=np.float32)
        observations[:, :seen] = bits
        self.write(views, show_table(), level, seen, observations)
        return observations


@cache
def feature_entries(family: Family) -> FeatureEntries:
    """Return the entries of a family."""
    states_t, rules_t, views_t = family.types
    view, write_features = family.kernels.view, family.kernels.write_features

    @entry(void(views_t, TABLE_T, int64, int64, FLOATS_T), f"{family.name}.write_features")
    def write(views, table, level, at, observations):
        """Write the features of each view into its row from column ``at`` on."""
        for k in range(views.shape[0]):
            write_features(views[k], table, level, observations[k, at:])

    @entry(
        void(states_t, rules_t, TABLE_T, views_t, int64[::1], FLAGS_T, OBS_T, int64, FLOATS_T),
        f"{family.name}.observe_features",
    )
    def observe(states, rules, table, views, seats, ended, bits, level, observations):
        """Write the observation with features of the learner in each lane.

        Args:
            views: scratch. seats: int64[N]. ended: bool[N], where all features are 0.
            bits: uint8[N, obs_size], the observations without.
            observations: float32[N, obs_size + features].
        """
        v = views[0]
        seen = bits.shape[1]
        for i in range(states.shape[0]):
            row = observations[i]
            for k in range(seen):
                row[k] = bits[i, k]
            if ended[i]:
                row[seen:] = 0
            else:
                view(states[i], rules[0], seats[i], v)
                write_features(v, table, level, row[seen:])

    return FeatureEntries(write, observe)
