"""The compiled engine of Table Top (T1 to T13), in the shape of the two-hand one beside it.

`records` holds the state and the view, `layout` the geometry of the 5x5 layout, `count` the points
of lines and crib, `table_top` the rules, `views` the only gate to what a seat may know, `encode`
the observation, `numbers` the rules as a record, `single` and `batch` the compiled entry points.
"""
