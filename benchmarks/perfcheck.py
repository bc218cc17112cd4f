"""Has anything become slower? Compare this tree with a commit, in turns within the same minutes.

    python -m benchmarks.perfcheck                   # against the last commit
    python -m benchmarks.perfcheck --against v0.9    # exits 1 if a row takes a fifth longer

Absolute times differ between machines and hours. So the commit is unpacked into a temporary folder,
and both trees run the same rows in turn. The commit must have this command.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from types import ModuleType

import numpy as np

from benchmarks.batch import Lanes
from benchmarks.timing import Piece, Settings, race
from crib_env import discard_v0, pegging_v0, sample_legal, six_card_v0

ROOT = Path(__file__).parents[1]
SOURCES = (".", "agents", "play", "training")
WORSE = 1.2
REPEATS = 15
TURNS = 5
LANES = 1024


def rollout(rules: str) -> Piece:
    """Return random play of the compiled batch."""
    lanes = Lanes(rules, LANES, steps=50)

    def work() -> int:
        lanes.play()
        return 1

    return work


def vector(environment: ModuleType, **keywords: str) -> Piece:
    """Return steps of a vector environment with drawn actions."""
    env = environment.vector_env(LANES, opponent="greedy", threads=1, **keywords)
    chance = np.random.default_rng(1)
    masks = [env.reset(seed=1)[1]["action_mask"]]

    def work() -> int:
        for _ in range(10):
            masks[0] = env.step(sample_legal(masks[0], chance))[4]["action_mask"]
        return 1

    return work


def aec() -> Piece:
    """Return steps of the AEC environment with the first legal card."""
    env = six_card_v0.raw_env()
    env.reset(seed=1)

    def work() -> int:
        for _ in range(3000):
            observation, _, over, _, _ = env.last()
            if over or observation is None:
                env.reset()
            else:
                env.step(int(observation["action_mask"].argmax()))
        return 1

    return work


def times() -> dict[str, float]:
    """Return the median seconds of each piece of work in this tree."""
    works = {
        "rollout six_card": rollout("hoyle"),
        "rollout five_card": rollout("five_card"),
        "rollout table_top": rollout("table_top"),
        "vector step six_card": vector(six_card_v0),
        "vector step discard": vector(discard_v0, pegging_policy="random"),
        "vector step pegging": vector(pegging_v0, discard_policy="random"),
        "AEC step six_card": aec(),
    }
    rows = race(works, "times/s", Settings(seconds=0.0, repeats=REPEATS))  # one piece a repeat
    return {name: 1 / median(row.values) for name, row in rows.items()}


def times_in(tree: Path) -> dict[str, float]:
    """Return the times that a process measures in another tree."""
    paths = os.pathsep.join(str(tree / source) for source in SOURCES)
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.perfcheck", "--measure"],
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
        print(f"{name:22} {ratio:6.3f} times {args.against}'s time  {verdict}")
    sys.exit(any(ratio > WORSE for ratio in ratios.values()))


if __name__ == "__main__":
    main()
