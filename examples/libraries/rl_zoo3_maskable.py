"""RL Baselines3 Zoo: MaskablePPO by the Zoo's own command line, with hyperparameters from a file.

    python examples/libraries/rl_zoo3_maskable.py --algo ppo_mask --env crib_env/SixCard-v0 \
        --conf-file examples/libraries/rl_zoo3.yml --env-kwargs "opponent:'rule_based'" \
        "episode:'deal'" "reward:'points'"

The Zoo knows no MaskablePPO; one line makes it known. Everything behind that is the Zoo's: tuning
with Optuna, TensorBoard, saved models, `rl_zoo3.enjoy`.
"""

from __future__ import annotations

import sys

import rl_zoo3
import rl_zoo3.train
from sb3_contrib import MaskablePPO

import crib_env

ALGORITHM = "ppo_mask"
rl_zoo3.ALGOS[ALGORITHM] = MaskablePPO


def main(words: list[str]) -> None:
    """Train as the words of the Zoo's command line say."""
    assert crib_env.ENVIRONMENTS  # importing it registers them
    sys.argv = ["rl_zoo3", *words]
    rl_zoo3.train.train()


if __name__ == "__main__":
    main(sys.argv[1:])
