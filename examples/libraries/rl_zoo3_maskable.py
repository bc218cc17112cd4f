"""RL Baselines3 Zoo: MaskablePPO by the Zoo's own command line, trained and then looked at.

    python examples/libraries/rl_zoo3_maskable.py train --algo ppo_mask --env crib_env/SixCard-v0 \
        --conf-file examples/libraries/rl_zoo3.yml --env-kwargs "opponent:'rule_based'" \
        "episode:'deal'" "reward:'points'" "mask_in_observation:True"
    python examples/libraries/rl_zoo3_maskable.py enjoy --algo ppo_mask \
        --env crib_env/SixCard-v0 --folder logs

The Zoo does not know MaskablePPO; one line registers it. All else is the Zoo's: tuning with Optuna,
TensorBoard, saved models. `enjoy` hands an agent the observation and no mask, so the mask is in the
observation. It shows the game in a window, which needs `crib-env[render]`; `--no-render` leaves
that out.
"""

from __future__ import annotations

import sys
from typing import Any

import rl_zoo3
import rl_zoo3.enjoy
import rl_zoo3.train
from sb3_contrib import MaskablePPO

import crib_env

ALGORITHM = "ppo_mask"


class SeesItsMask(MaskablePPO):
    """MaskablePPO that takes the mask from the observation if no mask is given."""

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[Any, Any]:
        """Return actions, and None for a state."""
        masks = observation["action_mask"] if action_masks is None else action_masks
        return super().predict(observation, state, episode_start, deterministic, masks)


rl_zoo3.ALGOS[ALGORITHM] = SeesItsMask
SCRIPTS = {"train": rl_zoo3.train.train, "enjoy": rl_zoo3.enjoy.enjoy}


def main(words: list[str]) -> None:
    """Run a script of the Zoo with its options, given as words of a command line."""
    assert crib_env.ENVIRONMENTS  # importing it registers them
    script, *options = words
    sys.argv = ["rl_zoo3", *options]
    SCRIPTS[script]()


if __name__ == "__main__":
    main(sys.argv[1:])
