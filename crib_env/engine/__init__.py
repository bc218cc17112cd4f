"""The compiled engine: the rules as scalar functions over one record, and batches of them.

Everything here is plain Python that Numba compiles; with ``NUMBA_DISABLE_JIT=1`` the same source
runs uncompiled, for debugging and coverage. `two_hand` holds the rules of play, `views` the only
gate to what a seat may know, `encode` the observation, `single` and `batch` the compiled entry
points.
"""
