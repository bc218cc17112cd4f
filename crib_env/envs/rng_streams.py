"""The random generators of a batch, one for each purpose.

Opponent, partner and phase policy each have their own generators. These are seeded by words, not by
seed sequences: an agent that knew the sequence could compute the deals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crib_env.engine.rng import WORDS, seed_states

SeedSequence = np.random.SeedSequence


class RngStreams:
    """The generators of n lanes besides those of the deals.

    Attributes:
        rngs: int64[N, 4], of the opponent where it is compiled. phase_rngs: of the phase policy.
        share_rngs: of who the opponent is, where there are several. illegal_rngs: of the legal
            actions drawn in place of illegal ones.
        opponent, partner, phase_policy: the generators of those asked in Python, of all lanes.
    """

    def __init__(self, n: int) -> None:
        self.rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.phase_rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.share_rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.illegal_rngs = np.zeros((n, WORDS), dtype=np.int64)
        self.seed(None)

    def seed(self, seed: int | None) -> SeedSequence:
        """Start every generator from ``seed``; return the seed sequence of the deals."""
        deals, python = self._seed_lanes(seed, slice(None))
        self._seed_python(python)
        return deals

    def seed_each(self, seeds: Sequence[int | None], states: npt.NDArray[np.void]) -> None:
        """Start the generators of each lane, its deals' too, from its own seed, if it has one.

        Those of agents asked in Python start from the first lane's.
        """
        for lane, seed in enumerate(seeds):
            if seed is not None:
                here = slice(lane, lane + 1)
                deals, python = self._seed_lanes(int(seed), here)
                seed_states(states[here], deals)
                if lane == 0:
                    self._seed_python(python)

    def _seed_lanes(self, seed: int | None, lanes: slice) -> tuple[SeedSequence, SeedSequence]:
        """Start the generators of lanes; return the sequences of the deals and of agents asked."""
        deals, players, python = SeedSequence(seed).spawn(3)
        phase, share, illegal = players.spawn(3)
        streams = (
            (self.rngs, players), (self.phase_rngs, phase), (self.share_rngs, share),
            (self.illegal_rngs, illegal),
        )  # fmt: skip
        for rngs, seed_seq in streams:
            words = seed_seq.generate_state(rngs[lanes].size)
            rngs[lanes] = words.reshape(-1, WORDS).astype(np.int64)
        return deals, python

    def _seed_python(self, seed_seq: SeedSequence) -> None:
        self.opponent, self.partner, self.phase_policy = (
            np.random.default_rng(one.generate_state(4)) for one in (seed_seq, *seed_seq.spawn(2))
        )
