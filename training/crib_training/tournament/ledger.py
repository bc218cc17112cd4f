"""The folder in which a tournament keeps its finished chunks, so that it can be taken up again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crib_training.tournament.chunks import Chunk, Record, Setup

FILE = "chunks.jsonl"


class Ledger:
    """Finished chunks by key, each a line of JSON in ``chunks.jsonl``, after one for the set-up.

    A tournament taken up again must be of the same set-up; but agents may be added at the end of
    the field, since the others' games do not depend on them. A last line cut short, by a crash or
    a full disk, is dropped and its chunk played again.

    Args:
        folder: where; made if it is not there.
        setup: of the tournament.

    Raises:
        ValueError: the folder holds a tournament of another set-up; the message says how it
            differs; or a line is broken, other than the last.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        self.records: dict[Chunk, Record] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        identity = setup.identity()
        lines = self._read()
        if lines:
            _require_same(folder, lines[0], identity)
        # Written anew: the field may have grown, and the last line may be broken.
        new = self._path.with_suffix(".new")
        new.write_text("".join(json.dumps(line) + "\n" for line in [identity, *lines[1:]]))
        new.replace(self._path)
        for record in lines[1:]:
            self._keep(record)

    def add(self, record: Record) -> Chunk:
        """Keep the record of a finished chunk; return its key."""
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        return self._keep(record)

    def _keep(self, record: Record) -> Chunk:
        chunk = Chunk(**{name: record[name] for name in Chunk.__annotations__})
        self.records[chunk] = record
        return chunk

    def _read(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        text = self._path.read_text()
        whole = text[: text.rfind("\n") + 1]
        lines = []
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"line {number} of {self._path} cannot be read ({error}): remove it, and its "
                    "chunk is played again; of the first, the whole file"
                ) from error
        return lines


def _require_same(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Refuse chunks of another set-up, with the reason."""
    differing = {name for name in new if old.get(name) != new[name]}
    if new["agents"][: len(old["agents"])] == old["agents"]:
        differing.discard("agents")
    if all(new["files"].get(name) == digest for name, digest in old["files"].items()):
        differing.discard("files")
    reasons = {
        "code": "the code of crib_env, of our agents or of tournaments has changed since",
        "files": "a weights file, or the module of an agent, has changed since",
    }
    if differing:
        why = "; ".join(
            reasons.get(name, f"{name} was {old.get(name)!r} and is {new[name]!r}")
            for name in sorted(differing)
        )
        raise ValueError(
            f"{folder} holds a tournament of another set-up: {why}. Name another folder, or remove "
            f"{folder / FILE}"
        )
