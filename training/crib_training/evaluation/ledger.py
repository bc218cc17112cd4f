"""Store finished chunks in a folder, and play the missing ones.

`crib tournament` uses it, and `crib evaluate` with a language model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from crib_agents.files import write_whole

from crib_training.evaluation.chunks import Chunk, Setup, read_pairs
from crib_training.evaluation.duplicate import estimate
from crib_training.progress import Progress
from crib_training.provenance import differences
from crib_training.workers import Record, Workers

FILE = "chunks.jsonl"
SHOWN = 5  # broken lines that an error names
ROUND = 4  # chunks between two checks of an interval


class Ledger:
    """Finished chunks by key, each a line of ``chunks.jsonl``, after one for the set-up.

    A line's ``digest`` covers its ``record``, the set-up and the two agents, so an altered line or
    one of another tournament is detected; a last line cut short is dropped. A resumed tournament
    must have the same set-up, except the field, its order and the seeds.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        self.setup = setup
        self.records: dict[Chunk, Record] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._identity = setup.identity()
        lines = self._path.read_text("utf-8").split("\n")[:-1] if self._path.exists() else []
        if lines:
            old = self._require_same(lines[0])
            self._identity["agents"] = sorted({*old["agents"], *self._identity["agents"]})
            self._identity["files"] = {**old["files"], **self._identity["files"]}
        broken = [n for n, line in enumerate(lines[1:], start=2) if not self._take(line)]
        if broken:
            shown = ", ".join(map(str, broken[:SHOWN])) + (" ..." if len(broken) > SHOWN else "")
            raise RuntimeError(
                f"line {shown} of {self._path} cannot be read: cut short, altered, of another "
                "tournament, or there twice. Remove it, and its chunk is played again"
            )
        # Rewritten: the field may have grown, and the last line may be broken.
        records = [self._line(record) for record in self.records.values()]
        write_whole(self._path, "".join([self._line(self._identity), *records]).encode())

    def add(self, record: Record) -> Chunk:
        """Store the record of a finished chunk; return its key."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(self._line(record))
        except OSError as error:
            raise OSError(f"{self._path} cannot be written: {error.strerror or error}") from error
        return self._keep(record)

    def _keep(self, record: Record) -> Chunk:
        chunk = Chunk(**{name: record[name] for name in Chunk.__annotations__})
        self.records[chunk] = record
        return chunk

    def _line(self, record: Record) -> str:
        return json.dumps({"digest": self._digest(record), "record": record}) + "\n"

    def _digest(self, record: Record) -> str:
        """Return a digest of a chunk's record and its set-up, or of a set-up."""
        about: dict[str, Any] = {}
        if "agents" not in record:
            about = dict(self._identity)
            files = about.pop("files")
            pair = [record[side] for side in ("first", "second")]
            about["agents"] = [[name, files.get(name)] for name in pair]
        return sha256(json.dumps([about, record], sort_keys=True).encode()).hexdigest()[:16]

    def _read(self, line: str, setup: bool) -> Record | None:
        """Return the record of a line, of a set-up or of a chunk, or None if it is not intact."""
        try:
            written = json.loads(line)
            record: Record = written["record"]
            intact = ("agents" in record) == setup and written["digest"] == self._digest(record)
        except (ValueError, KeyError, TypeError, IndexError):  # of another shape
            return None
        return record if intact else None

    def _take(self, line: str) -> bool:
        """Store the chunk of a line; return whether it is intact and new."""
        record, known = self._read(line, setup=False), len(self.records)
        if record is not None:
            self._keep(record)
        return len(self.records) > known

    def _require_same(self, line: str) -> dict[str, Any]:
        """Return the set-up stored in a line; raise an error with the reason if it is another."""
        place = f"Name another folder, or remove {self._path}"
        old = self._read(line, setup=True)
        if old is None:
            raise RuntimeError(
                f"line 1 of {self._path} cannot be read: it is cut short or altered, or from a "
                f"version that wrote no digests. {place}"
            )
        new = self._identity
        alike = ["agents"]  # the field may differ, and so the files of agents that are not in both
        if all(new["files"].get(name, known) == known for name, known in old["files"].items()):
            alike.append("files")
        if why := differences(old, new, alike):
            raise ValueError(f"{self._path.parent} holds a tournament of another set-up: {why}. {place}")
        return old


@dataclass
class Plan:
    """The state of a pairing's games."""

    chunks: list[Chunk]  # the chunks of its result, as far as known
    missing: set[Chunk]  # those not yet played

    def settled(self, pairs: int) -> int:
        """Return how many of the pairing's pairs are played or no longer needed."""
        if not self.missing:
            return pairs
        return sum(chunk.pairs for chunk in self.chunks if chunk not in self.missing)


def complete(
    ledger: Ledger, pairs: int, workers: Workers, until: float | None = None, what: str = "games and deals"
) -> dict[tuple[int, int], list[Record]]:
    """Play the chunks that a ledger lacks, and return the records of each pairing.

    ``pairs`` is the number per pairing and seed. With ``until`` it is the maximum: a pairing ends
    once the interval of its games won is within ``until`` percentage points to either side.
    """
    setup = ledger.setup
    each = pairs * len(setup.seed)
    plans = {pairing: _plan(ledger, pairing, pairs, until) for pairing in setup.pairings}
    places = {setup.meeting(*pairing): pairing for pairing in plans}
    settled = sum(plan.settled(each) for plan in plans.values())
    total = setup.games_each * each * len(plans)
    with workers, Progress(what, total, setup.games_each * settled) as progress:
        for plan in plans.values():  # one pairing after the other: few agents at a time
            for chunk in sorted(plan.missing):
                workers.submit(setup, chunk)
        while (record := workers.next_record(progress.advance)) is not None:
            pairing = places[record["first"], record["second"]]
            plan = plans[pairing]
            plan.missing.discard(ledger.add(record))
            if not plan.missing:
                plan = plans[pairing] = _plan(ledger, pairing, pairs, until)
                for chunk in sorted(plan.missing):
                    workers.submit(setup, chunk)
                if not plan.missing:  # the rest need not be played
                    unplayed = each - sum(chunk.pairs for chunk in plan.chunks)
                    progress.advance(setup.games_each * unplayed)
    return {pairing: [ledger.records[chunk] for chunk in plan.chunks] for pairing, plan in plans.items()}


def _plan(ledger: Ledger, pairing: tuple[int, int], pairs: int, until: float | None) -> Plan:
    """Return a pairing's plan: all its chunks, or with ``until`` those of the rounds so far.

    Rounds are read in order; after each complete one the interval decides if another follows.
    """
    chunks = ledger.setup.chunks(*pairing, pairs)
    step = len(chunks) if until is None else ROUND
    known: list[Chunk] = []
    for end in range(step, len(chunks) + step, step):
        known = chunks[:end]
        missing = {chunk for chunk in known if chunk not in ledger.records}
        if missing:
            return Plan(known, missing)
        if until is not None:
            games = read_pairs(*(ledger.records[chunk]["games"] for chunk in known))
            # With one pair won and one lost added, so that a few equal pairs do not seem certain.
            if 100 * estimate(np.append(games.shares_won, [1, 0])).ci95 <= until:
                break
    return Plan(known, set())
