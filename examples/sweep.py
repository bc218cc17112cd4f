"""Ten trials of `training_loop.py` by Optuna, on the settings that matter most.

    python sweep.py
    python sweep.py --trials 30 --steps 1000000

A trial that is behind the median of the others after an evaluation is stopped. All trials are
measured on the same deals, so the best of them looks better than it is: measure it again.
"""

from __future__ import annotations

from pathlib import Path

import optuna
import tyro
from training_loop import Settings as Training
from training_loop import main as train


def main(
    trials: int = 10,
    steps: int = 250_000,
    eval_every: int = 5,
    eval_pairs: int = 500,
    seed: int = 1,
    out: Path = Path("runs/sweep"),
) -> optuna.Study:
    """Run the trials, and print the command of the best.

    Args:
        trials: how many.
        steps: decisions of each trial.
        eval_every: updates; after each evaluation a trial may be stopped.
        eval_pairs: duplicate pairs of deals at each evaluation.
        seed: of all trials.
        out: the folder of their runs.
    """

    def objective(trial: optuna.Trial) -> float:
        training = Training(
            learning_rate=trial.suggest_float("learning_rate", 3e-4, 3e-3, log=True),
            gae_lambda=trial.suggest_float("gae_lambda", 0.8, 1.0),
            ent_coef=trial.suggest_float("ent_coef", 1e-4, 2e-2, log=True),
            hidden=trial.suggest_categorical("hidden", [64, 128, 256]),
            steps=steps,
            eval_every=eval_every,
            eval_pairs=eval_pairs,
            seed=seed,
            past_selves=0,
            out=out / f"trial_{trial.number}",
        )

        def report(done: int, strength: float) -> None:
            trial.report(strength, done)
            if trial.should_prune():
                raise optuna.TrialPruned

        return train(training, report)

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3),
    )
    study.optimize(objective, n_trials=trials)
    words = " ".join(f"--{name.replace('_', '-')} {v}" for name, v in study.best_params.items())
    print(f"python training_loop.py {words} --seed {seed + 1}")
    return study


if __name__ == "__main__":
    tyro.cli(main)
