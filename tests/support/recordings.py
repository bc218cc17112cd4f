"""Results of commands: figures of small runs, recorded in `tests/data/recordings.json`.

    PYTHONPATH=tests python tests/support/recordings.py [NAME ...]    # record these again, or all

A recording is a command with a seed, and the numbers in the files that it writes. Of every array
and of every part of a JSON file it holds the length, the spread and one weighted sum, which differ
wherever a number differs by more than rounding. They are compared within `WITHIN`, not by digests:
sums of PyTorch and NumPy differ in the last bits between processors.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from crib_training.command_line import start
from safetensors.numpy import load_file

from checkout import DATA
from commands import crib
from exploit_toys import DECK, RULES
from research import exploit
from research.solve import __main__ as solving
from research.solve.solver import Solver
from research.tables.__main__ import main as make_tables

FILE = DATA / "recordings.json"
WITHIN = 3e-3  # of an array's spread; a run that learns differently is tens of times further off
SLOW = (
    "train mmd measured",
    "exploit rule_based",
    "exploit equilibrium",
    "tables discarded",
    "tables reference_deals",
    "tables hand_pegging",
)
TRAINED = "policy.safetensors"
VARIES = {"seconds", "decisions_per_second", "cpu_seconds", "peak_memory", "versions", "machine"}

DEEP = "--num-envs 25 --batch-size 64 --hidden-sizes 16 8 --eval-pairs 0 --final-eval-pairs 0"
PPO = (
    "ppo --timesteps 256 --num-envs 16 --steps 8 --batch-size 64 --epochs 1 "
    "--hidden-sizes 16 16 --eval-pairs 0 --final-eval-pairs 0"
)
BASELINE = "--num-envs 16 --hidden-sizes 16 16 --batch-size 64 --num-evals 0"
METHODS = ("selfplay_ppo", "mmd", "vrpo", "nfsp", "escher", "monte_carlo", "r_nad", "deep_cfr", "monte_carlo_q")
# Name, words and the files to read below the folder OUT; `TRAINED` where none is named.
TRAININGS = {
    "deep_monte_carlo five": f"--env five_card_v0 --deals 100 {DEEP}",
    "deep_monte_carlo table_top": f"--env table_top_v0 --deals 50 {DEEP}",
    "deep_monte_carlo three": f"--env three_hand_v0 --deals 100 {DEEP}",
    "deep_monte_carlo four": f"--env four_hand_v0 --deals 100 {DEEP}",
    "ppo table_top": f"{PPO} --env table_top_v0",
    "ppo pegging": f"{PPO} --env pegging_v0 --opponent greedy --episode deal",
    **{f"{name} five": f"{name} --decisions 512 {BASELINE}" for name in METHODS},
    "mmd ema five": f"mmd --magnet ema --decisions 512 {BASELINE}",
    "nfsp ranks five": f"nfsp --suits ranks --no-features --decisions 512 {BASELINE}",
    "mmd six": f"mmd --env six_card_v0 --decisions 512 {BASELINE} --no-features",
}
EXPLOIT = "--env five_card_v0 --hands 2 --abstraction 1 --json OUT/a.json"
OTHERS = {
    "exploit rule_based": (f"exploit rule_based {EXPLOIT}", "a.json"),
    "exploit equilibrium": (f"exploit equilibrium {EXPLOIT}", "a.json"),
    "evaluate six": ("evaluate expert learned --pairs 3 --adjust always --json OUT/a.json", "a.json"),
    "evaluate five": (
        "evaluate master equilibrium --env five_card_v0 --pairs 3 --adjust always --json OUT/a.json",
        "a.json",
    ),
    "evaluate table_top": (
        "evaluate rule_based learned --env table_top_v0 --players 4 --pairs 2 --json OUT/a.json",
        "a.json",
    ),
    "evaluate three": ("evaluate learned rule_based --env three_hand_v0 --pairs 2 --json OUT/a.json", "a.json"),
    "evaluate four": ("evaluate learned greedy --env four_hand_v0 --pairs 3 --json OUT/a.json", "a.json"),
    "rate six": ("rate greedy --pairs 2 --out OUT", "*.json"),
    "tournament six": (
        "tournament random greedy rule_based learned --pairs 3 --adjust always --workers 0 --out OUT",
        "results.json",
    ),
    "tournament three": (
        "tournament random greedy rule_based --env three_hand_v0 --pairs 2 --workers 0 --out OUT",
        "results.json",
    ),
    "tournament match": (
        "tournament greedy rule_based learned --env four_hand_v0 --episode match --pairs 2 --workers 0 --out OUT",
        "results.json",
    ),
    "solve small deck": ("solve --iterations 3 --eval-interval 3 --no-progress --out OUT", "strategy.safetensors"),
    **{
        f"tables {name}": (f"tables {name} {words} --out OUT/a.npz", "a.npz")
        for name, words in (
            ("crib_tables", "--deals 2000 --rounds 1"),
            ("rollout_policy", "--deals 2000"),
            ("deal_outcomes", "--agent rule_based --deals 1000"),
            ("hand_pegging", "--deals 2000"),
            ("discarded", "--deals 200 --rounds 1"),
            ("endgame_belief", "--leads 10 --hands 20"),
            ("endgame_shift", "--games 10"),
            ("hands_kept", "--deals 500"),
            ("choices", "--deals 30"),
            ("reference_deals", "--deals 1000"),
            ("table_top_values", "--rounds 40"),
            ("table_top_rounds", "--rounds 20 --budget 1"),
        )
    },
}
# Words and the curve, which is recorded too.
CURVES = {
    "deep_monte_carlo measured": (
        "--deals 100 --workers 1 --num-envs 25 --batch-size 64 "
        "--hidden-sizes 16 8 --num-evals 2 --eval-pairs 2 "
        "--final-eval-pairs 3",
        "curve.csv",
    ),
    "ppo measured": (PPO.replace("-pairs 0", "-pairs 2"), "curve.csv"),
    "mmd measured": (
        f"mmd --decisions 512 {BASELINE.replace('--num-evals 0', '')} --num-evals 1 --eval-hands 2",
        "exploitability.csv",
    ),
}
RECORDED: dict[str, tuple[str, ...]] = (
    OTHERS
    | {
        f"train {name}": (f"train {words} --no-progress --out OUT", TRAINED, curve)
        for name, (words, curve) in CURVES.items()
    }
    | {f"train {name}": (f"train {words} --no-progress --out OUT", TRAINED) for name, words in TRAININGS.items()}
)


def figures(recording: tuple[str, ...], out: Path) -> dict[str, str]:
    """Run a command in a folder and return its figures, by file and part."""
    words, *files = recording
    name, *rest = words.replace("OUT", str(out)).split()
    if name == "solve":
        with small_deck():
            start(solving.Settings, solving.run, rest, "python -m research.solve")
    elif name == "exploit":
        start(exploit.Settings, exploit.run, rest, "python -m research.exploit")
    elif name == "tables":
        make_tables(rest)
    else:
        ran = crib(name, *rest, folder=out)
        assert ran.returncode == 0, ran.stderr
    return {
        f"{name}: {part}": summary(numbers)
        for name in files
        for path in out.glob(name)
        for part, numbers in parts_of(path)
    }


def differences(known: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the differences from the recording, a line for each part."""
    return [
        f"{part}: recorded {known.get(part)}, found {found.get(part)}"
        for part in sorted(known.keys() | found.keys())
        if part not in known or part not in found or not close(known[part], found[part])
    ]


def close(known: str, found: str) -> bool:
    """Return whether two summaries agree within rounding."""
    (size, *before), (now_size, *now) = (list(map(float, one.split())) for one in (known, found))
    within = WITHIN * max(1e-9, before[0])
    return size == now_size and all(abs(a - b) <= within for a, b in zip(before, now, strict=True))


@contextmanager
def small_deck() -> Iterator[None]:
    """Make `python -m research.solve` solve a deck of three ranks of four suits."""
    with (
        patch("research.solve.__main__.Solver", partial(Solver, deck=DECK)),
        patch("research.solve.__main__.find_game", lambda *_: (None, RULES)),
    ):
        yield


def parts_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a file, or the numbers of each part of a JSON file, by name."""
    if path.suffix == ".safetensors":
        yield from sorted(load_file(path).items())
    elif path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for name in rows[0].keys() - {*VARIES, "opponent"}:
            yield name, np.array([float(row[name]) for row in rows])
    elif path.suffix == ".npz":
        with np.load(path) as held:
            yield from [(name, held[name]) for name in sorted(held.files)]
    else:
        for name, part in json.loads(path.read_text()).items():
            if numbers := list(numbers_of({name: part})):
                yield name, np.array(numbers)


def numbers_of(part: Any) -> Iterator[float]:
    """Yield the numbers in a part of a JSON file that are the same in every run."""
    if isinstance(part, dict):
        for name in sorted(part.keys() - VARIES):
            yield from numbers_of(part[name])
    elif isinstance(part, list):
        for one in part:
            yield from numbers_of(one)
    elif isinstance(part, (int, float)):
        yield float(part)


def summary(numbers: Any) -> str:
    """Return the count of numbers, their root mean square and a weighted sum of that size."""
    if numbers.dtype.names is not None or numbers.dtype.kind not in "fiub":
        numbers = np.frombuffer(numbers.tobytes(), dtype=np.uint8)
    flat = np.nan_to_num(numbers.astype(np.float64).ravel())
    spread = float(np.sqrt((flat**2).mean())) if len(flat) else 0.0
    weights = np.cos(np.arange(len(flat)) ** 1.5)
    return f"{len(flat)} {spread:.6g} {flat @ weights / np.sqrt(max(1, len(flat))):.6g}"


def main(names: list[str]) -> None:
    """Record, and write each recording at once."""
    for name in names or RECORDED:
        with tempfile.TemporaryDirectory() as out:
            found = figures(RECORDED[name], Path(out))
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        FILE.write_text(json.dumps(dict(sorted({**known, name: found}.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
