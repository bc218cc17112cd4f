"""Kernels of the scripts `table_top_values` and `table_top_weights`: learning, and fitting."""
