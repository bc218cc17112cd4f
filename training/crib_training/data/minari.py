"""Games that `crib data` wrote, as a dataset of Minari: an episode for each seat of a game."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from crib_env import ENVIRONMENTS
from crib_training.data.reading import read_about, read_shard, shard_paths
from crib_training.loading import find_env

COLUMNS = ("episode", "seat", "agent", "observation", "action_mask", "action", "reward")


def minari_of() -> Any:
    """Return Minari."""
    for name in ("minari", "h5py", "PIL"):
        if find_spec(name) is None:
            raise ValueError(f'{name} is not installed: pip install "minari[hdf5,create]" pillow')
    import minari
    import minari.data_collector

    return minari


def write_minari(folder: Path) -> str:
    """Make a dataset of Minari from the shards in a folder, one at a time; return its name.

    A seat's rewards are points, as in the shards. The infos hold its action masks. Minari takes an
    observation after the last action: the last one again, with an empty mask.
    """
    minari, files = minari_of(), shard_paths(folder)
    name = f"cribbage/{re.sub(r'[^A-Za-z0-9_.-]', '-', folder.resolve().name)}-v0"
    about = read_about(files[0])
    sums = (folder / "SHA256SUMS").read_text("utf-8")
    description = (
        f"{about['games']:,} episodes of {about['environment']} by {', '.join(about['agents'])}, "
        f"seed {about['seed']}. Shards:\n{sums}"
    )
    if name in minari.list_local_datasets():
        there = minari.load_dataset(name)
        if there.storage.metadata.get("description") != description:
            raise ValueError(f"Minari holds other data by the name {name}: choose another --out, "
                             f"or remove it with `minari delete {name}`")  # fmt: skip
        if there.total_episodes == about["games"] * about["players"]:
            return name
        minari.delete_dataset(name)  # a command that was stopped left it half written
    maker = find_env(about["environment"])
    env = maker.gym_env(rules=maker.rules, opponent="random")
    data = None
    for file in files:
        episodes = list(_episodes(minari.data_collector.EpisodeBuffer, read_shard(file, COLUMNS)))
        if data is None:
            data = minari.create_dataset_from_buffers(
                dataset_id=name, buffer=episodes, observation_space=env.observation_space,
                action_space=env.action_space, description=description,
                eval_env=f"crib_env/{ENVIRONMENTS[maker.name]}", requirements=["crib-env"],
                algorithm_name=", ".join(about["agents"]),
            )  # fmt: skip
        else:
            data.update_dataset_from_buffer(episodes)
    return name


def _episodes(buffer: Any, data: dict[str, Any]) -> Iterator[Any]:
    """Yield the decisions of each seat of each game."""
    order = np.lexsort((np.arange(len(data["seat"])), data["seat"], data["episode"]))
    changes = np.diff(data["episode"][order]) | np.diff(data["seat"][order])
    for rows in np.split(order, np.flatnonzero(changes) + 1):
        seen, masks = data["observation"][rows], data["action_mask"][rows]
        ends = np.arange(len(rows)) == len(rows) - 1
        yield buffer(
            observations=np.concatenate([seen, seen[-1:]]), actions=data["action"][rows],
            rewards=data["reward"][rows], terminations=ends, truncations=np.zeros_like(ends),
            infos={"action_mask": np.concatenate([masks, np.zeros_like(masks[-1:])])},
            options={name: data[name][rows[0]].item() for name in ("episode", "seat", "agent")},
        )  # fmt: skip
