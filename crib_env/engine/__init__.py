"""The compiled engine: the rules as scalar functions over one record, and batches of them.

Everything here is plain Python that Numba compiles; with ``NUMBA_DISABLE_JIT=1`` the same source
runs uncompiled, for debugging and coverage. A family of games is a package (`two_hand`,
`many_hand`, `table_top`). `record` holds what their records share, `entries` and `learners` the
functions that Python calls.
"""
