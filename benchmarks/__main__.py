"""Run every benchmark, or those named with ``--only``, and print the results.

Everything at full size takes a few minutes. Figures of all scripts at full size, beside other
people's games, go into ``docs/numbers/speed.json``, and ``benchmarks/RESULTS.md`` is made of that
file.
"""

from __future__ import annotations

import json
import re
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from crib_agents.files import write_whole
from crib_training.command_line import read

from benchmarks.timing import FULL, QUICK, Findings, machine, page
from crib_env.settings import NewFile, checked_dataclass

SCRIPTS = {  # the module of each, with its function `measure_NAME`
    "batch": "batch", "vector": "environments", "hands": "agents", "agents": "agents",
    "learned": "agents", "data": "agents", "text": "agents", "aec": "environments",
    "gym_single": "environments", "sb3": "learners", "learning": "learners",
    "render": "environments", "start": "environments",
}  # fmt: skip
NAMED = {"gpu": "batch", "baselines": "learners"}  # run by ``--only`` alone
NUMBERS = Path(__file__).parents[1] / "docs" / "numbers" / "speed.json"
RESULTS = Path(__file__).with_name("RESULTS.md")


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Run every benchmark, and print the results.

    Everything at full size takes a few minutes. With peers, and if nothing failed, it is also
    written to docs/numbers/speed.json and benchmarks/RESULTS.md.

    Attributes:
        only: run these scripts only.
        quick: smallest sizes: to see that everything runs.
        peers: measure other people's games too.
        out: write the page there, even if not of everything.
    """

    only: tuple[Literal[(*SCRIPTS, *NAMED)], ...] = ()
    quick: bool = False
    peers: bool = True
    out: NewFile | None = None


def main(given: Sequence[str] | None = None) -> list[Findings]:
    """Run the command line; return the results."""
    given = sys.argv[1:] if given is None else given
    args = read(Settings, given, "python -m benchmarks")
    settings = replace(QUICK if args.quick else FULL, peers=args.peers)
    data: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks", *given]),
        "machine": machine(),
        "seconds": settings.seconds,
        "repeats": settings.repeats,
        "quick": args.quick,
        "findings": {},
    }
    findings = []
    for name in args.only or SCRIPTS:
        began = time.perf_counter()
        print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
        try:
            module = import_module(f"benchmarks.{(SCRIPTS | NAMED)[name]}")
            found: Findings = getattr(module, f"measure_{name}")(settings)
        except Exception as error:  # keep the results of the other scripts
            found = Findings(name, [], notes=[f"{name} failed: {type(error).__name__}: {error}"])
            traceback.print_exc()
        findings.append(found)
        data["findings"][name] = found.as_json()
        print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    text = page(data)
    print(text)
    files = [(args.out, text)] if args.out else []
    if args.peers and not (args.only or args.quick) and all(found.rows for found in findings):
        stored = json.dumps(data, indent=1, ensure_ascii=False)
        stored = re.sub(r"\{[^{}\[\]]+\}", lambda row: " ".join(row[0].split()), stored)
        files += [(NUMBERS, stored + "\n"), (RESULTS, text)]
    for path, written in files:
        write_whole(path, written.encode())
        print(f"wrote {path}", file=sys.stderr)
    return findings


if __name__ == "__main__":
    sys.exit(any(not found.rows for found in main()))
