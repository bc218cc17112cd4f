"""The games with hands: cribbage for two, three and four (clauses H, F and M) as one text.

`records` holds the rules in numbers, the state and the view by the sizes of a family, `transitions`
the deal, the play and the show, `slots` cards by their place in a hand, `views` the only gate to
a seat's knowledge, `counting` the points of a view's cards, `encode` the observations, `features`
the further inputs of a learner, `expected` points without the luck of the show, `notation` and
`text` the game in writing, `picture` as a drawing, `suits` the canonical suits, and `family`
combines them.
"""
