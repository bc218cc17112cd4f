"""The environments' pages: the module's docstring, with the table of arguments made from the code.

A page opens with its game moving. Then come usage, arguments, observation slice by slice, actions,
rewards, versions, and last the clauses of the rules.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

from crib_env import ENVIRONMENTS
from crib_env.envs.config import arguments
from crib_env.envs.makers import EnvSpec
from crib_env.registration import env_module

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
