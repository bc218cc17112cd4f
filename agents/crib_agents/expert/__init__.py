"""`expert`: exact expectations, belief and search, judged by the chance of winning."""
