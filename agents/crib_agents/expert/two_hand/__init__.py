"""How the `expert` plays six-card and five-card cribbage.

- `discard`: discarding, by mean hand, mean crib and expected play.
- `pegging`: the play, by belief and search.
- `judge`: what a score is worth, by which both choose.
"""
