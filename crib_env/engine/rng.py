"""The random number generator: sfc32 (Doty-Humphrey's Small Fast Counter, 32 bits).

32-bit words kept in int64 with adds, shifts and xors only, so that Numba, plain Python and CUDA
give the same bits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crib_env.engine.jit import kernel

WORDS = 4
M32 = 0xFFFFFFFF
WARM_UP = 12


@kernel
def next_word(rng):
    """Advance ``rng`` (int64[4]: a, b, c, counter) and return the next word, 0 to 2**32 - 1."""
    a = rng[0]
    b = rng[1]
    c = rng[2]
    t = (a + b + rng[3]) & M32
    rng[3] = (rng[3] + 1) & M32
    rng[0] = b ^ (b >> 9)
    rng[1] = (c + (c << 3)) & M32
    rng[2] = ((((c << 21) & M32) | (c >> 11)) + t) & M32
    return t


@kernel
def below(rng, n):
    """Return a draw from 0 to n - 1; its bias is under n / 2**32."""
    return (next_word(rng) * n) >> 32


@kernel
def draw_unused(rng, used):
    """Return a card id drawn from those not in the mask ``used``."""
    card = below(rng, 52)
    while used >> card & 1:
        card = below(rng, 52)
    return card


@kernel
def seed_words(rng, a, b, c):
    """Start ``rng`` from three 32-bit words and warm it up."""
    rng[0] = a
    rng[1] = b
    rng[2] = c
    rng[3] = 1
    for _ in range(WARM_UP):
        next_word(rng)


def seed_states(states: npt.NDArray[np.void], seed_seq: np.random.SeedSequence) -> None:
    """Seed the generator of each record, [N]; record ``i`` gets the same stream for any N."""
    words = seed_seq.generate_state(3 * len(states)).astype(np.int64).reshape(-1, 3)
    rng = np.empty((len(states), WORDS), dtype=np.int64)
    rng[:, :3] = words
    rng[:, 3] = 1
    columns = [rng[:, i] for i in range(WORDS)]
    for _ in range(WARM_UP):
        a, b, c, d = columns
        t = (a + b + d) & M32
        columns = [b ^ (b >> 9), (c + (c << 3)) & M32, ((((c << 21) & M32) | (c >> 11)) + t) & M32, (d + 1) & M32]
    for i in range(WORDS):
        states["rng"][:, i] = columns[i]
