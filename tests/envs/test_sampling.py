"""`crib_env.sample_legal`: legal, uniform, repeatable, with clear errors."""

import timeit

import numpy as np
import pytest
from gymnasium import spaces

import crib_env


def test_sample_legal_draws_uniformly() -> None:
    rng = np.random.default_rng(1)
    mask = np.zeros((30_000, 52), dtype=np.int8)
    legal = [0, 7, 18, 50, 51]
    mask[:, legal] = 1
    drawn, counts = np.unique(crib_env.sample_legal(mask, rng), return_counts=True)
    assert drawn.tolist() == legal
    assert abs(counts / 6000 - 1).max() < 0.05


def test_sample_legal_repeats_from_a_seed_and_takes_bool_masks() -> None:
    masks = np.random.default_rng(2).random((100, 26)) < 0.5
    masks[:, 3] = True
    first = crib_env.sample_legal(masks, np.random.default_rng(3))
    again = crib_env.sample_legal(masks.astype(np.int8), np.random.default_rng(3))
    assert (first == again).all()
    assert masks[np.arange(100), first].all()


def test_sample_legal_takes_read_only_masks() -> None:
    """As `numpy.asarray` of a JAX array is."""
    masks = np.broadcast_to(np.arange(52) == 7, (3, 52)).copy()
    masks.setflags(write=False)
    assert crib_env.sample_legal(masks, np.random.default_rng(0)).tolist() == [7, 7, 7]


def test_sample_legal_names_the_empty_mask() -> None:
    masks = np.ones((3, 52), dtype=np.int8)
    masks[1] = 0
    with pytest.raises(ValueError, match=r"masks\[1\] allows no action"):
        crib_env.sample_legal(masks, np.random.default_rng(0))


@pytest.mark.parametrize("masks", [np.ones((1, 2, 52), np.int8), np.ones((2, 52)), [[1, 0]], 1])
def test_sample_legal_rejects_other_shapes_and_dtypes(masks: object) -> None:
    with pytest.raises(ValueError, match="masks must be int8 or bool"):
        crib_env.sample_legal(masks, np.random.default_rng(0))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.int8, np.bool_])
def test_sample_legal_single_mask_gives_uniform_int(dtype: type) -> None:
    mask, rng = np.zeros(52, dtype=dtype), np.random.default_rng(4)
    legal = [0, 7, 51]
    mask[legal] = 1
    drawn = [crib_env.sample_legal(mask, rng) for _ in range(6000)]
    assert {type(action) for action in drawn} == {int}
    assert sorted(set(drawn)) == legal
    assert abs(np.bincount(drawn)[legal] / 2000 - 1).max() < 0.1
    assert crib_env.sample_legal(mask, np.random.default_rng(5)) == crib_env.sample_legal(
        mask, np.random.default_rng(5)
    )


def test_sample_legal_rejects_empty_single_mask_and_seed_for_generator() -> None:
    with pytest.raises(ValueError, match="the mask allows no action: that episode has ended"):
        crib_env.sample_legal(np.zeros(52, dtype=np.int8), np.random.default_rng(0))
    for given in (3, None, np.random.RandomState(1)):
        with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator.*default_rng"):
            crib_env.sample_legal(np.ones(52, dtype=np.int8), given)  # type: ignore[arg-type]


def test_sample_legal_takes_less_than_a_third_of_gymnasiums_time() -> None:
    """The pages draw so: a loop is to spend its time on the game."""
    mask, rng = np.ones(52, dtype=np.int8), np.random.default_rng(6)
    space = spaces.Discrete(52, seed=6)
    ours, theirs = (
        min(timeit.repeat(draw, number=300, repeat=7))
        for draw in (lambda: crib_env.sample_legal(mask, rng), lambda: space.sample(mask))
    )
    assert ours * 3 < theirs
