"""Training and measuring of agents; `crib` is the command line.

- `command_line`: the command `crib` and its subcommands.
- `learn`: runs of every method, `crib train`.
- `methods`: the learning methods, one module each.
- `exploit`: best responses, `crib exploit`.
- `evaluation`: two agents on duplicate deals, and ratings.
- `tournament`: every two of a field, on one machine or several.
- `loading`: from names to environments and agents.
- `warmup`: everything compiled before it is needed.
"""
