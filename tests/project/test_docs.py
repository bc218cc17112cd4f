"""Every ``>>>`` session in README and docs runs, page by page; API pages cover all public names."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.command_line import main
from crib_training.provenance import versions
from crib_training.reading import app_of_commands, read_settings

import crib_env
from checkout import ROOT
from crib_env import Game, agent_names, find_agent
from crib_env.registration import env_module
from crib_env.rules import PRESETS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MODULES = ["crib_env.game", "crib_env.scoring", "crib_env.text"]


LONG = {"docs/exercises.md": "\n## 5. PPO\n"}  # where a page begins to train a network


def run_sessions(page: Path, text: str) -> None:
    text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)  # line numbers stay
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_sessions_print_their_output(page: Path) -> None:
    text = page.read_text()
    if long := LONG.get(str(page.relative_to(ROOT))):
        text = text[: text.index(long)]
    run_sessions(page, text)


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG)
def test_page_long_sessions_print_their_output(page: str) -> None:
    run_sessions(ROOT / page, (ROOT / page).read_text())


def test_quickstart_code_prints_its_output(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/quickstart.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == page.count("```python") == 2
    left: dict[str, Any] = {}
    for code, printed in blocks:
        exec(code, left)
        assert capsys.readouterr().out == printed


def test_home_page_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/index.md").read_text(), re.M | re.S)
    left: dict[str, Any] = {}
    exec(code, left)
    scores, reward = left["info"]["scores"], left["reward"]
    assert max(scores) == 121 > min(scores)
    assert reward == (1 if scores[left["info"]["seat"]] == 121 else -1)
    assert capsys.readouterr().out == f"{scores} {reward}\n"


@pytest.mark.slow  # `make docs` runs them too, CI does not
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebooks_run(notebook: Path) -> None:
    names: dict[str, Any] = {"__name__": notebook.stem, "Image": Path}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            # IPython comes with the docs alone.
            source = "".join(cell["source"]).replace("from IPython.display import Image", "")
            exec(compile(source, notebook.name, "exec"), names)
    assert names["envs"].num_envs in (16, 1024)


def commands() -> list[str]:
    """Return the `crib` commands of all pages, in blocks of shell and between single quotes."""
    shown = re.compile(r"^(?:\.venv/bin/)?(crib [a-z].*)$|`(crib [a-z]+ [^`]*)`", re.MULTILINE)
    found = {"".join(match) for page in PAGES for match in shown.findall(page.read_text())}
    return sorted(" ".join(command.partition("#")[0].split()) for command in found)


@pytest.mark.parametrize("command", commands())
def test_page_commands_are_valid(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, *words = shlex.split(command)
    if "--resume" in words:  # the run that the command resumes
        monkeypatch.chdir(tmp_path)
        Path(words[words.index("--resume") + 1]).mkdir(parents=True)
    read_settings(app_of_commands(), words)


def test_pages_name_existing_tests() -> None:
    files = [*(ROOT / "tests").rglob("*.py")]
    known = {name for path in files for name in re.findall(r"def (test_\w+)", path.read_text())}
    known |= {path.stem for path in files}
    for page in (*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "seeds").glob("*.md")):
        text = page.read_text()
        assert set(re.findall(r"`(test_\w+)`", text)) <= known, page.name
        for chosen in re.findall(r'ARGS="[^"]*-k (\'[^"\']*\'|\w+)', text):
            words = set(re.findall(r"\w+", chosen)) - {"and", "or", "not", "NAME", "h13"}  # h13: a new clause's
            assert not [word for word in words if not any(word in name for name in known)], page.name


@pytest.mark.parametrize("name", MODULES)
def test_docstring_sessions_print_their_output(name: str) -> None:
    found = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert not found.failed


@pytest.mark.parametrize("name", crib_env.ENVIRONMENTS)
def test_environment_page_usage_runs(name: str) -> None:
    page = import_module(f"crib_env.{name}").__doc__ or ""
    usage = re.search(r"## Usage\n\n((?:    .*\n|\n)+)", page)
    assert usage, f"{name} has no usage section"
    assert "sample_legal(" in usage.group(1)  # Gymnasium's sampler takes ten times as long
    assert "action_space" not in usage.group(1)
    exec("\n".join(line[4:] for line in usage.group(1).splitlines()), {})
    for heading in ("Keywords", "Observation", "Actions", "Rewards", "Version history"):
        assert f"\n## {heading}\n" in page


VIEWS = (ROOT / "docs" / "observations.md").read_text().partition("\n## Views\n")[2]
ROW = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.MULTILINE)


def fields_on_the_page(name: str) -> dict[str, tuple[str, str]]:
    """Return shape and range of the fields in the section of an environment, by their names."""
    (section,) = (part for part in VIEWS.split("\n### ") if f"`{name}`" in part)
    at = 2 if env_module(name).maker.family.name == "many_hand" else 0  # its columns
    rows = {field: [cell.strip() for cell in cells.split("|")] for field, cells in ROW.findall(section)}
    return {field: (row[at], row[at + 1]) for field, row in rows.items() if row[at] != "–"}


@pytest.mark.parametrize("name", crib_env.ENVIRONMENTS)
def test_views_page_lists_every_field(name: str) -> None:
    dtype = env_module(name).maker.family.view
    shapes = {field: "".join(map(str, dtype[field].shape)) for field in dtype.names}
    assert {field: shape for field, (shape, _) in fields_on_the_page(name).items()} == shapes


ENVS_OF = {env_module(name).maker.family.name: name for name in crib_env.ENVIRONMENTS}


@pytest.mark.parametrize("rules", [rules for rules in PRESETS if PRESETS[rules].family in ENVS_OF])
def test_views_page_ranges_hold_in_play(rules: str) -> None:
    ranges = {}
    for field, (_, values) in fields_on_the_page(ENVS_OF[PRESETS[rules].family]).items():
        if found := re.fullmatch(r"(-?\d+) to (\d+)(?:\^(\d+) - 1)?", values):
            low, high, power = found.groups()
            ranges[field] = int(low), 2 ** int(power) - 1 if power else int(high)
    assert len(ranges) > 20
    game, rng = Game(rules, seed=3), np.random.default_rng(3)
    while not game.over:
        game.push(int(rng.choice(game.legal_actions)))
        for seat in range(game.players):
            view = game.view(seat)
            for field, (low, high) in ranges.items():
                assert (view[field] >= low).all(), field
                assert (view[field] <= high).all(), field


VERSIONED = {
    "CITATION.cff": r"^version: (.*)$",
    "README.md": r"\(version (.*)\)\. The code",
    "docs/versions.md": r"^  version = \{(.*)\},$|\{crib-env (.*), docs/benchmark\.md\}",
    "CHANGELOG.md": r"\A(?s:.*?)^## \[(.*)\] - ",  # its newest section
}


def test_version_is_equal_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """An editable install keeps the version of the day it was installed."""
    for file, line in VERSIONED.items():
        found = re.findall(line, (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert {one for each in found for one in ([each] if isinstance(each, str) else each)} - {""} == {
            crib_env.__version__
        }, file
    main(["--version"])
    assert capsys.readouterr().out == f"crib-env {crib_env.__version__}\n"
    assert versions()["crib-env"] == crib_env.__version__


# --- the site -------------------------------------------------------------------------------------


def test_pages_menus_and_readme_stay_short() -> None:
    home = (ROOT / "docs/index.md").read_text("utf-8")
    menus = re.findall(r"^```\{toctree\}\n:caption: (\w+)\n:hidden:\n(.*?)^```", home, re.M | re.S)
    assert [caption for caption, _ in menus].count("Start") == 1
    assert sum(len(entries.split()) for _, entries in menus) <= 25
    made = {"_build", "api", "environments", "commands.md"}  # with the site
    lines = {page: page.read_text("utf-8").count("\n") for page in PAGES if not made & {*page.parts}}
    assert len(lines) <= 32
    assert sum(n for page, n in lines.items() if page.parent == ROOT / "docs") <= 4500
    assert lines[ROOT / "README.md"] < 120


API = (ROOT / "docs" / "api.md").read_text()
LISTED = re.findall(r"^   (\w+(?:\.\w+)+)$", API, re.MULTILINE)
PUBLIC = ("crib_env", "crib_env.scoring", "crib_agents", "crib_agents.analyze", "crib_play.replay")


def found(path: str) -> object:
    """Return the object at a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def test_api_pages_cover_every_public_name_and_agent() -> None:
    listed = {path.rpartition(".")[2]: found(path) for path in LISTED}
    assert len(LISTED) == len(set(LISTED)) > 70
    for package in PUBLIC:
        module = import_module(package)
        for name in module.__all__:
            assert listed.get(name) is getattr(module, name), f"docs/api.md lacks {package}.{name}"
    assert all(type(find_agent(name)) in listed.values() for name in agent_names())
    assert [path for path in LISTED if not found(path).__doc__] == []
