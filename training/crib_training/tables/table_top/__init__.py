"""What the agents know of Table Top.

- `values`: the expert's values of lines, learned by self-play with the kernels of
  `learning`.
- `rounds`: what a round brings, for the chance of winning.
- `weights`: the weights of `rule_based` fitted again, to compare; `fitting` has the kernel.
"""
