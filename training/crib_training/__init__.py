"""What trains agents, makes their tables and measures them; `crib` is its command line.

- `command_line`: the command `crib` and its subcommands.
- `learn`: runs of every method, `crib train`.
- `tables`: what makes the tables and weights that the agents read, in order.
- `evaluation`: two agents on duplicate deals, and ratings.
- `tournament`: every two of a field, on one machine or several.
- `loading`: from names to environments and agents.
- `warmup`: everything compiled before it is needed.
"""
