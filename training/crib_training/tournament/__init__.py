"""Every pair of agents of a field, on duplicate deals.

- `run`: the command `crib tournament`.
- `chunks`: the parts of a tournament, each fixed by its key alone.
- `ledger`: stores finished chunks, and has those that it lacks played.
"""
