"""Write games as data: Parquet shards with a row for each decision.

    crib data rule_based expert --games 1000 --out runs/data

Seat s of game g is played by agent (g + s) modulo their number. A stopped command continues where
it stopped: finished shards stay if they match SHA256SUMS. The bytes depend on the settings alone,
not on the number of workers. A data card, README.md, describes the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from crib_agents.files import BESIDE, write_whole
from crib_agents.loading import TakesAgents
from pydantic import Field

from crib_env import ENVIRONMENTS
from crib_env.batch import usable_cores
from crib_env.settings import NewFolder, Whole, checked_dataclass
from crib_training.data.play import PHASES, Setup, Shard
from crib_training.data.reading import COLUMNS, VERSION, arrow, read_about, read_shard, shard_paths
from crib_training.loading import find_env
from crib_training.outputs import claimed, table, write_json
from crib_training.progress import Progress
from crib_training.provenance import differences
from crib_training.workers import Workers, chosen_workers

SUMS, SETUP, CARD = "SHA256SUMS", "setup.json", "README.md"
OF_MINARI = ("episode", "seat", "agent", "observation", "action_mask", "action", "reward")


@checked_dataclass(frozen=True)
class Settings(Setup, TakesAgents):
    """Write games as data: Parquet shards with a row for each decision.

    Attributes:
        format: minari makes a dataset of Minari from the shards, besides.
        workers: number of processes; 0 plays in the command's own process.
        ray_address: play on this Ray cluster instead.
        out: the folder for the data.
    """

    _: KW_ONLY
    format: Literal["parquet", "minari"] = "parquet"
    workers: Annotated[Whole, Field(ge=0, le=4096)] = usable_cores()
    ray_address: str | None = None
    out: NewFolder = Path("runs/data")

    def __post_init__(self) -> None:
        object.__setattr__(self, "agents", tuple(map(self.trusted, self.agents)))
        super().__post_init__()
        if self.format == "minari" and (missing := [name for name in OF_MINARI if name not in self.columns]):
            raise ValueError(f"--format minari needs {', '.join(missing)} among --columns, or no --columns")


def write_data(setup: Setup, out: Path, workers: Workers) -> dict[str, Any]:
    """Write or resume a data set; return its figures."""
    with claimed(out):
        _require_same(setup, out)
        sums = _finished(out)
        shards = setup.shards()
        missing = [shard for shard in shards if shard.name not in sums]
        done = sum(shard.games for shard in shards if shard.name in sums)
        with workers, Progress("games", setup.games, done) as progress:
            for shard in missing:
                workers.submit(setup, shard)
            while (record := workers.next_record(progress.advance)) is not None:
                name, data = record["shard"].name, record["bytes"]
                write_whole(out / name, data)
                sums[name] = sha256(data).hexdigest()
                lines = [f"{digest}  {name}\n" for name, digest in sorted(sums.items())]
                write_whole(out / SUMS, "".join(lines).encode())
        figures, card = _card(out, shards)
        write_whole(out / CARD, card.encode())
        return figures


def _require_same(setup: Setup, out: Path) -> None:
    """Raise a ValueError if a folder holds other data."""
    identity, path = setup.identity(), out / SETUP
    if not path.exists():
        if left := sorted(out.glob("*.parquet")):
            raise ValueError(f"{out} holds {left[0].name} of another data set: choose another --out")
        write_json(path, identity)
        return
    try:
        old = json.loads(path.read_text("utf-8"))
        why = differences(old, identity)
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{path} cannot be read: choose another --out, or remove it") from None
    if why:
        raise ValueError(f"{out} holds other data: {why}. Choose another --out, or remove it")


def _finished(out: Path) -> dict[str, str]:
    """Return the digests of the intact shards by name; remove partly written files."""
    for left in out.glob(f"*{BESIDE}"):
        left.unlink(missing_ok=True)
    path = out / SUMS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return {
        name: digest
        for name, digest in sums.items()
        if (out / name).is_file() and sha256((out / name).read_bytes()).hexdigest() == digest
    }


def _card(out: Path, shards: Sequence[Shard]) -> tuple[dict[str, Any], str]:
    """Return the figures of a data set, and its data card."""
    abouts = [read_about(out / shard.name) for shard in shards]
    about = abouts[0]
    found = {name: np.sum([one["figures"][name] for one in abouts], axis=0) for name in about["figures"]}
    size = sum((out / shard.name).stat().st_size for shard in shards)
    heads = ["agent", "decisions", "mean return", "mean points per episode"]
    per = [found["returns"] / np.maximum(found["seats"], 1), found["rewards"] / np.maximum(found["seats"], 1)]
    if "regrets" in found:
        heads.append("regret per decision")
        per.append(found["regrets"] / np.maximum(found["decisions"], 1))
    by_agent = [
        [name, f"{int(found['decisions'][i]):,}", *(f"{column[i]:+.4f}" for column in per)]
        for i, name in enumerate(about["agents"])
    ]
    phases = [f"{int(n):,} {name}" for n, name in zip(found["phases"], PHASES, strict=True) if n]
    types = arrow().parquet.read_schema(out / shards[0].name)
    schema = [[f"`{name}`", str(types.field(name).type), COLUMNS[name]] for name in types.names]
    text = "\n\n".join(
        [
            f"# {about['environment']}: {', '.join(about['agents'])}",
            f"{about['games']:,} episodes ({about['episode']}) of cribbage by the rules "
            f"`{about['rules']}` with {about['players']} players: {int(found['rows']):,} decisions "
            f"({', '.join(phases)}), {size / 1e6:.1f} MB in {len(shards)} Parquet shards.",
            "Written by `crib data`. "
            f"Seed {about['seed']}; agents as given: {', '.join(about['given'])}. Versions: "
            + ", ".join(f"{name} {version}" for name, version in about["versions"].items())
            + ". `sha256sum -c SHA256SUMS` checks the files.",
            "Seat s of episode e is played by agent (e + s) modulo their number.",
            table(heads, by_agent),
            f"## Schema, version {VERSION}",
            f"One row for each decision. An observation has {about['observation_bits']} bits, a mask "
            f"{about['actions']}. The metadata of each file, under `crib_env`, is JSON with rules, "
            "agents, seed and versions.",
            table(["column", "type", "meaning"], schema),
            "`crib_training.data.load(folder)` returns NumPy arrays.\n",
        ]
    )
    return {name: value.tolist() for name, value in found.items()} | {"bytes": size}, text


# --- games as a dataset of Minari: an episode for each seat of a game -----------------------------


def minari_of() -> Any:
    """Import and return Minari."""
    for name in ("minari", "h5py", "PIL"):
        if find_spec(name) is None:
            raise ValueError(f'{name} is not installed: pip install "minari[hdf5,create]" pillow')
    import minari
    import minari.data_collector

    return minari


def write_minari(folder: Path) -> str:
    """Make a dataset of Minari from the shards in a folder, one at a time; return its name.

    A seat's rewards are points, as in the shards. The infos hold its action masks. Minari needs an
    observation after the last action: the last one is repeated, with an empty mask.
    """
    minari, files = minari_of(), shard_paths(folder)
    name = f"cribbage/{re.sub(r'[^A-Za-z0-9_.-]', '-', folder.resolve().name)}-v0"
    about = read_about(files[0])
    sums = (folder / SUMS).read_text("utf-8")
    description = (
        f"{about['games']:,} episodes of {about['environment']} by {', '.join(about['agents'])}, "
        f"seed {about['seed']}. Shards:\n{sums}"
    )
    if name in minari.list_local_datasets():
        there = minari.load_dataset(name)
        if there.storage.metadata.get("description") != description:
            raise ValueError(
                f"Minari holds other data by the name {name}: choose another --out, "
                f"or remove it with `minari delete {name}`"
            )
        if there.total_episodes == about["games"] * about["players"]:
            return name
        minari.delete_dataset(name)  # a command that was stopped left it half written
    maker = find_env(about["environment"])
    env = maker.gym_env(rules=maker.rules, opponent="random")
    data = None
    for file in files:
        episodes = list(_episodes(minari.data_collector.EpisodeBuffer, read_shard(file, OF_MINARI)))
        if data is None:
            data = minari.create_dataset_from_buffers(
                dataset_id=name,
                buffer=episodes,
                observation_space=env.observation_space,
                action_space=env.action_space,
                description=description,
                eval_env=f"crib_env/{ENVIRONMENTS[maker.name]}",
                requirements=["crib-env"],
                algorithm_name=", ".join(about["agents"]),
            )
        else:
            data.update_dataset_from_buffer(episodes)
    return name


def _episodes(buffer: Any, data: dict[str, Any]) -> Iterator[Any]:
    """Yield a Minari episode for each seat of each game."""
    order = np.lexsort((np.arange(len(data["seat"])), data["seat"], data["episode"]))
    changes = np.diff(data["episode"][order]) | np.diff(data["seat"][order])
    for rows in np.split(order, np.flatnonzero(changes) + 1):
        seen, masks = data["observation"][rows], data["action_mask"][rows]
        ends = np.arange(len(rows)) == len(rows) - 1
        yield buffer(
            observations=np.concatenate([seen, seen[-1:]]),
            actions=data["action"][rows],
            rewards=data["reward"][rows],
            terminations=ends,
            truncations=np.zeros_like(ends),
            infos={"action_mask": np.concatenate([masks, np.zeros_like(masks[-1:])])},
            options={name: data[name][rows[0]].item() for name in ("episode", "seat", "agent")},
        )


def run(settings: Settings) -> None:
    """Write the data and print a summary."""
    arrow()
    if settings.format == "minari":
        minari_of()
    workers = chosen_workers(settings.workers, settings.ray_address)
    try:
        figures = write_data(settings, settings.out, workers)
        if settings.format == "minari":
            print(f"minari.load_dataset({write_minari(settings.out)!r})")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"the same command goes on from the shards in {settings.out}") from None
    print(
        f"{figures['rows']:,} decisions of {settings.games:,} episodes, "
        f"{figures['bytes'] / 1e6:.1f} MB in {settings.out}; {settings.out / CARD} describes them"
    )
