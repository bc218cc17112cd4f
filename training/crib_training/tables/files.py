"""The files of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from crib_agents.data.tables import Table
from crib_agents.files import write_whole

from crib_training.command_line import command, start


def start_table(
    settings: type[Any], run: Callable[[Any], None], words: Sequence[str], program: str
) -> None:
    """Read settings and make a table, as `start` does; ``settings.out`` can be written, if any."""

    def make(chosen: Any) -> None:
        out = getattr(chosen, "out", None)
        try:
            run(chosen)
        except KeyboardInterrupt:
            state = "nothing is written" if out is None else f"{out} is as it was"
            raise KeyboardInterrupt(state) from None

    start(settings, make, words, program)


def made_by(table: Table, settings: Any) -> str:
    """Return the command that makes a table with these settings."""
    return command(table.made_by, settings, leave_out=("out",))


def write(table: Table, settings: Any, games: dict[str, Any]) -> None:
    """Write a table of both games to ``settings.out``, one row of a chart a line."""
    data = {"version": table.version, "made_by": made_by(table, settings), "seed": settings.seed,
            "games": games}  # fmt: skip
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^\[\]]+\]", lambda row: " ".join(row[0].split()), text)
    write_whole(settings.out, f"{text}\n".encode())
