"""Pages: measuring gives data, the templates of ``docs/templates`` make text of them.

An environment's page is the docstring of its module, with the table of arguments made from the
code: a sentence, the table of spaces and the game moving, then usage, arguments, observation slice
by slice, actions, rewards, versions, and last the clauses of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from crib_agents.files import write_whole
from crib_training.evaluation.duplicate import estimate
from crib_training.outputs import table
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crib_env import ENVIRONMENTS
from crib_env.arrays import Array
from crib_env.envs.config import arguments
from crib_env.envs.makers import EnvMaker
from crib_env.registration import env_module, gym_id
from crib_env.rules import PRESETS

Figure = Mapping[str, float]
"""A mean and half its 95 % interval, as in JSON."""


def mean(values: Array) -> dict[str, Any]:
    """Return the mean of one value an episode, with its interval, ready for JSON."""
    found = estimate(values)
    return {"mean": found.mean, "ci95": found.ci95, "n": len(values)}


def percent(value: Figure, places: int = 2, unit: str = " %") -> str:
    """Return a share as per cent with its 95 % interval."""
    return f"{100 * value['mean']:.{places}f} ± {100 * value['ci95']:.{places}f}{unit}"


def points(value: Figure) -> str:
    """Return a mean of points with its 95 % interval."""
    return f"{value['mean']:.3f} ± {value['ci95']:.3f}"


def number_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table of numbers."""
    return table(head, rows, numbers=True)


def row(cells: Iterable[object]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def hundredths(value: float) -> str:
    """Return a share as whole per cent."""
    return f"{100 * value:.0f}"


def thousands(value: int) -> str:
    """Return a number with commas."""
    return f"{value:,}"


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)
TEMPLATES.filters |= {"percent": percent, "points": points, "thousands": thousands, "hundredths": hundredths}
TEMPLATES.globals |= {"row": row, "table": table, "number_table": number_table}


def write_changed(page: Path, text: str) -> None:
    """Write a page, whole, if it changed, because Sphinx reads every written page again."""
    if not page.exists() or page.read_text("utf-8") != text:
        write_whole(page, text.encode())


def render(name: str, /, **values: Any) -> str:
    """Return the text of a template, such as ``"six_card"``, with these values."""
    return TEMPLATES.get_template(f"{name}.md.j2").render(values)


PICTURES = Path(__file__).parent / "pictures"
CODE = re.compile(r"(?:^    .*\n(?:\n(?=    ))?)+", re.MULTILINE)  # indented, as docstrings have it
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
RULES = "../rules.md"
SHARED = f"[C1-C5, which all games share]({RULES}#common-to-all)"
MANY = f"[M1-M12]({RULES}#three-and-four-handed-cribbage), and {SHARED}"
CLAUSES = {
    "six_card_v0": f"[C1-C5 and H1-H12]({RULES}#six-card-cribbage-and-what-all-games-share)",
    "five_card_v0": f"[F1-F7]({RULES}#five-card-cribbage), and {SHARED}",
    "three_hand_v0": MANY,
    "four_hand_v0": MANY,
    "table_top_v0": f"[T1-T13]({RULES}#table-top-cribbage-and-ships-variation), and {SHARED}",
    "discard_v0": f"[H1]({RULES}#six-card-cribbage) and [F2]({RULES}#five-card-cribbage)",
    "pegging_v0": f"[H3-H7]({RULES}#six-card-cribbage), [F4 and F5]({RULES}#five-card-cribbage)",
}


def page(name: str) -> str:
    """Return the text of an environment's page, in Markdown."""
    module = env_module(name)
    maker: EnvMaker = module.maker
    text = (module.__doc__ or "").replace("``", "`")
    text = CODE.sub(lambda block: f"```python\n{dedent(block[0])}```\n", text)
    summary, *parts = SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    first, _, rest = summary.strip().partition("\n\n")
    family, rules = maker.family, PRESETS[maker.rules]
    featured = sum(one.size for one in family.layout_with(True))
    return render(
        "environment", name=name, maker=maker, gym_id=gym_id(name), family=family, featured=featured,
        seats=sorted(rules.seating), clauses=CLAUSES[name],
        first=first, rest=rest, sections=sections,
        arguments=arguments(maker), layout=family.layout,
        pictured=(PICTURES / f"{name}.webp").exists(),  # `research.make_pictures` makes them
        hyphened=name.replace("_v", "-v"), illegal_rewards=illegal_rewards(maker),
    )  # fmt: skip


def illegal_rewards(maker: EnvMaker) -> str:
    """Return the table of rewards for an illegal action that ends the episode."""
    rules, rewards = PRESETS[maker.rules], ["points", *maker.family.expected]
    rows = [
        [f'`"{name}"`', *(f"{maker.family.illegal_reward(rules, episode, one, None):,.0f}" for one in rewards)]
        for name, episode in maker.episodes.items()
        if rules.why_refused(episode) is None
    ]
    return table(["episode", *(f'`"{one}"`' for one in rewards)], rows)


def write_pages(folder: Path) -> None:
    """Write the page of every environment that changed."""
    folder.mkdir(exist_ok=True)
    for name in ENVIRONMENTS:
        write_changed(folder / f"{name}.md", page(name))
