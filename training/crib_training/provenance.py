"""What results depend on: versions, code, and the files of agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import crib_agents
from crib_agents.loading import IN_PROCESS, agent_file, of_two

import crib_env

PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo")
# The modules of this package that affect the results of games.
PLAYING = (
    "evaluation/aivat.py",
    "evaluation/chunks.py",
    "evaluation/duplicate.py",
    "evaluation/referee.py",
    "loading.py",
)


def versions() -> dict[str, str]:
    """Return the versions of the packages that a result depends on."""
    return {"crib-env": crib_env.__version__} | {package: version(package) for package in PACKAGES}


def file_digests(agents: tuple[str, ...]) -> dict[str, str]:
    """Return a digest of each agent's weights file, or of the module of its class."""
    files = {}
    for name in agents:
        given = name.removeprefix(IN_PROCESS)
        paths = [agent_file(part.removeprefix(IN_PROCESS)) for part in of_two(given) or [given]]
        contents = [path.read_bytes() for path in paths if path is not None]
        if contents:
            files[name] = sha256(b"".join(contents)).hexdigest()[:16]
    return files


@cache
def code_digest(*own: Path) -> str:
    """Return a hash of the code that determines results, `sources`, and of the files ``own``."""
    digest = sha256()
    for path in [*sources(), *own]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def sources() -> list[Path]:
    """Return the files of crib_env and crib_agents, and the modules `PLAYING`."""
    folders = Path(crib_env.__file__).parent, Path(crib_agents.__file__).parent
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    files += [Path(__file__).parent / name for name in PLAYING]
    return [path for path in files if "__pycache__" not in path.parts]


def differences(old: Mapping[str, Any], new: Mapping[str, Any], but: Collection[str] = ()) -> str:
    """Return in words how two settings or identities differ, except in the keys ``but``."""
    reasons = {
        "code": "the code of crib_env, of our agents or of what plays has changed since",
        "files": "a weights file, or the module of an agent, has changed since",
    }
    return "; ".join(
        reasons.get(name, f"{name} was {old.get(name)}, not {new.get(name)}")
        for name in {**old, **new}
        if old.get(name) != new.get(name) and name not in but
    )
