"""What the agents know of Table Top.

- `values`: what the expert holds lines to be worth, learned by self-play with the kernels of
  `learning`.
- `rounds`: what a round brings, for the chance of winning.
- `weights`: the weights of `rule_based` fitted anew, to compare; `fitting` has the kernel.
"""
