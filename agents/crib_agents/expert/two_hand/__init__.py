"""How the `expert` plays six-card and five-card cribbage.

- `discard`: discarding, by mean hand, mean crib and expected pegging.
- `pegging`: pegging, by belief and search.
"""
