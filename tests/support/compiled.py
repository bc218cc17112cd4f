"""Whether kernels are compiled: uncompiled the tests run the same checks on less."""

import os

import pytest

SLOW = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
compiled_alone = pytest.mark.skipif(SLOW, reason="takes compiled code")
