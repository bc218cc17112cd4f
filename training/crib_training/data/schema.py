"""The columns of a data set, and the metadata that every one of its files holds."""

from __future__ import annotations

import json
from typing import Any

from crib_env.errors import unknown

FORMAT, VERSION = "crib-env data", 1
KEY = b"crib_env"  # where a file's metadata hold ours
COLUMNS = {
    "episode": "number of the game in the data set, from 0",
    "step": "number of the decision in its episode, from 0",
    "deal": "number of the deal in its episode, from 1",
    "seat": "the seat that decides",
    "agent": "who plays that seat",
    "phase": "discarding, pegging or placing",
    "position": "the whole position in notation, with the cards that the seat cannot see",
    "observation": "what the seat sees: bits, eight to a byte, the first bit highest",
    "action_mask": "the legal actions: bits as in observation",
    "action": "the action taken",
    "probabilities": "the agent's probability of each action; NaN if it draws and does not say",
    "reward": "points of the seat's side, less the mean of the others, until its next decision",
    "return": "what the episode brings the seat at its end",
    "values": "value of each action: expert's, 0 to 1, or the agent's own; NaN if there is none",
    "regret": "expert's best value less the value of the action taken",
}
VALUES = {"expert": ("values", "regret"), "own": ("values",)}  # the columns of --values
# Written if named: a position takes longer than the game, and the probabilities of an agent that
# does not draw say no more than its action.
NAMED = ("position", "probabilities")
USUAL = tuple(name for name in COLUMNS if name not in (*NAMED, *VALUES["expert"]))


def chosen_columns(
    names: tuple[str, ...], values: str | None, draws: bool = False
) -> tuple[str, ...]:
    """Return the columns to write, in the order of the schema; no names stand for the usual.

    Probabilities are usual where an agent ``draws``.
    """
    for name in names:
        if name not in (*COLUMNS, "all"):
            raise unknown("column", name, [*COLUMNS, "all"])
        if name in VALUES["expert"] and name not in VALUES.get(values or "", ()):
            raise ValueError(f"the column {name!r} needs --values expert")
    usual = {*USUAL} | ({"probabilities"} if draws else set())
    wanted = {*(names or usual), *VALUES.get(values or "", ())}
    if "all" in names:
        wanted |= {*USUAL, *NAMED}
    return tuple(name for name in COLUMNS if name in wanted)


def arrow() -> Any:
    """Return PyArrow with its Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ValueError('PyArrow is not installed: pip install "crib-env[data]"') from error
    return pyarrow


def read_about(path: Any) -> dict[str, Any]:
    """Return the metadata of a file of ours.

    Raises:
        ValueError: it is damaged, not ours, or of another version; the message says so.
    """
    pa = arrow()
    try:
        held = (pa.parquet.read_schema(path).metadata or {}).get(KEY, b"{}")
    except (pa.ArrowInvalid, OSError) as error:
        why = "its end is cut off or damaged" if isinstance(error, pa.ArrowInvalid) else error
        raise ValueError(f"{path} is not a whole Parquet file ({why}): the `crib data` command "
                         "that wrote it writes it again") from None  # fmt: skip
    about: dict[str, Any] = json.loads(held)
    if about.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by `crib data`")
    if about.get("version") != VERSION:
        raise ValueError(f"{path} has version {about.get('version')!r} of the schema, and this "
                         f"crib-env reads version {VERSION}: write it again")  # fmt: skip
    return about
