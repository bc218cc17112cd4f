"""Ten trials of `training_loop.py` by Optuna, on the settings that matter most.

    python sweep.py
    python sweep.py --trials 30 --steps 1000000

A trial that is behind the median of the others after an evaluation is stopped. All trials are
measured on the same deals, so the best of them looks better than it is: measure it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import optuna
import tyro
from training_loop import Settings as Training
from training_loop import main as train


@dataclass(frozen=True)
class Settings:
    """How long the sweep is, and what all its trials share."""

    trials: int = 10
    steps: int = 250_000  # of each trial
    eval_every: int = 5  # updates; after each a trial may be stopped
    eval_pairs: int = 500
    seed: int = 1
    out: Path = Path("runs/sweep")


def main(settings: Settings) -> optuna.Study:
    """Run the trials, and print the command of the best."""

    def objective(trial: optuna.Trial) -> float:
        training = Training(
            learning_rate=trial.suggest_float("learning_rate", 3e-4, 3e-3, log=True),
            gae_lambda=trial.suggest_float("gae_lambda", 0.8, 1.0),
            ent_coef=trial.suggest_float("ent_coef", 1e-4, 2e-2, log=True),
            hidden=trial.suggest_categorical("hidden", [64, 128, 256]),
            steps=settings.steps, eval_every=settings.eval_every, eval_pairs=settings.eval_pairs,
            seed=settings.seed, past_selves=0, out=settings.out / f"trial_{trial.number}",
        )  # fmt: skip

        def report(steps: int, strength: float) -> None:
            trial.report(strength, steps)
            if trial.should_prune():
                raise optuna.TrialPruned

        return train(training, report)

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=settings.seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3),
    )
    study.optimize(objective, n_trials=settings.trials)
    words = " ".join(f"--{name.replace('_', '-')} {v}" for name, v in study.best_params.items())
    print(f"python training_loop.py {words} --seed {settings.seed + 1}")
    return study


if __name__ == "__main__":
    main(tyro.cli(Settings))
