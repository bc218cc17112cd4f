"""The files of `crib data`: their columns, and reading them as NumPy arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.errors import unknown

FORMAT, VERSION = "crib-env data", 1
KEY = b"crib_env"  # the key of our JSON in a file's metadata
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
# Not among the usual columns: positions take longer to write than the games to play, and the
# probabilities of a deterministic agent only repeat its action; see `chosen_columns`.
NAMED = ("position", "probabilities")
USUAL = tuple(name for name in COLUMNS if name not in (*NAMED, *VALUES["expert"]))


def chosen_columns(names: tuple[str, ...], values: str | None, draws: bool = False) -> tuple[str, ...]:
    """Return the columns to write, in the order of the schema; without names, the usual ones.

    The usual ones include the probabilities if an agent ``draws``.
    """
    for name in names:
        if name not in (*COLUMNS, "all"):
            raise unknown("column", name, [*COLUMNS, "all"])
        if name in VALUES["expert"] and name not in VALUES.get(values or "", ()):
            kinds = " or ".join(kind for kind, made in VALUES.items() if name in made)
            raise ValueError(f"the column {name!r} needs --values {kinds}")
    usual = {*USUAL} | ({"probabilities"} if draws else set())
    wanted = {*(names or usual), *VALUES.get(values or "", ())}
    if "all" in names:
        wanted |= {*USUAL, *NAMED}
    return tuple(name for name in COLUMNS if name in wanted)


def arrow() -> Any:
    """Return PyArrow with its Parquet module."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ValueError('PyArrow is not installed: pip install "crib-env[data]"') from error
    return pyarrow


def read_about(path: Any) -> dict[str, Any]:
    """Return a shard's metadata; refuse a damaged file, a foreign one, or another version."""
    pa = arrow()
    try:
        held = (pa.parquet.read_schema(path).metadata or {}).get(KEY, b"{}")
    except (pa.ArrowInvalid, OSError) as error:
        why = "its end is cut off or damaged" if isinstance(error, pa.ArrowInvalid) else error
        raise ValueError(
            f"{path} is not a whole Parquet file ({why}): the `crib data` command that wrote it writes it again"
        ) from None
    about: dict[str, Any] = json.loads(held)
    if about.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by `crib data`")
    if about.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {about.get('version')!r} of the schema, and this "
            f"crib-env reads version {VERSION}: write it again"
        )
    return about


BITS = {"observation": "observation_bits", "action_mask": "actions"}
SAME = (
    "environment", "rules", "episode", "players", "observation_bits", "actions", "columns",
    "given", "seed", "games", "shard",
)  # fmt: skip


def shard_name(index: int) -> str:
    """Return the name of a shard's file."""
    return f"shard-{index:05d}.parquet"


def shard_paths(path: str | Path) -> list[Path]:
    """Return all files of a data set in order, or the one file given.

    Raises:
        ValueError: no data, a missing shard, or a file of another data set.
    """
    path = Path(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise ValueError(f"there is no data at {path}: name a folder that `crib data` wrote")
    first = read_about(files[0])
    for file in files[1:]:
        about = read_about(file)
        for name in SAME:
            if about[name] != first[name]:
                raise ValueError(
                    f"{file} does not belong to {files[0]}: its {name} is {about[name]!r}, not {first[name]!r}"
                )
    wanted = [shard_name(index) for index in range(-(-first["games"] // first["shard"]))]
    missing = sorted({*wanted} - {file.name for file in files}) if path.is_dir() else []
    if missing:
        raise ValueError(
            f"{path} has {len(files)} of {len(wanted)} shards, not {missing[0]}: the "
            "same `crib data` command writes what is missing; single shards are read "
            "by the names of their files"
        )
    return files


def load(
    path: str | Path, columns: Sequence[str] | None = None, *, env: str | None = None, packed: bool = False
) -> dict[str, Array]:
    """Return a data set of `crib data`, or one of its files, as NumPy arrays by column.

    Args:
        path: the folder, or a Parquet file of it.
        columns: the columns to read, by default all.
        env: the environment that the data must be of, such as ``"six_card_v0"``; None for any.
        packed: leave observations and masks as they are stored, uint8, eight bits to a byte.

    Returns:
        an array for each column, with a row for each decision; ``observation`` uint8[N, bits],
        ``action_mask`` int8[N, actions], as the environment gives them.

    Raises:
        ValueError: a shard is missing; a file is damaged, of another version, of another data set,
            or lacks a column; or PyArrow is not installed.
    """
    parts = [read_shard(file, columns, env, packed) for file in shard_paths(path)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def read_shard(
    path: Path, columns: Sequence[str] | None = None, env: str | None = None, packed: bool = False
) -> dict[str, Array]:
    """Return one file as NumPy arrays; see `load`."""
    pa, about = arrow(), read_about(path)
    if env is not None and about["environment"] != env:
        raise ValueError(f"{path} is of {about['environment']}, not of {env}")
    for name in columns or ():
        if name not in about["columns"]:
            raise unknown("column", name, about["columns"])
    try:
        found = pa.parquet.read_table(
            path, columns=None if columns is None else list(columns), page_checksum_verification=True
        )
    except (pa.ArrowInvalid, OSError):
        raise ValueError(f"{path} is damaged: the `crib data` command that wrote it writes it again") from None
    return {name: _array(found.column(name), name, about, packed) for name in found.column_names}


def _array(column: Any, name: str, about: dict[str, Any], as_stored: bool) -> Array:
    """Return an Arrow column as a NumPy array."""
    one = column.combine_chunks()
    if name in BITS:
        size = one.type.byte_width
        packed = np.frombuffer(one.buffers()[1], np.uint8)
        packed = packed[one.offset * size : (one.offset + len(one)) * size].reshape(-1, size)
        if as_stored:
            return packed
        bits = np.unpackbits(packed, axis=1, count=about[BITS[name]])
        return bits.view(np.int8) if name == "action_mask" else bits
    if name in ("values", "probabilities"):
        flat: Array = one.flatten().to_numpy(zero_copy_only=False)
        return flat.reshape(len(one), -1)
    if name in ("agent", "phase"):
        words: Array = np.array(one.dictionary.to_pylist())[one.indices.to_numpy()]
        return words
    array: Array = one.to_numpy(zero_copy_only=False)
    return array
