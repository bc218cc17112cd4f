"""The order of cards."""

from crib_env.engine.jit import kernel


@kernel
def before(card, other):
    """Return whether ``card`` is used before ``other``."""
    return card < other
