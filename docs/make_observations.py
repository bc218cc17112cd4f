"""Make docs/observations.md from the layouts of the environments' observations.

python -m docs.make_observations
"""

from __future__ import annotations

from pathlib import Path

from crib_env import ENVIRONMENTS, observation_layout
from crib_env.registration import env_module
from docs.pages import render

PAGE = Path(__file__).with_name("observations.md")


def page() -> str:
    """Return the page."""
    families: dict[str, list[str]] = {}
    for name in ENVIRONMENTS:
        families.setdefault(env_module(name).maker.family.name, []).append(name)
    layouts = []
    for names in families.values():
        features = bool(env_module(names[0]).maker.family.features)
        layouts.append((names, observation_layout(names[0], features=features)))
    return render("observations", families=layouts)


if __name__ == "__main__":
    PAGE.write_text(page())
