"""How the `expert` plays six-card and five-card cribbage.

- `discard`: discarding, by mean hand, mean crib and expected play.
- `pegging`: the play, by belief and search.
- `judge`: the value of a score, by which both choose.
"""
