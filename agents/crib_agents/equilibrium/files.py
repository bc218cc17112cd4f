"""The file of a strategy: safetensors, its tables deflated, with a header that says what they fit.

Nothing in it can run. A file that does not fit is refused with the reason.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.data.tables import RANKS
from crib_agents.equilibrium.strategy import Strategy
from crib_agents.files import HEADER, check_format, read_header
from crib_agents.learned.two_hand.act import rules_key
from crib_env.engine.two_hand.records import VIEW

FORMAT = "crib_env strategy"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Solved:
    """A strategy and where it comes from.

    Attributes:
        rules: what the rules are called. rules_fields: what they say.
        strategy: of both seats.
        about: how it was solved: iterations, what it is off by, as far as measured.
        made_by: the command.
    """

    rules: str
    rules_fields: Mapping[str, Any]
    strategy: Strategy
    about: Mapping[str, Any]
    made_by: str = ""

    def key(self) -> int:
        """Return the number by which kernels tell these rules from others."""
        view = np.zeros(1, dtype=VIEW)
        for field in ("dealt", "single_count", "flush_size", "crib_flush_size"):
            view[field] = int(self.rules_fields[field])
        return int(rules_key(view[0]))

    def to_bytes(self) -> bytes:
        """Return the file."""
        from safetensors.numpy import save

        return save(self.deflated, metadata={HEADER: json.dumps(self.header())})

    @cached_property
    def deflated(self) -> dict[str, npt.NDArray[np.uint8]]:
        """The tables as the file has them."""
        tables = {"lay_away": self.strategy.lay_away, "play": self.strategy.play}
        return {
            name: np.frombuffer(zlib.compress(np.ascontiguousarray(table).data), dtype=np.uint8)
            for name, table in tables.items()
        }

    def header(self) -> dict[str, Any]:
        """Return what the file says of them."""
        strategy = self.strategy
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "rules": self.rules,
            "rules_fields": dict(self.rules_fields),
            "by_laid": strategy.by_laid,
            "shapes": {
                "lay_away": list(strategy.lay_away.shape),
                "play": list(strategy.play.shape),
            },
            "about": dict(self.about),
            "made_by": self.made_by,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Send what the file holds, a tenth of the tables or less."""
        return Solved.of_file, (self.header(), self.deflated)

    def __deepcopy__(self, memo: object) -> Solved:
        return self  # which never changes

    @classmethod
    def load(cls, path: str | Path) -> Solved:
        """Read a file of `to_bytes`.

        Raises:
            ValueError: it does not fit this version; the message says what was expected and what
                was found.
        """
        about, tensors = read_header(path)
        try:
            return cls.of_file(about, tensors)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            why = f"its header lacks {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"{path}: {why}") from None

    @classmethod
    def of_file(cls, about: dict[str, Any], tensors: Mapping[str, npt.NDArray[Any]]) -> Solved:
        """Return what a file's header and tables say.

        Raises:
            ValueError, KeyError, TypeError, zlib.error: they do not fit.
        """
        check_format(about, FORMAT, FORMAT_VERSION)
        fields = about["rules_fields"]
        dealt, single_count = int(fields["dealt"]), bool(fields["single_count"])
        tables = {}
        for name in ("lay_away", "play"):
            if name not in tensors:
                raise ValueError(f"expected the table {name!r}, found {', '.join(tensors)}")
            shape = tuple(about["shapes"][name])
            data = zlib.decompress(tensors[name].tobytes())
            if len(data) != int(np.prod(shape)):
                raise ValueError(f"expected the table {name!r} to have {shape}, found {len(data)} "
                                 f"numbers")  # fmt: skip
            tables[name] = np.frombuffer(data, dtype=np.uint8).reshape(shape)
        strategy = Strategy(
            dealt, single_count, tables["lay_away"], tables["play"], bool(about["by_laid"])
        )  # fmt: skip
        size = strategy.tree.size * strategy.laid_pairs
        classes = len(strategy.classes.codes), len(strategy.classes.splits)
        expected: dict[str, list[tuple[int, ...]]] = {
            "lay_away": [(2, *classes)], "play": [(1, size), (RANKS, size)],
        }  # fmt: skip
        for name, shapes in expected.items():
            if tables[name].shape not in shapes:
                raise ValueError(f"expected the table {name!r} to have the shape {shapes[-1]}, "
                                 f"found {tables[name].shape}")  # fmt: skip
        return cls(str(about["rules"]), fields, strategy, about.get("about", {}),
                   str(about.get("made_by", "")))  # fmt: skip
