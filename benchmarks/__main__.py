"""Run every benchmark, or those named with ``--only``, and print what was found.

Everything at full size takes a few minutes and is also written to ``benchmarks/RESULTS.md``.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from benchmarks import report
from benchmarks.timing import FULL, QUICK, Findings
from crib_env.errors import unknown
from crib_env.settings import check_file

SCRIPTS = (
    "batch", "scaling", "vector", "hands", "agents", "learned", "discards", "aec", "gym_single",
    "sb3", "learning", "baselines", "render", "memory", "start",
)  # fmt: skip
NAMED = ("gpu",)  # run by ``--only`` alone: not every machine has one
RESULTS = Path(__file__).parent / "RESULTS.md"


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with a command line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"error: {message}; see {self.prog} --help\n")


def arguments() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = Parser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--only", action="append", metavar="NAME",
        help=f"run this script only; may be repeated: {', '.join((*SCRIPTS, *NAMED))}")  # fmt: skip
    add("--quick", action="store_true", help="smallest sizes: to see that everything runs")
    add("--no-peers", action="store_true", help="measure ours only")
    add("--out", type=Path, help="write the results there, even if not of everything")
    return parser


def main(given: Sequence[str] | None = None) -> list[Findings]:
    """Run the command line; return what was found."""
    given = sys.argv[1:] if given is None else given
    parser = arguments()
    args = parser.parse_args(given)
    for name in args.only or ():
        if name not in (*SCRIPTS, *NAMED):
            parser.error(str(unknown("benchmark", name, (*SCRIPTS, *NAMED))))
    try:
        check_file(args.out or RESULTS)
    except OSError as error:
        parser.error(f"--out: {error}")
    settings = replace(QUICK if args.quick else FULL, peers=not args.no_peers)
    setting = report.machine()
    out: Path | None = args.out
    if out is None and not args.only and not args.quick:
        out = RESULTS
    findings = []
    for name in args.only or SCRIPTS:
        began = time.perf_counter()
        print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
        try:
            module = import_module(f"benchmarks.{name}")
            found: Findings = module.measure(settings)
            if name == "scaling" and out is not None:
                found = replace(found, pictures=module.draw(found.rows, out.parent / "scaling.png"))
        except Exception as error:  # the other scripts' minutes are not to be lost by it
            found = Findings(name, [], notes=[f"{name} failed: {type(error).__name__}: {error}"])
            traceback.print_exc()
        findings.append(found)
        print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    command = " ".join(["python -m benchmarks", *given])
    text = report.document(findings, settings, command, setting)
    print(text)
    if out is not None:
        out.write_text(text)
        print(f"wrote {out}", file=sys.stderr)
    return findings


if __name__ == "__main__":
    sys.exit(any(not found.rows for found in main()))
