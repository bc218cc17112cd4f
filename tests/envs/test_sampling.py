"""`crib_env.sample_legal`: legal, even, repeatable, and clear about what it cannot do."""

import numpy as np
import pytest

import crib_env


def test_draws_are_legal_and_each_as_likely() -> None:
    rng = np.random.default_rng(1)
    mask = np.zeros((30_000, 52), dtype=np.int8)
    legal = [0, 7, 18, 50, 51]
    mask[:, legal] = 1
    drawn, counts = np.unique(crib_env.sample_legal(mask, rng), return_counts=True)
    assert drawn.tolist() == legal
    assert abs(counts / 6000 - 1).max() < 0.05


def test_draws_repeat_from_a_seed_and_take_bool_masks_too() -> None:
    masks = np.random.default_rng(2).random((100, 26)) < 0.5
    masks[:, 3] = True
    first = crib_env.sample_legal(masks, np.random.default_rng(3))
    again = crib_env.sample_legal(masks.astype(np.int8), np.random.default_rng(3))
    assert (first == again).all()
    assert masks[np.arange(100), first].all()


def test_a_mask_without_an_action_is_named() -> None:
    masks = np.ones((3, 52), dtype=np.int8)
    masks[1] = 0
    with pytest.raises(ValueError, match=r"masks\[1\] allows no action"):
        crib_env.sample_legal(masks, np.random.default_rng(0))


@pytest.mark.parametrize("masks", [np.ones(52, np.int8), np.ones((2, 52)), [[1, 0]]])
def test_masks_of_another_shape_or_kind_are_refused(masks: object) -> None:
    with pytest.raises(ValueError, match="masks must be int8 or bool"):
        crib_env.sample_legal(masks, np.random.default_rng(0))  # type: ignore[arg-type]


def test_a_single_mask_is_drawn_from_as_the_error_says() -> None:
    mask = np.zeros(52, dtype=np.int8)
    mask[7] = 1
    with pytest.raises(ValueError, match=r"pass masks\[None\] for a single mask"):
        crib_env.sample_legal(mask, np.random.default_rng(0))
    (action,) = crib_env.sample_legal(mask[None], np.random.default_rng(0))
    assert action == 7
