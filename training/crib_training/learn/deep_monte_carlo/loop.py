"""`crib train --method deep_monte_carlo`: a run from its settings to its files.

    crib train --method deep_monte_carlo --env six_card_v0 --deals 400000 --out runs/six_card

`algorithm` does the learning. This module measures, saves, stops and displays the run.

Writes to ``--out``: ``policy.safetensors`` (for `crib evaluate`), the curve (`learn.curve`),
TensorBoard events, and ``checkpoint.safetensors``. From the checkpoint ``--resume`` continues to
exactly the result of a run without a stop.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from crib_agents.learned import MonteCarloAgent
from crib_agents.loading import load_agent
from crib_play.replay import write_replay

from crib_training.interrupts import Stopped, interruptions
from crib_training.learn.deep_monte_carlo.actors import ActorsLostError, ProcessActors
from crib_training.learn.deep_monte_carlo.cluster import Cluster
from crib_training.learn.deep_monte_carlo.settings import Settings, command
from crib_training.learn.deep_monte_carlo.training import Training
from crib_training.learn.training_progress import TrainingProgress
from crib_training.loading import find_game
from crib_training.outputs import run_folder, wrote


def actors_of(settings: Settings) -> AbstractContextManager[Cluster | ProcessActors | None]:
    """Return who plays, None for the learner's own process."""
    if settings.ray_address is not None:
        return Cluster(settings)
    return ProcessActors(settings) if settings.workers > 1 else nullcontext()


def _where(training: Training) -> str:
    """Return the state of a run, and the command that continues it."""
    going_on = command(training.settings, resume=training.settings.out)
    return f"the run is saved after {training.deals:,} deals; resume with {going_on}"


def _eval_is_due(training: Training, every: int) -> bool:
    """Return whether a measurement should have been made since the last one."""
    points, deals = training.curve.points, training.deals
    if not points:
        return True
    done = deals == training.settings.deals
    return deals > points[-1].deals and (done or deals // every > points[-1].deals // every)


def train(settings: Settings) -> MonteCarloAgent:
    """Learn by the settings, write everything to ``out``, and return the agent."""
    # What cannot be is found out before there is a folder; a checkpoint is read under its lock.
    new = Training(settings) if settings.resume is None else None
    with run_folder(settings.out, settings.resume):
        return _train(new or Training(settings), settings)


def _train(training: Training, settings: Settings) -> MonteCarloAgent:
    training.save()  # what cannot be written is found out before the work starts
    training.self_play.play(2, 0.0, np.random.default_rng(0))  # compiles what no cache holds
    every = -(-settings.deals // settings.num_evals)
    saved = time.monotonic()
    with (
        TrainingProgress(
            "deals",
            settings.deals,
            training.deals,
            training.decisions,
            settings.out,
            settings.progress,
        ) as progress,
        interruptions(note_first=True) as interrupted,
        actors_of(settings) as training.actors,
    ):
        while True:
            done = training.deals == settings.deals
            due = bool(settings.eval_pairs) and _eval_is_due(training, every)
            if due or done or interrupted or time.monotonic() - saved > settings.save_seconds:
                training.save()
                saved = time.monotonic()
            if interrupted and not done:
                training.curve.draw(settings.out)
                raise Stopped(_where(training))
            if due:  # the first is before it learns anything
                pairs = settings.final_eval_pairs if done else settings.eval_pairs
                with interrupted.at_once(Stopped(_where(training))):
                    points = training.measure(pairs)
                progress.measured(points)
                training.save()
            if done:
                break
            try:
                training.iterate()
            except ActorsLostError as lost:
                training.save()
                raise ActorsLostError(f"{lost}; {_where(training)}") from lost
            progress.learned(training.deals, training.decisions, training.loss)
        if settings.eval_pairs:
            training.curve.measure_baselines(settings.eval_pairs)
        training.save()
        training.curve.draw(settings.out)
        rate = training.decisions / max(training.cpu_seconds, 1e-9)
        progress.say(
            f"{training.decisions:,} decisions in {training.cpu_seconds:.0f} CPU s, {rate:,.0f} "
            f"per CPU second"
        )
    return training.agent


def run(settings: Settings) -> None:
    """Train, and print where the results are."""
    agent = train(settings)
    print(wrote(settings.out, "policy.safetensors", "curve.csv", "curve.png"))
    if settings.replay:
        _, rules = find_game(settings.env, settings.rules)
        agents = agent, load_agent(settings.eval_opponents.split(",")[0])
        file = settings.out / "replay.html"
        write_replay(file, rules, agents, settings.seed, players=settings.players)
        print(f"wrote {file}")
