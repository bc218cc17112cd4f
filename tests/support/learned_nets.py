"""Nets of the learned agent, drawn by chance, for tests."""

from itertools import pairwise

import numpy as np
from crib_agents.learned.weights import Weights, fields_of, find_learned

from crib_env.rules import Rules


def drawn_weights(rules: Rules, players: int = 2, seed: int = 1) -> Weights:
    rng = np.random.default_rng(seed)
    nets = {}
    for name, net in find_learned(rules.family).nets.items():
        sizes = (net.inputs, 24, 10, net.outputs)
        nets[name] = [
            (
                rng.normal(size=(n, m)).astype(np.float32) / np.float32(np.sqrt(m)),
                rng.normal(size=n).astype(np.float32),
            )
            for m, n in pairwise(sizes)
        ]
    tables = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in find_learned(rules.family).tables.items()
    }
    return Weights(rules.family, rules.name, fields_of(rules), players, nets, "a test", tables)
