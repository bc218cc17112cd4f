"""`crib train METHOD`: learn a game by one of several methods.

    crib train --env six_card_v0 --out runs/six_card
    crib train ppo --env six_card_v0 --timesteps 1000000

Without a method, `crib train` uses deep Monte Carlo. Each method has its own settings:
``crib train ppo --help``.
"""

from __future__ import annotations

from crib_training.methods import METHODS, deep_monte_carlo
from crib_training.reading import app_of

app = app_of(
    "train", deep_monte_carlo.Settings, group_commands="Methods", usage="Usage: crib train [METHOD] [OPTIONS]\n"
)
for name, module in METHODS.items():
    app.command(f"{module}:Settings", name=name)
