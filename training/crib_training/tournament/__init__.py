"""Every two agents of a field, on duplicate deals.

- `run`: the command `crib tournament`.
- `chunks`: the pieces it is played in, each fixed by its key alone.
- `workers`: who plays them: this process, several, or a Ray cluster.
- `ledger`: keeps finished chunks, so that a tournament can be taken up again.
- `standings`, `report`: what it comes to, as data and as a page.
"""
