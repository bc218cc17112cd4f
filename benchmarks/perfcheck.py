"""Has anything become slower? Compare this tree with a commit, in turns within the same minutes.

    python -m benchmarks.perfcheck                   # against the last commit
    python -m benchmarks.perfcheck --against v0.9    # exits 1 if a row takes a fifth longer

Absolute times differ between machines and hours. So the commit is unpacked into a temporary folder,
and this file runs the same rows with both trees in turn. The loops of the environments are each
tree's own (`benchmarks.environments`). All rows are in CPU seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType

from crib_training.exploit import exploitability
from crib_training.methods import deep_monte_carlo, selfplay_ppo

from benchmarks.batch import Lanes
from benchmarks.environments import episode, loop, stepping
from crib_env import discard_v0, pegging_v0, six_card_v0

ROOT = Path(__file__).parents[1]
SOURCES = (".", "agents", "play", "training")
WORSE = 1.2
REPEATS = 15
TURNS = 5
LANES = 1024

Work = Callable[[], object]


def rollout(rules: str) -> Work:
    """Return random play of the compiled batch."""
    return Lanes(rules, LANES, steps=50).play


def repeated(work: Work, times: int) -> Work:
    """Return a piece of work that does ``work`` ``times`` times."""
    return lambda: [work() for _ in range(times)]


def vector(environment: ModuleType, **keywords: str) -> Work:
    """Return steps of a vector environment with the first legal cards."""
    return repeated(stepping(environment.vector_env(LANES, opponent="greedy", threads=1, **keywords)), 10)


def gym(opponent: str, episodes: int) -> Work:
    """Return games of Gymnasium's single environment with drawn cards."""
    env = six_card_v0.gym_env(opponent=opponent)
    env.reset(seed=1)
    return repeated(partial(episode, env), episodes)


def self_play_ppo() -> Work:
    """Return updates of a `selfplay_ppo` learner, with the raw inputs of the benchmark."""
    settings = selfplay_ppo.Settings(num_evals=0, features=False, suits="ranks", progress=False)
    return selfplay_ppo.Learner(settings).iterate


def monte_carlo() -> None:
    """Train by `deep_monte_carlo` in two-hand games, and measure nothing."""
    with tempfile.TemporaryDirectory() as folder:
        settings = deep_monte_carlo.Settings(
            deals=10_000, num_evals=1, eval_pairs=0, final_eval_pairs=0, out=Path(folder) / "run", progress=False
        )
        with contextlib.redirect_stdout(sys.stderr):
            deep_monte_carlo.train(settings)


def cpu_seconds(work: Work, repeats: int) -> float:
    """Return the median CPU seconds of a piece of work, after one that does not count."""
    found = []
    for _ in range(repeats + 1):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return median(found[1:])


def times() -> dict[str, float]:
    """Return the CPU seconds of each row in the tree that is imported."""
    quick = {
        "rollout six_card": rollout("hoyle"),
        "rollout five_card": rollout("five_card"),
        "rollout table_top": rollout("table_top"),
        "vector step six_card": vector(six_card_v0),
        "vector step discard": vector(discard_v0, pegging_policy="random"),
        "vector step pegging": vector(pegging_v0, discard_policy="random"),
        "AEC step six_card": repeated(loop(six_card_v0.raw_env()), 15),
        "Gymnasium step": gym("greedy", 40),
        "expert as opponent": gym("expert", 4),
        "selfplay_ppo": self_play_ppo(),
    }
    slow: dict[str, Work] = {
        "deep_monte_carlo": monte_carlo,
        "crib exploit": lambda: exploitability("greedy", suits="ranks", hands=2),
    }
    found = {name: cpu_seconds(work, REPEATS) for name, work in quick.items()}
    return found | {name: cpu_seconds(work, 1) for name, work in slow.items()}


def times_in(tree: Path) -> dict[str, float]:
    """Return the times that a process measures in another tree."""
    paths = os.pathsep.join(str(tree / source) for source in SOURCES)
    run = subprocess.run(
        [sys.executable, "-P", __file__, "--measure"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )
    if run.returncode:
        sys.exit(f"perfcheck: the benchmark failed in {tree}, see above")
    found: dict[str, float] = json.loads(run.stdout)
    return found


def unpack(commit: str, folder: Path) -> None:
    """Write the files of a commit into a folder."""
    archive = folder / "commit.tar"
    made = subprocess.run(["git", "archive", "-o", str(archive), commit], cwd=ROOT)
    if made.returncode:
        sys.exit(f"perfcheck: git has no commit {commit!r} here")
    shutil.unpack_archive(archive, folder, filter="data")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--against", default="HEAD", help="the commit to compare with")
    parser.add_argument("--measure", action="store_true", help="print this tree's times as JSON")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(times()))
        return
    with tempfile.TemporaryDirectory() as folder:
        unpack(args.against, Path(folder))
        turns = [(times_in(Path(folder)), times_in(ROOT)) for _ in range(TURNS)]
    ratios = {name: median(now[name] / then[name] for then, now in turns) for name in turns[0][1]}
    for name, ratio in ratios.items():
        verdict = "SLOWER" if ratio > WORSE else "ok"
        print(f"{name:22} {ratio:6.3f} of the CPU seconds of {args.against}  {verdict}")
    sys.exit(any(ratio > WORSE for ratio in ratios.values()))


if __name__ == "__main__":
    main()
