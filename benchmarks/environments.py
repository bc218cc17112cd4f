"""The environments: one game, many at once, their pictures, and how long until the first step."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from benchmarks import peers
from benchmarks.timing import FULL, Findings, Piece, Row, Settings, over_peers, race, ratio
from crib_env import five_card_v0, sample_legal, six_card_v0, table_top_v0
from crib_env.registration import ENVIRONMENTS

A_PIECE = 200
AGENTS = ("random", "greedy", "rule_based")

_random = random.Random(1).random


def sample(mask: Any) -> int:
    """Return a random legal action; NumPy's and Gymnasium's own samplers cost far more."""
    legal = mask.nonzero()[0]
    action: int = legal.item(int(_random() * legal.size))
    return action


def loop(env: Any, *, mask_in_info: bool = False, choose: Callable[[Any], Any] = sample) -> Piece:
    """Return a piece of work: whole episodes of an AEC environment, some hundred decisions."""
    env.reset(seed=1)

    def piece() -> int:
        done = 0
        while done < A_PIECE:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, info = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    env.step(choose((info if mask_in_info else observation)["action_mask"]))
                    done += 1
        return done

    return piece


def measure_aec(settings: Settings = FULL) -> Findings:
    """How many decisions per second does an AEC loop make, ours beside other card games?

    The loop is PettingZoo's: ``agent_iter``, ``last``, a random legal action, ``step``. It draws
    the action in the quickest way, half a microsecond; two rows draw it as users do.
    OpenSpiel's states and RLCard run their own shortest loops; a loop over states makes no
    observation and no mask.
    """
    rng, space = np.random.default_rng(1), six_card_v0.env().action_space("player_0")
    raw, checked = "six_card_v0.raw_env", "six_card_v0.env"
    ours = {
        raw: loop(six_card_v0.raw_env()),
        checked: loop(six_card_v0.env()),
        f"{checked}, actions by crib_env.sample_legal": loop(
            six_card_v0.env(), choose=lambda mask: sample_legal(mask, rng)
        ),
        f"{checked}, actions by action_space.sample": loop(
            six_card_v0.env(), choose=lambda mask: int(space.sample(mask))
        ),
    }

    def by_loop(make: Callable[..., Any], *given: str, in_info: bool = False) -> Callable[[], Piece]:
        return lambda: loop(make(*given), mask_in_info=in_info)

    makers = {
        kind: {f"{game}.{kind}": by_loop(peers.pettingzoo_env, game, kind) for game in peers.PETTINGZOO}
        for kind in ("raw_env", "env")
    }
    shimmy = {"OpenSpiel cribbage through Shimmy": by_loop(peers.shimmy_cribbage, in_info=True)}
    bare, notes = peers.installed(makers["raw_env"] | shimmy | peers.SINGLE_GAMES, settings)
    wrapped, more_notes = peers.installed(makers["env"], settings)
    rows = race(ours, "decisions/s", settings, bare | wrapped)
    ratios = [
        row
        for name, others in ((raw, bare), (checked, wrapped))
        for row in over_peers(rows[name], [rows[other] for other in others])
    ]
    return Findings("AEC loop, one game", rows.values(), ratios, notes + more_notes)


def episode(env: Any) -> int:
    """Play an episode of a Gymnasium environment; return its steps."""
    steps, over = 0, False
    _, info = env.reset()
    while not over:
        _, _, over, _, info = env.step(sample(info["action_mask"]))
        steps += 1
    return steps


def measure_gym_single(settings: Settings = FULL) -> Findings:
    """How many steps per second does one Gymnasium environment make, with an opponent?

    The loop is Gymnasium's: a random legal action, ``step``, ``reset`` at an episode's end. A step
    is about two decisions of the game, the learner's and the opponent's.
    """
    pieces: dict[str, Piece] = {}
    for name in AGENTS:
        env = gymnasium.make("crib_env/SixCard-v0", opponent=name)
        env.reset(seed=1)
        pieces[f"gymnasium.make, opponent {name}"] = partial(episode, env)
    return Findings("Gymnasium, one game", race(pieces, "steps/s", settings).values())


# Environments whose first row is compared with OpenSpiel's states, and their players. OpenSpiel's
# loop counts the decisions of all seats; in ours each seat makes one a step, as the learner does.
PLAYERS = {"SixCard-v0": 2, "ThreeHand-v0": 3, "FourHand-v0": 4}
# The keyword of the phase policy.
POLICIES = {"Discard-v0": "pegging_policy", "Pegging-v0": "discard_policy"}


def stepping(env: Any) -> Piece:
    """Return a piece of work: a step of all games; choosing the actions is not timed."""
    masks: Any = env.reset(seed=1)[1]["action_mask"]

    def piece() -> tuple[int, float]:
        nonlocal masks
        actions = masks.argmax(axis=1)
        began = time.perf_counter()
        _, _, _, _, info = env.step(actions)
        spent = time.perf_counter() - began
        masks = info["action_mask"]
        return env.num_envs, spent

    return piece


def measure_vector(settings: Settings = FULL) -> Findings:
    """How many steps per second does ``gymnasium.make_vec`` make when NumPy actions are given?

    Only ``step`` is timed. The actions are the first legal ones (``argmax`` of the mask), computed
    outside the clock. The opponent is ``random``, so a step is about two decisions of the game. For
    comparison the other environments are measured too, those with a phase policy once for each
    policy, and six-card with features (`docs/observations.md`).
    """
    n = 64 if settings.quick else 4096
    six_card, *others = ENVIRONMENTS.values()
    forms: list[tuple[str, dict[str, Any]]] = [
        (six_card, {}),
        (six_card, {"copy": True}),
        (six_card, {"threads": 2}),
        (six_card, {"features": True}),
    ]
    for name in others:
        policies = [{POLICIES[name]: agent} for agent in AGENTS] if name in POLICIES else [{}]
        forms += [(name, policy) for policy in policies]
    pieces = {}
    for name, chosen in forms:
        options = {"copy": False, "threads": 1} | chosen
        env = gymnasium.make_vec(f"crib_env/{name}", num_envs=n, opponent="random", **options)
        copy, threads, *more = options.items()
        how = f"copy={copy[1]}, {threads[1]} thread{'s' * (threads[1] > 1)}"
        how += "".join(f", {keyword}={value}" for keyword, value in more)
        pieces[f"make_vec {name}, N={n}, {how}"] = stepping(env)
    found, missing = peers.installed(
        {
            f"OpenSpiel cribbage for {players}, states only": partial(peers.open_spiel_cribbage, players)
            for players in PLAYERS.values()
        },
        settings,
    )
    rows = race(pieces, "steps/s", settings, found)
    measured = list(rows.values())
    ratios = [ratio(f"make_vec {six_card}, N={n}: 2 threads / 1 thread", measured[2], measured[0])]
    for name, players in PLAYERS.items():
        row = next(row for row in measured if f" {name}," in row.name)
        ours = f"make_vec {name}, decisions of all seats"
        every = Row(ours, "/s", tuple(players * x for x in row.values))
        ratios += over_peers(every, [row for row in measured if f"for {players}," in row.name])
    return Findings("Vector environment, actions given", measured, ratios, missing)


FRAMES = 8


def frames(env: Any) -> int:
    """Make some moves, each with its frame; return how many."""
    for _ in range(FRAMES):
        observation, _, over, _, _ = env.last()
        if over:
            env.reset()
            continue
        env.step(sample(observation["action_mask"]))
        assert env.render().shape == (480, 640, 3)
    return FRAMES


def measure_render(settings: Settings = FULL) -> Findings:
    """How many frames per second does ``render_mode="rgb_array"`` make, 640 by 480?

    Every frame is of another position: a random legal action, then ``render``; a spectator sees all
    cards, which is the most there is to draw.
    """
    pieces: dict[str, Piece] = {}
    for page in (six_card_v0, five_card_v0, table_top_v0):
        env = page.env(render_mode="rgb_array", viewer="all")
        env.reset(seed=1)
        env.render()
        pieces[env.metadata["name"]] = partial(frames, env)
    return Findings("Pictures of 640 by 480", race(pieces, "frames/s", settings).values())


FIRST_STEP = """
from crib_env import six_card_v0
env = six_card_v0.raw_env()
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
print("stepped", flush=True)
"""
FIRST_BATCH = """
import gymnasium, crib_env
env = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=64, opponent="rule_based")
_, info = env.reset(seed=1)
env.step(info["action_mask"].argmax(axis=1))
print("stepped", flush=True)
"""
IMPORT = """
import time
began = time.perf_counter()
import crib_env
print(time.perf_counter() - began, flush=True)
"""


def run(program: str, cache: str) -> tuple[float, str]:
    """Return the seconds from starting a Python program to its first line, and the line."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        spent = time.perf_counter() - began
    if process.returncode or not line:
        raise RuntimeError(f"the program ended with code {process.returncode}:\n{program}")
    return spent, line


def measure_start(settings: Settings = FULL) -> Findings:
    """How long from starting Python to the first step, with an empty kernel cache and a full one?

    Each figure is a fresh process, timed from outside: from its start to the line it prints. The
    import alone is timed inside the process.
    """
    values: dict[str, list[float]] = {}
    repeats = 1 if settings.quick else 3
    programs = {"AEC": FIRST_STEP}
    if not settings.quick:
        programs["make_vec with rule_based"] = FIRST_BATCH
    for _ in range(repeats):
        for name, program in programs.items():
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", *["warm"] * repeats):
                    row = values.setdefault(f"{name}: {state} start to the first step", [])
                    row.append(run(program, cache)[0])
                    if state == "warm":
                        imports = values.setdefault("import crib_env", [])
                        imports.append(float(run(IMPORT, cache)[1]))
    return Findings("Start", [Row(name, "s", tuple(found)) for name, found in values.items()])
