"""How fast the environments are, measured beside the peers: ``python -m benchmarks``.

One module a question, each also run alone (``python -m benchmarks --only aec``). `timing` says how
everything is timed, `report` how it is written down, `targets` what is aimed at.
"""
