"""What each entry of an observation means."""

from __future__ import annotations

from crib_env.registration import env_module


class ObservationLayout(dict[str, slice]):
    """The slices of an observation by name; printed, a table of them and what they mean.

    Attributes:
        meanings: what the entries of each slice say, by its name.
    """

    def __init__(self, parts: tuple[tuple[str, int, str], ...]) -> None:
        super().__init__()
        self.meanings: dict[str, str] = {}
        at = 0
        for name, size, meaning in parts:
            self[name] = slice(at, at + size)
            self.meanings[name] = meaning
            at += size

    def __str__(self) -> str:
        rows = [
            f"| `{name}` | {part.start} to {part.stop - 1} | {self.meanings[name]} |"
            for name, part in self.items()
        ]
        return "\n".join(["| slice | entries | meaning |", "|---|---|---|", *rows])


def observation_layout(name: str, features: bool | str | None = None) -> ObservationLayout:
    """Return the slices of an environment's observation vector by name, with their meanings.

    Args:
        name: the environment's module, such as ``"six_card_v0"``.
        features: as the environment was made with. A feature's slice has one entry an action.

    Raises:
        ValueError: no environment of that name, or no such features.
    """
    family = env_module(name.replace("-", "_").rpartition("/")[2]).maker.family
    return ObservationLayout(family.layout_at(family.level_of(features)))
