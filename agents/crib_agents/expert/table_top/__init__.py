"""How the `expert` plays Table Top (T1 to T13), two players or four, either set of rules.

`position` is a round in the form that moves are made on, `values` and `value` say what it is worth
by learned tables, `gains` what each card to come adds, `search` looks ahead, `agent` holds the
class. The values lie in `data`.

In a game points are weighed by what they do for winning it: `rounds` says what a round brings,
`win` solves the game by it, and `stakes` says which of its tables a view is judged by.
"""

from crib_agents.expert.table_top.agent import TableTopExpert

__all__ = ["TableTopExpert"]
