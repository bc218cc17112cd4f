"""The site names everything public, and its pages of environments every argument."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature

import pytest

from checkout import ROOT
from crib_env import ENVIRONMENTS, agent_names, find_agent
from crib_env.registration import env_module
from crib_env.rules import PRESETS
from docs.environment_pages import CLAUSES, page

API = (ROOT / "docs" / "api.md").read_text()
LISTED = re.findall(r"^   (\w+(?:\.\w+)+)$", API, re.MULTILINE)
PUBLIC = ("crib_env", "crib_env.scoring", "crib_agents", "crib_agents.analyze", "crib_play.replay")
FORMS = ("env", "raw_env", "gym_env", "vector_env", "torch_env", "sb3_env")


def found(path: str) -> object:
    """Return what a dotted path names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_has_a_page_of_the_api(package: str) -> None:
    listed = {path.rpartition(".")[2]: found(path) for path in LISTED}
    module = import_module(package)
    for name in set(module.__all__) - {"families"}:  # a module
        assert name in listed, f"docs/api.md lacks {package}.{name}"
        assert listed[name] is getattr(module, name)


def test_every_page_of_the_api_is_of_something_documented() -> None:
    assert len(LISTED) == len(set(LISTED)) > 70
    for path in LISTED:
        assert found(path).__doc__, path


@pytest.mark.parametrize("name", agent_names())
def test_every_built_in_agent_has_a_page_of_the_api(name: str) -> None:
    assert type(find_agent(name)) in [found(path) for path in LISTED]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_table_of_arguments_has_every_argument(name: str) -> None:
    module = env_module(name)
    table = page(name).split("## Arguments\n")[1].split("\n\n")[0]
    shown = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    taken = {one for form in FORMS for one in signature(getattr(module, form)).parameters}
    family, phase = module.maker.family, module.maker.phase
    seating = PRESETS[module.maker.rules].seating or family.sides
    if len(seating) == 1:
        taken -= {"players"}
    if all(len(set(sides)) == len(sides) for sides in seating.values()):
        taken -= {"partner"}
    if not getattr(PRESETS[module.maker.rules], "partners", False):
        taken -= {"partners"}
    if not family.canonical:
        taken -= {"suits"}
    assert shown == taken | ({phase.name} if phase else set())


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_page_opens_with_the_game_and_ends_with_the_rules(name: str) -> None:
    text = page(name)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == ["Usage", "Arguments", "Observation", "Actions", "Rewards",
                        "Version history", "Rules"]  # fmt: skip
    assert text.index(f"pictures/{name}.webp") < text.index("## Usage")
    assert (ROOT / "docs" / "pictures" / f"{name}.webp").stat().st_size < 250_000
    for target in re.findall(r"\((\.\./[\w/.]+)\)", text):
        assert (ROOT / "docs" / "environments" / target).resolve().exists(), target
    assert CLAUSES[name] in text
    code = dict(zip(headings, text.split("\n## ")[1:], strict=True))["Usage"]
    assert re.search(
        rf"^```python\nimport numpy as np\n\nfrom crib_env import .*\b{name}\b", code, re.M
    )
