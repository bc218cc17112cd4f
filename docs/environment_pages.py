"""The environments' pages: the module's docstring, with one table of arguments made from the code.

A page opens with its game moving. Then come usage, arguments, observation slice by slice, actions,
rewards, versions, and last the clauses of the rules.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

from crib_env import ENVIRONMENTS
from crib_env.engine.family import REWARDS, SUITS
from crib_env.envs.checks import ON_ILLEGAL
from crib_env.envs.makers import EnvSpec
from crib_env.registration import env_module
from crib_env.rules import PRESETS

PICTURES = Path(__file__).parent / "pictures"
CODE = re.compile(r"(?:^    .*\n(?:\n(?=    ))?)+", re.MULTILINE)  # indented, as docstrings have it
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
CLAUSES = {
    "six_card_v0": "[Hoyle, clauses C1-C5 and H1-H12](../rules/hoyle.md)",
    "five_card_v0": "[five cards, clauses F1-F7](../rules/five_card.md), and "
    "[C1-C5, which all games share](../rules/hoyle.md)",
    "three_hand_v0": "[three and four, clauses M1-M12](../rules/many_hand.md), and "
    "[C1-C5, which all games share](../rules/hoyle.md)",
    "four_hand_v0": "[three and four, clauses M1-M12](../rules/many_hand.md), and "
    "[C1-C5, which all games share](../rules/hoyle.md)",
    "table_top_v0": "[Table Top, clauses T1-T13](../rules/table_top.md), and "
    "[C1-C5, which all games share](../rules/hoyle.md)",
    "discard_v0": "[H1](../rules/hoyle.md) and [F2](../rules/five_card.md)",
    "pegging_v0": "[H3-H7](../rules/hoyle.md), and [F4 and F5](../rules/five_card.md)",
}
PHASES = {"pegging_policy": "pegs", "discard_policy": "discards"}
AEC, ARRAYS = "PettingZoo", "Gymnasium, vector, SB3"
LEARNER, BATCH = "Gymnasium, vector, tensors, SB3", "vector, tensors, SB3"


def coded(values: Any) -> str:
    """Return values as a cell of a table has them."""
    return ", ".join(f"`{value!r}`".replace("'", '"') for value in values)


def arguments(maker: EnvSpec) -> list[tuple[str, str, str, str, str]]:
    """Return an environment's arguments: name, values, default, meaning, forms that take it."""
    family = maker.family
    seating = PRESETS[maker.rules].seating or family.sides
    presets = [name for name, rules in PRESETS.items() if rules.family == family.name]
    rewards = [one for one in REWARDS if one in ("win", "points") or one in family.expected]
    episodes = list(maker.episodes)
    rows = [
        ("opponent", 'a name, an agent, a function of a view, or several: `[("greedy", 1), '
         '("expert", 3)]`', '`"random"`', "who plays the other seats; of several, each episode "
         "draws one. `set_opponent` replaces it", LEARNER),
        ("reward", coded(rewards), '`"win"`', "see [Rewards](#rewards)", "all"),
        ("features", f"`False`, `True`, {coded(family.features)}", "`None`: none",
         "numbers for each action that follow from the rules: [features](../features.md)", LEARNER),
        ("rules", f"{coded(presets)}, with changes `\"{maker.rules}[target=91]\"`, or a `Rules`",
         coded([maker.rules]), "see [Rules](#rules)", "all"),
        ("seat", f"`0` to `{max(seating) - 1}`, `None`", "`None`",
         "the learner's seat; `None` draws it for each episode", LEARNER),
        ("episode", coded(episodes), coded(episodes[:1]), "what one episode is", "all"),
    ]  # fmt: skip
    if family.canonical is not None:
        rows.append(("suits", coded(SUITS), '`"real"`', '`"canonical"`: situations that differ '
                     'only by suits look the same; `"ranks"`: nor are own discards observed in the '
                     "pegging", "all"))  # fmt: skip
    if len(seating) > 1:
        rows.append(("players", coded(seating), coded(list(seating)[:1]),
                     "seats; four play in two partnerships", "all"))  # fmt: skip
    if any(max(sides) + 1 < len(sides) for sides in seating.values()):
        rows += [
            ("partner", "as `opponent`", "`None`: as the opponent",
             "who plays the learner's partner", LEARNER),
        ]  # fmt: skip
    if getattr(PRESETS[maker.rules], "partners", False):
        rows.append(("partners", "`True`, `False`", "`None`: as the rules, `True`",
                     "two partnerships, or each seat a side by itself", "all"))  # fmt: skip
    if maker.phase is not None:
        meaning = f"who {PHASES[maker.phase.name]}, for both seats"
        rows.append((maker.phase.name, "a name, an agent, a function of a view",
                     coded([maker.phase.default]), meaning, "all"))  # fmt: skip
    return [
        *rows,
        ("mask_in_observation", '`False`, `True`, `"rllib"`, `"tianshou"`, `"torchrl"`',
         f"{AEC}: `True`; the others: `False`", "observe a dictionary that also holds the mask, "
         "under the library's keys; `False`: the mask is in `info[\"action_mask\"]`",
         f"{AEC}, {ARRAYS}"),
        ("on_illegal", coded(ON_ILLEGAL), '`"terminate"`; `raw_env`: `"raise"`',
         "an illegal action ends the episode at reward -1, raises `IllegalActionError`, or is "
         "replaced by a random legal one, which `info[\"illegal_action\"]` reports", "all"),
        ("render_mode", '`None`, `"ansi"`, `"svg"`, `"rgb_array"`, `"human"`', "`None`",
         "see [watching](../watch.md)", f"{AEC}, Gymnasium"),
        ("viewer", 'a seat, `"all"`, `None`', "`None`",
         "whose knowledge is shown; `None`: the seat that acts", f"{AEC}, Gymnasium"),
        ("num_envs", "a number", "1", "how many games", BATCH),
        ("threads", "a number, `None`", "`None`: by the games and cores",
         "how many threads step them", BATCH),
        ("device", '`"cpu"`', '`"cpu"`', "where the tensors lie: the games are played there",
         "tensors"),
        ("autoreset_mode", "Gymnasium's `AutoresetMode`", "`SAME_STEP`",
         "whether a finished game resets in the same step or the next", "vector"),
        ("copy", "`True`, `False`", "`True`",
         "`False` returns the batch's own arrays, which the next step overwrites", "vector"),
    ]  # fmt: skip


def page(name: str) -> str:
    """Return the text of an environment's page, in Markdown."""
    module = env_module(name)
    maker: EnvSpec = module.maker
    text = (module.__doc__ or "").replace("``", "`")
    text = CODE.sub(lambda block: f"```python\n{dedent(block[0])}```\n", text)
    summary, *parts = SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    rows = [
        "| argument | values | default | meaning | taken by |\n|---|---|---|---|---|",
        *(f"| `{row[0]}` | {' | '.join(row[1:])} |" for row in arguments(maker)),
    ]
    slices = ["| slice | entries | meaning |\n|---|---|---|"]
    slices += [f"| `{part}` | {size} | {meaning} |" for part, size, meaning in maker.family.layout]
    forms = ["env", "raw_env", "gym_env", "vector_env", "torch_env", "sb3_env"]
    made = ", ".join(f"{{py:obj}}`{form} <crib_env.{name}.{form}>`" for form in forms)
    keywords = re.sub(r"^\|.*\n", "", sections["Keywords"], flags=re.MULTILINE).strip()
    sections["Arguments"] = "\n".join(["", *rows]) + f"\n\nThe forms: {made}.\n\n{keywords}\n"
    sections["Observation"] += "\n\n### Slice by slice\n\n" + "\n".join(slices) + "\n"
    sections["Rules"] = f"Clause by clause, each with its source: {CLAUSES[name]}.\n"
    order = ["Usage", "Arguments", "Observation", "Actions", "Rewards", "Version history", "Rules"]
    body = "\n".join(f"## {title}\n{sections[title]}" for title in order)
    picture = f"```{{image}} ../pictures/{name}.webp\n:alt: An episode of {name}\n:class: game\n```"
    if not (PICTURES / f"{name}.webp").exists():  # `docs.make_animations` makes them
        picture = ""
    first, _, rest = summary.strip().partition("\n\n")
    return f"# {name}\n\n{first}\n\n{picture}\n\n{rest}\n\n{body}\n"


def write_pages(folder: Path) -> None:
    """Write the page of every environment that changed."""
    folder.mkdir(exist_ok=True)
    for name in ENVIRONMENTS:
        path, text = folder / f"{name}.md", page(name)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
