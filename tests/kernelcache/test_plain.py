"""Stock Numba, without this project's compiler and cache, computes the same bits."""

import json

import pytest

from ..conftest import said_by

ROWS = """
import json
from biped import chain, simulate
from kernelcache import kernel
run = simulate(chain(2), duration=0.02)
print(json.dumps([run.frame.to_numpy().tobytes().hex(), type(kernel(lambda x: x)).__module__]))
"""


@pytest.mark.slow  # stock Numba takes a minute for a chain of two links
def test_a_run_is_the_same_with_stock_numba():
    ours, plain = (json.loads(said_by(ROWS, BIPED_PLAIN_NUMBA=setting)) for setting in ("", "1"))
    assert plain[0] == ours[0]
    assert plain[1] != ours[1]
