"""Sphinx configuration; environment pages are made from the modules' docstrings."""

import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent

from docutils import nodes
from sphinx.application import Sphinx

from crib_env import ENVIRONMENTS, __version__

project = "crib-env"
author = "the crib-env contributors"
release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"crib-env {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
exclude_patterns = ["_build"]
nb_execution_mode = "force"  # the notebooks are run whenever the pages are made
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.header"]  # the clauses of a source are third-level headings
autodoc_typehints = "description"
autodoc_member_order = "bysource"

CODE = re.compile(r"(?:^    .*\n(?:\n(?=    ))?)+", re.MULTILINE)  # indented, as docstrings have it
FIGURE = re.compile(r"(?<=\d) (± \S+( %)?|%|to (?=[+-]\d))")


def keep_figures_whole(_: Sphinx, page: nodes.document, __: str) -> None:
    """Let no line break within ``52.1 ± 0.9 %`` or ``+46 to +66``."""
    for text in list(page.findall(nodes.Text)):
        code = isinstance(text.parent, (nodes.literal, nodes.literal_block))
        if not code and FIGURE.search(text):
            whole = FIGURE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
            text.parent.replace(text, nodes.Text(whole))


def setup(app: Sphinx) -> None:
    """Hand Sphinx what is done here to pages."""
    app.connect("doctree-resolved", keep_figures_whole)


# One page an environment: its module's docstring, then its observation slice by slice.
_pages = Path(__file__).parent / "environments"
_pages.mkdir(exist_ok=True)
for _name in ENVIRONMENTS:
    _module = import_module(f"crib_env.{_name}")
    _summary, _, _rest = (_module.__doc__ or "").partition("\n\n")
    _rest = CODE.sub(lambda block: f"```python\n{dedent(block[0])}```\n", _rest)
    _rows = "\n".join(
        f"| `{part}` | {size} | {meaning} |" for part, size, meaning in _module.maker.family.layout
    )
    _text = (
        f"# {_name}\n\n{_summary}\n\n{_rest}\n\n## Observation slice by slice\n\n"
        f"| slice | entries | meaning |\n|---|---|---|\n{_rows}\n"
    )
    _page = _pages / f"{_name}.md"
    if not _page.exists() or _page.read_text() != _text:
        _page.write_text(_text)
