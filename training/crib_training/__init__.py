"""What trains agents, makes their tables and measures them; `crib` is its command line.

- `command_line`: the command `crib` and its subcommands.
- `learn`: networks trained by MaskablePPO, with a recipe for each environment.
- `tables`: what makes the tables and weights that the agents read, in order.
- `evaluation`: two agents on duplicate deals, and ratings.
- `tournament`: every two of a field, on one machine or several.
- `loading`: from names to environments and agents.
- `warmup`: everything compiled before it is needed.
"""

from crib_env.parts import add_parts

add_parts(
    "deep_monte_carlo",
    two_hand="crib_training.learn.deep_monte_carlo.two_hand:TwoHandSelfPlay",
    table_top="crib_training.learn.deep_monte_carlo.table_top:TableTopSelfPlay",
)
