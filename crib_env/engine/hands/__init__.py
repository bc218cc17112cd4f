"""The games with hands: cribbage for two, three and four (clauses H, F and M) in one source.

Read `records`, then `transitions` (deal, play, show, also without the luck of the starter) and
`views`, the only gate to a seat's knowledge. `counting` counts a view's cards for `features` and
agents; `family` combines all.
"""
