"""How `random`, `greedy` and `rule_based` play Table Top (T1 to T13).

`lines` values a line as it lies and by what may still come to it; `random_agent`, `greedy` and
`rule_based` hold the choices of the agents of those names, each with its compiled entries and its
`PLAYS`, which the agent's class in the folder above lists. What the rules leave open (flush sizes,
whether cards must touch) is read from the view.
"""
