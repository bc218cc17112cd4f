"""Draw the learning curves of several runs into one picture.

    crib curves runs/1 runs/2 runs/3 --out curve.png
    crib curves "self-play=runs/1,runs/2,runs/3" "MaskablePPO=runs/a,runs/b,runs/c"

Runs that differ only by their seed form one line: their mean, in a band from the lowest to the
highest run at each second. The band of a single run shows the 95 % intervals of its points.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, asdict
from pathlib import Path

from crib_agents.files import write_whole

from crib_env.settings import NewFile, checked_dataclass
from crib_training.learn.curve import read_points, read_words
from crib_training.learn.picture import Line, What, draw, of_run, of_runs


@checked_dataclass(frozen=True)
class Settings:
    """Draw the learning curves of several runs into one picture.

    Attributes:
        runs: folders of runs, all in one line of the picture; or several lines, each as
            NAME=FOLDER,FOLDER.
        what: the share of games won, or points per deal.
        eval_opponent: the opponent of the measurements; by default the first.
        title: the title of the picture; by default the runs' own, if they share one.
        out: the PNG file to write.
    """

    runs: tuple[str, ...]
    _: KW_ONLY
    what: What = "won"
    eval_opponent: str | None = None
    title: str | None = None
    out: NewFile = Path("curves.png")


def groups_of(runs: tuple[str, ...]) -> dict[str, list[Path]]:
    """Return the folders of each line by its name, "" if it has none."""
    named = [run for run in runs if "=" in run]
    if not runs or (named and len(named) < len(runs)):
        raise ValueError("name the folders of runs, or for each line NAME=FOLDER,FOLDER")
    if not named:
        return {"": [Path(run) for run in runs]}
    pairs = [run.partition("=") for run in runs]
    return {name: [Path(folder) for folder in rest.split(",")] for name, _, rest in pairs}


def line_of(name: str, folders: list[Path], opponent: str, what: What) -> Line:
    """Return the line of runs."""
    lines = []
    for folder in folders:
        points = [asdict(point) for point in read_points(folder)]
        lines.append(of_run("", points, opponent, what))
        if not len(lines[-1].seconds):
            raise ValueError(f"{folder} was not measured against {opponent!r}")
    label = f"mean of {len(folders)} runs" if len(folders) > 1 else folders[0].name
    return of_runs(name or label, lines)


def shared_baselines(shares: list[dict[str, float]]) -> dict[str, float]:
    """Return the baselines whose share is the same in all runs: it differs by game."""
    first, *others = shares
    return {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}


def run(settings: Settings) -> None:
    """Draw, and print where the picture is."""
    groups = groups_of(settings.runs)
    first = next(iter(groups.values()))[0]
    opponent = settings.eval_opponent or next((p.opponent for p in read_points(first)), "")
    lines = [line_of(name, folders, opponent, settings.what) for name, folders in groups.items()]
    words = [read_words(folder) for folders in groups.values() for folder in folders]
    levels = {opponent: 0.0}
    if settings.what == "won":
        shared = shared_baselines([one["baselines"] for one in words])
        levels = shared if opponent in shared else {}
    titles = {one["title"] for one in words}
    title = settings.title or (titles.pop() if len(titles) == 1 else f"Learned against {opponent}")
    write_whole(settings.out, draw(lines, levels, title, settings.what))
    print(f"wrote {settings.out}")
