"""The notebooks of the docs run from top to bottom; `make docs` runs them too, CI does not."""

import json
from pathlib import Path
from typing import Any

import pytest

from checkout import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    names: dict[str, Any] = {"__name__": notebook.stem, "Image": Path}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            # IPython comes with the docs alone.
            source = "".join(cell["source"]).replace("from IPython.display import Image", "")
            exec(compile(source, notebook.name, "exec"), names)
    assert names["envs"].num_envs in (16, 1024)
