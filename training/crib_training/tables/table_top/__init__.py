"""The tables of Table Top.

- `values`: the expert's values of lines, learned by self-play with the kernels of `learning`.
- `rounds`: the points of a round, for the probability of winning.
- `weights`: the weights of `rule_based`, fitted again to compare; `fitting` has the kernel.
"""
