"""Make the tables that the agents read: the command `python -m research.tables`.

python -m research.tables                # all, in order
python -m research.tables hand_pegging   # one
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

from crib_training.command_line import one_line, start
from crib_training.interrupts import terminable

from crib_env.errors import unknown
from research.tables.maker import Maker

# Name and module; a maker comes after those whose tables it reads. It has its table's name.
ORDER = {
    "crib_tables": "discards",
    "rollout_policy": "rollouts",
    "deal_outcomes": "deals",
    "hand_pegging": "deals",
    "discarded": "discards",
    "endgame": "endgame",
    "endgame_win": "endgame",
    "hands_kept": "rollouts",
    "choices": "rollouts",
    "endgame_belief": "endgame_belief",
    "endgame_shift": "endgame_shift",
    "reference_deals": "reference_deals",
    "table_top_values": "table_top",
    "table_top_rounds": "table_top",
    "many_hand_cribs": "many_hand",
}
PRINTED = {"endgame_check": "endgame_shift"}  # writes nothing
SCRIPTS = ORDER | PRINTED


def main(words: Sequence[str]) -> None:
    """Make every table in order, or the one that is named first in ``words``."""
    if not words:
        for name in ORDER:
            print(f"{name} ...", flush=True)
            # In a new process, which reads the tables written so far.
            try:
                made = subprocess.run([sys.executable, "-m", "research.tables", name])
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"{name} is as it was, and so are those after it") from None
            if made.returncode:
                names = list(ORDER)
                left = " ".join(names[names.index(name) :])
                raise RuntimeError(f"{name} was not made: make it and those after it by name, in this order: {left}")
    elif words[0] in ("-h", "--help"):
        print("usage: python -m research.tables [NAME [OPTIONS]]\n")
        print(f"Makes one table, or all of them in this order: {', '.join(ORDER)}.")
        print(f"Prints, and writes nothing: {', '.join(PRINTED)}.")
    elif words[0] in SCRIPTS:
        maker: Maker = getattr(import_module(f"research.tables.{SCRIPTS[words[0]]}"), words[0])
        start(maker.Settings, maker.run, words[1:], f"python -m research.tables {words[0]}")
    else:
        raise unknown("table", words[0], SCRIPTS)


if __name__ == "__main__":
    with terminable(), one_line():
        main(sys.argv[1:])
