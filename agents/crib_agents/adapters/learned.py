"""A learned agent: the observation and a small network, read from a safetensors file.

The network is the policy half of an MLP: ReLU layers and a last linear layer of one logit an
action. It runs in NumPy, so playing against a trained agent needs no training library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import Family, find_family
from crib_env.policy import Actions, Views

FORMAT = "crib_env policy"
FORMAT_VERSION = 1

Layers = list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]


def header(environment: str, rules: str, family: Family) -> dict[str, Any]:
    """Return what a weights file says of itself."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "environment": environment,
        "rules": rules,
        "family": family.name,
        "observation_layout": [[name, size] for name, size, _ in family.layout],
        "actions": family.actions,
    }


class LearnedAgent:
    """Plays the most likely legal action of a trained policy, or draws from it.

    Args:
        layers: weight [out, in] and bias [out] of every layer, the last with one row an action.
        about: the header of the weights file; see `header`.
        name: what tables call it.
        sample: draw from the policy instead of taking its most likely action.
    """

    def __init__(
        self, layers: Layers, about: dict[str, Any], name: str = "learned", sample: bool = False
    ) -> None:
        self.layers = layers
        self.about = about
        self.name = name
        self.sample = sample
        self._family = find_family(str(about["family"]))

    @classmethod
    def load(cls, path: str | Path, name: str | None = None, sample: bool = False) -> LearnedAgent:
        """Read an agent from a file written by `save`.

        Raises:
            ValueError: the file is no such file, or was made for another observation; the message
                says which.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                text = (file.metadata() or {}).get("crib_env", "{}")
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(f"{path} is not a safetensors file: {error}") from error
        about = json.loads(text)
        if about.get("format") != FORMAT or about.get("version") != FORMAT_VERSION:
            raise ValueError(
                f"{path} is not a policy of format {FORMAT!r} version {FORMAT_VERSION}: its header "
                f"says {about.get('format')!r} version {about.get('version')!r}"
            )
        family = find_family(about["family"])
        expected = [[part, size] for part, size, _ in family.layout]
        if about["observation_layout"] != expected:
            raise ValueError(
                f"{path} was trained on another observation of {about['environment']}: its layout "
                f"is {about['observation_layout']}, this version's is {expected}"
            )
        count = len(tensors) // 2
        layers = [(tensors[f"{i}.weight"], tensors[f"{i}.bias"]) for i in range(count)]
        if layers[0][0].shape[1] != family.obs_size or layers[-1][0].shape[0] != family.actions:
            raise ValueError(
                f"{path} maps {layers[0][0].shape[1]} inputs to {layers[-1][0].shape[0]} actions, "
                f"where {about['environment']} has {family.obs_size} and {family.actions}"
            )
        return cls(layers, about, name or Path(path).stem, sample)

    def save(self, path: str | Path) -> None:
        """Write the weights with their header, for `load`."""
        from safetensors.numpy import save_file

        tensors = {}
        for i, (weight, bias) in enumerate(self.layers):
            tensors[f"{i}.weight"] = np.ascontiguousarray(weight)
            tensors[f"{i}.bias"] = np.ascontiguousarray(bias)
        save_file(tensors, path, metadata={"crib_env": json.dumps(self.about)})

    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one action for each view, int64[B]."""
        family = self._family
        obs = np.empty((len(views), family.obs_size), dtype=np.uint8)
        masks = np.empty((len(views), family.actions), dtype=np.int8)
        family.batch.encode_views(np.ascontiguousarray(views), obs, masks)
        x = obs.astype(np.float32)
        for weight, bias in self.layers[:-1]:
            x = np.maximum(x @ weight.T + bias, 0.0)
        weight, bias = self.layers[-1]
        logits = x @ weight.T + bias
        if self.sample:  # the Gumbel trick: the largest of logits and noise is a draw
            logits = logits + rng.gumbel(size=logits.shape)
        best: Actions = np.where(masks == 1, logits, -np.inf).argmax(axis=1)
        return best
