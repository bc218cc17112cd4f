"""How the `expert` plays Table Top (T1 to T13), two players or four, either set of rules.

`values` give the value of a position by learned tables, `search` looks ahead, `agent` holds the
class. The tables lie in `data`. In a game points are weighed by what they do for winning it: see
`crib_agents.knowledge.table_top`.
"""

from crib_agents.expert.table_top.agent import TableTopExpert

__all__ = ["TableTopExpert"]
