"""How the `expert` plays Table Top (T1 to T13), two players or four, either set of rules.

`position` is a round in the form that moves are made on, `values` and `worth` say what it is worth
by learned tables, `gains` what each card to come adds, `search` looks ahead, `agent` holds the
class. `tables` reads the values, which `python -m training.table_top_values` learns.
"""

from agents.table_top.expert.agent import TableTopExpert

__all__ = ["TableTopExpert"]
