"""Files and folders of results, tables, and the peak memory of the work.

Paths are checked before the work, so that no result is lost to a bad path. A folder for results
belongs to one command at a time, and a run in it is not overwritten.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crib_agents.files import BESIDE, write_whole
from filelock import FileLock, Timeout

from crib_env.settings import check_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHECKPOINT = "checkpoint.safetensors"  # of runs of our methods
MODEL = "model.zip"  # of MaskablePPO
RUNS = (CHECKPOINT, MODEL)
LOCK = ".lock"


class FolderInUseError(RuntimeError):
    """Another command writes to a folder."""


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make a folder for results and lock it against all other commands until the block ends.

    The operating system frees the lock however the process ends.
    """
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        with suppress(NotImplementedError):  # a file system without locks
            lock.acquire(timeout=0)
    except Timeout:
        raise FolderInUseError(
            f"another command writes to {folder}: wait until it has ended, or choose another --out"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def run_folder(out: Path, resume: Path | None) -> Iterator[None]:
    """Claim the folder of a run that learns; see `claimed`."""
    with claimed(out):
        going_on = resume is not None and resume.exists() and out.samefile(resume)
        if not going_on and any((out / name).exists() for name in RUNS):
            raise ValueError(f"{out} holds a run: resume it with {resume_option(out)}, or choose another --out")
        for left in out.glob(f"*{BESIDE}"):  # by a run that was killed while it wrote
            left.unlink(missing_ok=True)
        yield


def remove_run(out: Path) -> None:
    """Remove the files that keep another command from starting a run in a folder."""
    with claimed(out):
        for name in RUNS:
            (out / name).unlink(missing_ok=True)


def wrote(out: Path, *names: str) -> str:
    """Return in words which of these files a run has written: a picture only if it measured."""
    return f"wrote {out}/{', '.join(name for name in names if (out / name).exists())}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: bool = False) -> str:
    """Return a Markdown table; ``numbers`` aligns all columns but the first to the right."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = widths_of(cells)
    left = [not numbers or i == 0 for i in range(len(head))]
    rule = [f":{'-' * (n + 1)}" if side else f"{'-' * (n + 1)}:" for n, side in zip(widths, left, strict=True)]
    shown = [f"| {' | '.join(padded(row, widths, left))} |" for row in cells]
    return "\n".join([shown[0], f"|{'|'.join(rule)}|", *shown[1:]])


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of the columns of rows, the first of which is the head."""
    columns = [[len(cell) for cell in column] for column in zip(*rows, strict=True)]
    return [max(head + 2, *cells) if cells else head + 2 for head, *cells in columns]


def padded(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> list[str]:
    """Return the cells of a row padded to their columns' widths, aligned ``left`` or right."""
    return [
        cell.ljust(width) if side else cell.rjust(width) for cell, width, side in zip(row, widths, left, strict=True)
    ]


def per_second(speed: float) -> str:
    """Return a speed as text, below ten with two significant digits."""
    return f"{speed:,.0f}" if speed >= 10 else f"{speed:.2g}"


def csv_table(kind: type[Any], rows: Sequence[Any]) -> bytes:
    """Return dataclass instances of one kind as CSV, a column per field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue().encode()


def write_json(path: Path, result: Any) -> None:
    """Write a result as JSON."""
    write_whole(path, (json.dumps(result, indent=2) + "\n").encode())


def as_png(figure: Figure, dpi: int = 120) -> bytes:
    """Return a matplotlib figure as PNG."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=dpi)
    return image.getvalue()


def peak_bytes() -> int | None:
    """Return the peak memory of this process so far in bytes, None if unknown."""
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)  # bytes there, KiB elsewhere


def peak_memory() -> str:
    """Return the peak memory of this process so far, in words."""
    peak = peak_bytes()
    if peak is None:
        return "the peak of memory is unknown on this system"
    return f"{peak / 1e9:.2f} GB of memory held at most"


def resume_option(out: Path) -> str:
    """Return the option that continues the run of a folder, for a shell."""
    return f"--resume {shlex.quote(str(out))}"


def command(
    program: str, settings: Any, leave_out: Collection[str] = (), with_defaults: Collection[str] | None = None
) -> str:
    """Return the command line of settings, quoted for a shell, without those in ``leave_out``.

    Defaults are left out too, except those in ``with_defaults``; None keeps all of them.
    """
    words = [program]
    for field in fields(settings):
        value, name = getattr(settings, field.name), field.name.replace("_", "-")
        usual = value == field.default and with_defaults is not None
        if field.name in leave_out or (usual and field.name not in (with_defaults or ())):
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            parts = value if isinstance(value, tuple) else (value,)
            words.append(f"--{name} {shlex.join(map(str, parts))}")
    return " ".join(words)
