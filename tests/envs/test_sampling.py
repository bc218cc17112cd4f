"""`crib_env.sample_legal`: legal, uniform, repeatable, with clear errors."""

import timeit
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import crib_env

LEGAL = [0, 7, 18, 50, 51]


@pytest.mark.parametrize("dtype", [np.int8, np.bool_])
@pytest.mark.parametrize("shape", [(52,), (6000, 52)], ids=["one mask", "a batch"])
def test_sample_legal_draws_uniformly(shape: tuple[int, ...], dtype: type) -> None:
    mask, rng = np.zeros(shape, dtype=dtype), np.random.default_rng(1)
    mask[..., LEGAL] = 1
    mask.setflags(write=False)  # as `numpy.asarray` of a JAX array is
    if len(shape) > 1:
        drawn: Any = crib_env.sample_legal(mask, rng)
    else:
        drawn = [crib_env.sample_legal(mask, rng) for _ in range(6000)]
        assert {type(action) for action in drawn} == {int}
    found, counts = np.unique(drawn, return_counts=True)
    assert found.tolist() == LEGAL
    assert abs(counts / 1200 - 1).max() < 0.1


def test_sample_legal_repeats_from_a_seed() -> None:
    masks = np.random.default_rng(2).random((100, 26)) < 0.5
    masks[:, 3] = True
    first = crib_env.sample_legal(masks, np.random.default_rng(3))
    again = crib_env.sample_legal(masks.astype(np.int8), np.random.default_rng(3))
    assert (first == again).all()
    assert masks[np.arange(100), first].all()


@pytest.mark.parametrize(
    ("masks", "says"),
    [
        (np.eye(3, 52, k=-1, dtype=np.int8), r"masks\[0\] allows no action"),
        (np.zeros(52, np.int8), "the mask allows no action: that episode has ended"),
        *((one, "masks must be int8 or bool") for one in (np.ones((1, 2, 52), np.int8), np.ones((2, 52)), [[1, 0]], 1)),
    ],
)
def test_sample_legal_rejects_empty_masks_and_other_arrays(masks: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        crib_env.sample_legal(masks, np.random.default_rng(0))


@pytest.mark.parametrize("given", [3, None, np.random.RandomState(1)])
def test_sample_legal_rejects_a_seed_for_the_generator(given: Any) -> None:
    with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator.*default_rng"):
        crib_env.sample_legal(np.ones(52, dtype=np.int8), given)


def test_sample_legal_takes_less_than_a_third_of_gymnasiums_time() -> None:
    """The documentation samples with it, so that a loop spends its time on the game."""
    mask, rng = np.ones(52, dtype=np.int8), np.random.default_rng(6)
    space = spaces.Discrete(52, seed=6)
    ours, theirs = (
        min(timeit.repeat(draw, number=300, repeat=7))
        for draw in (lambda: crib_env.sample_legal(mask, rng), lambda: space.sample(mask))
    )
    assert ours * 3 < theirs
