"""The games with hands: cribbage for two, three and four (clauses H, F and M) as one text.

`records` holds the rules in numbers, the state and the view by the sizes of a family, `transitions`
the deal, the play and the show, `slots` cards by their place in a hand, `views` the only gate to
what a seat may know, `counting` what a view's cards make, `encode` the observations, `features`
what a learner may observe besides, `expected` points without the luck of the show, `notation` and
`text` the game in writing, `picture` as a drawing, `suits` the canonical suits, and `family`
combines them.
"""
