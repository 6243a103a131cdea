"""How regular a signal is and how far back it remembers: sample entropy, and detrended fluctuation analysis.

Both are of one column of evenly sampled numbers in any unit.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Samples of the shortest window: in shorter ones the line takes so much of the fluctuation that the slope is biased.
SHORTEST_WINDOW = 10
#: Sizes of windows, evenly spaced by their logarithms.
WINDOWS = 20


def sample_entropy(signal: ArrayLike, m: int = 2, r: float = 0.2, increments: bool = False) -> float:
    """Sample entropy (Richman and Moorman 2000): −ln of the share of pairs, alike for m samples, that stay so.

    0 of what repeats itself; −ln erf(r / 2) of white Gaussian noise, 2.185 for r = 0.2. Pairs are alike that differ
    nowhere by more than r standard deviations; none is of a stretch with itself.

    It takes the signal as stationary, and a drift of the sway makes it small: it widens the tolerance, which is by the
    standard deviation. Nothing is done about that unless ``increments`` is set: then it is of the differences of
    successive samples, as Ramdani et al. (2009) take it of the centre of pressure. Values compare only at the same
    m, r, sampling rate, filter and length.

    Args:
        signal: (n,), without gaps.
        m: samples of which pairs are alike.
        r: tolerance, in standard deviations of what is taken (the signal, or its increments).
        increments: whether it is of the differences of successive samples.

    Raises:
        InputError: there are gaps or too few samples, nothing varies, or no pair is alike for m + 1 samples.
    """
    from scipy.spatial import KDTree  # a quarter of a second, which no run needs

    values = _finite(signal)
    values = np.diff(values) if increments else values
    if not (m >= 1 and r > 0.0 and len(values) > m + 1):
        raise InputError(
            f"m = {m!r}, r = {r!r} of {len(values)} samples: m must be 1 or more, r above 0, and samples more"
        )
    spread = values.std()
    if not spread > 1e-9 * np.abs(values).max():
        raise InputError("the signal does not vary: it has no sample entropy")
    windows = np.lib.stride_tricks.sliding_window_view(values, m + 1)
    alike = []
    for length in (m, m + 1):  # of as many templates both times, as Richman and Moorman have it
        tree = KDTree(windows[:, :length])
        alike.append(int(tree.count_neighbors(tree, r * spread, p=math.inf)) - len(windows))
    if not alike[1]:
        raise InputError(
            f"no two stretches of {m + 1} samples are within r = {r:g}: a longer signal or a greater r is needed"
        )
    return math.log(alike[0] / alike[1])


def detrended_fluctuation(signal: ArrayLike, windows: ArrayLike | None = None) -> "pd.DataFrame":
    """Detrended fluctuation analysis (Peng et al. 1994): what is left of the summed signal about a line in each window.

    Args:
        signal: (n,), without gaps.
        windows: samples of the windows, 3 or more; if None, twenty from 10 to a tenth of the signal, as Peng et al.

    Returns:
        A row for each size: ``window`` in samples, ``fluctuation``, the root mean square, in the signal's unit. Samples
        at the end that fill no window are left out.

    Raises:
        InputError: there are gaps, nothing varies, or a window is too short or longer than the signal.
    """
    import pandas as pd

    values = _finite(signal)
    if windows is None:
        longest = len(values) // 10
        if longest < 2 * SHORTEST_WINDOW:
            raise InputError(
                f"{len(values)} samples are too few: {20 * SHORTEST_WINDOW} are needed, or windows of one's own"
            )
        windows = np.unique(np.geomspace(SHORTEST_WINDOW, longest, WINDOWS).round())
    sizes = np.asarray(windows, dtype=np.int64).ravel()
    if not (len(sizes) and sizes.min() >= 3 and sizes.max() <= len(values)):
        raise InputError(f"windows must be of 3 samples or more, and at most of all {len(values)}")
    if not values.std() > 1e-9 * np.abs(values).max():
        raise InputError("the signal does not vary: it does not fluctuate")
    profile = np.cumsum(values - values.mean())
    return pd.DataFrame({"window": sizes, "fluctuation": [_fluctuation(profile, int(size)) for size in sizes]})


def fluctuation_exponent(signal: ArrayLike, windows: ArrayLike | None = None) -> float:
    """α of F(n) ∝ nᵅ by ``detrended_fluctuation``: the slope through the logarithms, by least squares.

    0.5 of white noise, 1 of 1/f noise, 1.5 of a random walk.

    Raises:
        InputError: as ``detrended_fluctuation``, or there is one window only.
    """
    found = detrended_fluctuation(signal, windows)
    if found["window"].nunique() < 2:
        raise InputError("an exponent needs windows of two sizes or more")
    return float(np.polyfit(np.log(found["window"]), np.log(found["fluctuation"]), 1)[0])


def _fluctuation(profile: Floats, size: int) -> float:
    pieces = profile[: len(profile) // size * size].reshape(-1, size)
    pieces = pieces - pieces.mean(axis=1, keepdims=True)
    line = np.arange(size) - (size - 1) / 2.0
    left = pieces - np.outer(pieces @ line / (line @ line), line)
    return math.sqrt((left**2).mean())


def _finite(signal: ArrayLike) -> Floats:
    values = np.asarray(signal, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError(f"signal of shape {values.shape}: it must be one list of numbers, without gaps")
    return values
