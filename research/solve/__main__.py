"""Solve a deal of a two-hand game: near-perfect play for points.

    python -m research.solve --env five_card_v0 --out runs/five_card

Writes ``strategy.safetensors`` to ``--out``, which every command takes as an agent.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from crib_agents.equilibrium.strategy import Solved
from crib_agents.files import write_whole
from crib_training.command_line import start
from crib_training.loading import find_game
from crib_training.outputs import claimed, command, peak_memory
from crib_training.progress import Progress

from crib_env.rules import TwoHandRules
from crib_env.settings import Count, CountOrNone, NewFolder, checked_dataclass
from research.solve.solver import Solver

STRATEGY = "strategy.safetensors"


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Solve a deal of a two-hand game: near-perfect play for points.

    Attributes:
        env: the environment whose game to solve.
        rules: a preset other than the environment's own, or a preset with changes, such as
            five_card[flush_size=4].
        iterations: iterations in all.
        out: the folder for the strategy.
        eval_interval: iterations between measurements of the best response's gain within the
            abstraction; 0 measures only at the end.
        progress: show progress.
    """

    env: str = "five_card_v0"
    rules: str | None = None
    iterations: Count = 60
    out: NewFolder = Path("runs/solve")
    eval_interval: CountOrNone = 20
    progress: bool = True


def run(settings: Settings) -> None:
    """Solve, and write the strategy."""
    _, rules = find_game(settings.env, settings.rules)
    if not isinstance(rules, TwoHandRules):
        raise ValueError(
            f"env must be five_card_v0 or six_card_v0, in which two cards are discarded, got {settings.env!r}"
        )
    with claimed(settings.out):
        if (settings.out / STRATEGY).exists():
            raise ValueError(f"{settings.out} holds a strategy: choose another --out")
        solve(settings, rules)


def solve(settings: Settings, rules: TwoHandRules) -> None:
    """Solve by the rules, and write the strategy."""
    # With four kept cards, a strategy per starter would take too much memory.
    solver, cpu_seconds = Solver(rules, by_starter=rules.dealt == 5), 0.0
    with Progress("iterations", settings.iterations, shown=settings.progress) as progress:
        for done in range(1, settings.iterations + 1):
            began = time.process_time()
            solver.iterate()
            cpu_seconds += time.process_time() - began
            progress.move_to(done, f"regret {sum(solver.missed) / 2:.5f} in discarding")
            if done == settings.iterations or (settings.eval_interval and done % settings.eval_interval == 0):
                gap = solver.gap()
                progress.say(
                    f"{done:>6} iterations {cpu_seconds:8.0f} CPU s  the best answer gains {gap.mean:.4f} points "
                    f"per deal at least ({gap.pone_gains:.4f} as pone, {gap.dealer_gains:.4f} as dealer)"
                )
    about = {"iterations": solver.iteration, "measured": {"iterations": solver.iteration, **asdict(gap)}}
    unset = [name for name, value in asdict(settings).items() if value is None]
    made_by = command("python -m research.solve", settings, ("out", "progress", *unset))
    solved = Solved(rules, solver.strategy(), about, made_by)
    write_whole(settings.out / STRATEGY, solved.to_bytes())
    print(f"wrote {settings.out}/{STRATEGY}; {peak_memory()}")


if __name__ == "__main__":
    start(Settings, run)
