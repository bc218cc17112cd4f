"""Make docs/observations.md from the layouts of the environments' observations.

python -m docs.make_observations
"""

from __future__ import annotations

from pathlib import Path

from crib_env import ENVIRONMENTS, observation_layout
from crib_env.registration import env_module

PAGE = Path(__file__).with_name("observations.md")
HEAD = """# Observations

This page lists what every entry of an observation means. `observation_layout` names the slices;
printed, it is the table below.

```python
>>> import crib_env
>>> layout = crib_env.observation_layout("six_card_v0")
>>> layout["starter"], layout.meanings["starter"]
(slice(104, 156, None), 'the starter once it is turned, by card id')

```

`crib_env.encode(views)` computes the same observations and masks from [views](views.md): an agent's
views, or those of your own positions. So a network can play anywhere, not only in an environment:

```python
>>> from crib_env import Game, encode
>>> game = Game("hoyle", seed=7)
>>> observations, masks = encode(game.view(game.seat))
>>> observations.shape, masks.sum()
((1, 425), np.int64(6))
>>> encode(game.view(game.seat), features=True)[0].shape
(1, 789)

```

The entries are 0 or 1. If you turn on [features](features.md), they follow: one block each, with
one number per action, and 0 for an illegal action.

`python -m docs.make_observations` makes this page.
"""


def page() -> str:
    """Return the page."""
    families: dict[str, list[str]] = {}
    for name in ENVIRONMENTS:
        families.setdefault(env_module(name).maker.family.name, []).append(name)
    parts = [HEAD]
    for names in families.values():
        title = ", ".join(f"`{name}`" for name in names)
        features = bool(env_module(names[0]).maker.family.features)
        parts.append(f"## {title}\n\n{observation_layout(names[0], features=features)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
