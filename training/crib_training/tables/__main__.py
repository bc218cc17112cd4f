"""Make the tables that the agents read: the command `crib tables`.

crib tables                # all, in order
crib tables hand_pegging   # one
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

from crib_env.errors import unknown
from crib_training.command_line import one_line
from crib_training.interrupts import terminable
from crib_training.tables.files import start_table

# Name and module; what reads another's table comes after it.
ORDER = {
    "crib_tables": "two_hand.crib_tables",
    "rollout_policy": "two_hand.rollout_policy",
    "deal_outcomes": "two_hand.deal_outcomes",
    "hand_pegging": "two_hand.hand_pegging",
    "discarded": "two_hand.discarded",
    "choices": "two_hand.choices",
    "reference_deals": "two_hand.reference_deals",
    "table_top_values": "table_top.values",
    "table_top_rounds": "table_top.rounds",
    "many_hand_cribs": "many_hand.cribs",
    "many_hand_win": "many_hand.winning",
}
PRINTED = {"table_top_weights": "table_top.weights"}  # writes nothing
SCRIPTS = ORDER | PRINTED


def main(words: Sequence[str]) -> None:
    """Make every table in order, or the one that is named first in ``words``."""
    if not words:
        for name in ORDER:
            print(f"{name} ...", flush=True)
            # In a process of its own, which reads the tables as they are by now.
            try:
                made = subprocess.run([sys.executable, "-m", "crib_training.tables", name])
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"{name} is as it was, and so are those after it") from None
            if made.returncode:
                raise RuntimeError(f"{name} was not made")
    elif words[0] in ("-h", "--help"):
        print("usage: crib tables [NAME [OPTIONS]]\n")
        print(f"Makes one table, or all of them in this order: {', '.join(ORDER)}.")
        print(f"Prints, and writes nothing: {', '.join(PRINTED)}.")
    elif words[0] in SCRIPTS:
        script = import_module(module_of(words[0]))
        start_table(script.Settings, script.run, words[1:], f"crib tables {words[0]}")
    else:
        raise unknown("table", words[0], SCRIPTS)


def module_of(name: str) -> str:
    """Return the module that makes a table."""
    return f"crib_training.tables.{SCRIPTS[name]}"


if __name__ == "__main__":
    with terminable(), one_line():
        main(sys.argv[1:])
