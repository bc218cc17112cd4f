"""The speed of the environments, beside other libraries: ``python -m benchmarks``.

There is one function per question; ``python -m benchmarks --only aec`` runs one alone. `timing`
describes how everything is timed, and writes the results.
"""
