"""Sphinx configuration; pages of environments and commands are made from the code."""

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from importlib.metadata import metadata
from pathlib import Path
from textwrap import fill
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

sys.path.insert(0, str(Path(__file__).parents[1]))

from crib_training import COMMANDS
from crib_training.command_line import main

from crib_env import __version__
from docs.pages import render, write_changed, write_pages

# [project.urls] in pyproject.toml, once there are any.
ADDRESSES = dict(one.split(", ", 1) for one in metadata("crib-env").get_all("Project-URL") or ())

project = "crib-env"
author = "the crib-env contributors"
copyright = author
release = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxext.opengraph",
]
default_role = "py:obj"  # single backticks of docstrings link
templates_path = ["_templates"]
autosummary_generate = True
napoleon_use_ivar = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go"  # a session is copied without its prompts
ogp_site_url = ADDRESSES.get("Documentation", "")  # else links stay relative
ogp_social_cards = {"enable": bool(ogp_site_url)}  # a card's picture needs a whole address
ogp_description_length = 180
html_theme = "furo"
html_title = f"crib-env {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
exclude_patterns = ["_build", "_templates", "templates"]
nb_execution_mode = "force"  # the notebooks are run whenever the pages are made
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.header"]  # the clauses of a source are third-level headings
autodoc_member_order = "bysource"

FIGURE = re.compile(r"((?<=\d) |^ ?)± \S+( %)?|(?<=\d) (%|(to|of) (?=[+-]?\d))|≈ (?=\d)")
BREAK = re.compile(r"(?<=[/_=])(?=\w)|(?<=\.)(?=\w{5})")  # in code of a table; no `.py` alone
SHORT_NAME = 14  # letters of code that stay on one line even on a phone
SHORT = 30  # letters of code that stay on one line


def parents(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield all nodes that a node is in."""
    while node.parent is not None:
        node = node.parent
        yield node


def keep_figures_whole(_: Sphinx, page: nodes.document, __: str) -> None:
    """Let no line break within ``52.1 ± 0.9 %``, ``+46 to +66``, short code or a word of code."""
    for code in list(page.findall(nodes.literal)):
        if len(code.astext()) <= SHORT:
            code["classes"].append("whole")
        in_table = any(isinstance(parent, nodes.entry) for parent in parents(code))
        if in_table and len(code.astext()) > SHORT_NAME:
            parts = BREAK.split(code.astext())  # a long name breaks between its words alone
            code.children = [nodes.Text(parts[0])]
            for part in parts[1:]:
                code += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
    for text in list(page.findall(nodes.Text)):
        in_code = isinstance(text.parent, (nodes.literal, nodes.literal_block))
        if not in_code and FIGURE.search(text):
            whole = FIGURE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
            text.parent.replace(text, nodes.Text(whole))


def find_by_last_name(
    app: Sphinx, env: BuildEnvironment, node: Any, shown: nodes.TextElement
) -> nodes.reference | None:
    """Link what docstrings call by its last name, such as `Rules`, where only one has it."""
    if node.get("refdomain") != "py":
        return None
    python: Any = env.domains["py"]
    name = node["reftarget"]
    found = {
        (one.docname, one.node_id) for full, one in python.objects.items() if full == name or full.endswith(f".{name}")
    }
    if len(found) != 1:
        return None
    docname, place = found.pop()
    reference = nodes.reference("", "", shown, internal=True)
    address = app.builder.get_relative_uri(node.get("refdoc", env.docname), docname)
    reference["refuri"] = f"{address}#{place}"
    return reference


def write_llms(app: Sphinx, failed: Exception | None) -> None:
    """Write `llms.txt`: every page by its title, as the Markdown it is written in."""
    if failed or app.builder.format != "html":
        return
    lines = [f"# {project}", "", f"> {metadata('crib-env')['Summary']}", ""]
    for docname in sorted(app.env.titles):
        source = Path(app.env.doc2path(docname))
        if docname.startswith("api/") or source.suffix != ".md":
            continue
        title = app.env.titles[docname].astext()
        lines.append(f"- [{title}](_sources/{docname}{source.suffix}.txt)")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n")


def write_commands(page: Path) -> None:
    """Write the page of `crib`: the help of every command."""
    os.environ["COLUMNS"] = "100"  # of the help's boxes
    helps = []
    for words in ([], *([name] for name in COMMANDS)):
        help_text = io.StringIO()
        with redirect_stdout(help_text), suppress(SystemExit):
            main([*words, "--help"])
        lines = help_text.getvalue().strip().splitlines()
        helps.append((" ".join(["crib", *words]), [fill(line, 100) for line in lines]))
    write_changed(page, render("commands", helps=helps))


def setup(app: Sphinx) -> None:
    """Connect the transformations of this file to Sphinx."""
    app.connect("doctree-resolved", keep_figures_whole)
    app.connect("missing-reference", find_by_last_name)
    app.connect("build-finished", write_llms)


write_pages(Path(__file__).parent / "environments")
write_commands(Path(__file__).parent / "commands.md")

if "Repository" in ADDRESSES:
    html_theme_options = {  # edit links
        "source_repository": ADDRESSES["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
    }
