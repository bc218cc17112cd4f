"""Sphinx configuration; environment pages are made from the modules' docstrings."""

from importlib import import_module
from pathlib import Path

from crib_env import ENVIRONMENTS, __version__

project = "crib-env"
author = "the crib-env contributors"
release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
exclude_patterns = ["_build"]
nb_execution_mode = "force"  # the notebooks are run whenever the pages are made
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # the clauses of a source are third-level headings
autodoc_typehints = "description"
autodoc_member_order = "bysource"

# One page an environment: its module's docstring, then its observation slice by slice.
_pages = Path(__file__).parent / "environments"
_pages.mkdir(exist_ok=True)
for _name in ENVIRONMENTS:
    _module = import_module(f"crib_env.{_name}")
    _summary, _, _rest = (_module.__doc__ or "").partition("\n\n")
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
