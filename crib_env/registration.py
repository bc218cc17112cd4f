"""Registers the environments with Gymnasium and PettingZoo: strings only, so it costs nothing."""

from __future__ import annotations

import gymnasium
import pettingzoo

# The module of each environment and its Gymnasium name.
ENVIRONMENTS = {
    "six_card_v0": "SixCard-v0",
    "five_card_v0": "FiveCard-v0",
    "table_top_v0": "TableTop-v0",
    "discard_v0": "Discard-v0",
    "pegging_v0": "Pegging-v0",
}


def register_environments() -> None:
    """Register every environment, once."""
    for module, gym_name in ENVIRONMENTS.items():
        gym_id = f"crib_env/{gym_name}"
        if gym_id in gymnasium.registry:
            continue
        # The environments check order and actions themselves; Gymnasium's wrappers would take
        # several times what a step does.
        gymnasium.register(
            id=gym_id,
            entry_point=f"crib_env.{module}:gym_env",
            vector_entry_point=f"crib_env.{module}:vector_env",
            order_enforce=False,
            disable_env_checker=True,
        )
        pettingzoo.register("aec", f"crib_env/{module}", f"crib_env.{module}:env")
