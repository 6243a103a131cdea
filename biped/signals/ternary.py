"""Pseudorandom ternary sequences (Davies 1970; Peterka 2002)."""

import numpy as np
from numpy.typing import NDArray

#: Coefficients c, lowest stage first, of x_{n} = −Σ c_i x_{n−i} over GF(3), by number of stages (primitive).
_TAPS = {3: (0, 2, 1), 4: (0, 0, 1, 2), 5: (0, 0, 0, 2, 1), 6: (0, 0, 0, 0, 1, 2), 7: (0, 0, 0, 0, 1, 2, 1)}

#: Possible numbers of stages of the shift register of a ternary sequence.
STAGES = tuple(_TAPS)


def ternary_sequence(stages: int) -> NDArray[np.int64]:
    """Return the ternary sequence of maximal length, (3ⁿ − 1,) values −1, 0 and 1, for n stages."""
    register = [1] + [0] * (stages - 1)
    sequence = []
    for _ in range(3**stages - 1):
        new = -sum(tap * x for tap, x in zip(_TAPS[stages], register, strict=True)) % 3
        sequence.append(register[-1])
        register = [new, *register[:-1]]
    return np.array([{0: 0, 1: 1, 2: -1}[x] for x in sequence])
