"""Every pair of agents of a field, on duplicate deals.

- `run`: the command `crib tournament`.
- `chunks`: the parts of a tournament, each fixed by its key alone.
- `ledger`: stores finished chunks, so that a tournament can resume.
- `report`: the results, as data and as a page.
"""
