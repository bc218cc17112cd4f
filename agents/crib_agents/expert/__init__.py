"""`expert`: exact expectations, belief and search, maximising the probability of winning."""
