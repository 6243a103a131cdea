"""Regularity and memory of a signal: sample entropy, and detrended fluctuation analysis.

Both take one column of evenly sampled numbers in any unit.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Samples of the shortest window; in shorter ones the line absorbs so much fluctuation that the slope is biased.
SHORTEST_WINDOW = 10
#: Number of window sizes, evenly spaced by their logarithms.
WINDOWS = 20


def sample_entropy(signal: ArrayLike, m: int = 2, r: float = 0.2, increments: bool = False) -> float:
    """Return the sample entropy (Richman and Moorman 2000): −ln of the share of similar pairs that remain similar.

    Two stretches of m samples are similar if no sample of one differs from that of the other by more than r standard
    deviations. They remain similar if this holds for m + 1 samples; a stretch is not compared with itself. The entropy
    is 0 for a signal that repeats itself and −ln erf(r / 2) for white Gaussian noise, 2.185 for r = 0.2.

    The signal is assumed to be stationary. A drift of the sway makes the entropy small, since it increases the standard
    deviation and with it the tolerance. With ``increments``, the differences of successive samples are used instead, as
    Ramdani et al. (2009) do for the centre of pressure. Values are comparable only at equal m, r, sampling rate, filter
    and length.

    Args:
        signal: (n,), without gaps.
        m: length of the stretches in samples.
        r: tolerance, in standard deviations of the signal or of its increments.
        increments: True to use the differences of successive samples.

    Raises:
        InputError: there are gaps or too few samples, the signal is constant, or no pair of stretches remains similar.
    """
    from scipy.spatial import KDTree  # importing takes a quarter of a second

    values = _finite(signal)
    values = np.diff(values) if increments else values
    if not (m >= 1 and r > 0.0 and len(values) > m + 1):
        raise InputError(
            f"m = {m!r}, r = {r!r}, {len(values)} samples: m must be 1 or more, r above 0, with more than m + 1 samples"
        )
    spread = values.std()
    if not spread > 1e-9 * np.abs(values).max():
        raise InputError("the signal is constant: it has no sample entropy")
    windows = np.lib.stride_tricks.sliding_window_view(values, m + 1)
    alike = []
    for length in (m, m + 1):  # equal numbers of templates, as in Richman and Moorman
        tree = KDTree(windows[:, :length])
        alike.append(int(tree.count_neighbors(tree, r * spread, p=math.inf)) - len(windows))
    if not alike[1]:
        raise InputError(f"no two stretches of {m + 1} samples are similar: use a longer signal, or r above {r:g}")
    return math.log(alike[0] / alike[1])


def detrended_fluctuation(signal: ArrayLike, windows: ArrayLike | None = None) -> "pd.DataFrame":
    """Return the fluctuation of the cumulative sum of the signal minus its mean, by window size (Peng et al. 1994).

    Args:
        signal: (n,), without gaps.
        windows: sizes of the windows in samples, 3 or more; None: up to twenty sizes, log-spaced from 10 to n/10.

    Returns:
        Table with a row for each size: ``window`` in samples, and ``fluctuation``, the RMS about the line fitted in
        each window, in the signal's unit. Samples at the end that do not fill a window are left out.

    Raises:
        InputError: there are gaps, the signal is constant, or a window is too short or longer than the signal.
    """
    import pandas as pd

    values = _finite(signal)
    if windows is None:
        longest = len(values) // 10
        if longest < 2 * SHORTEST_WINDOW:
            raise InputError(f"{len(values)} samples are too few: give {20 * SHORTEST_WINDOW} or more, or set windows")
        windows = np.unique(np.geomspace(SHORTEST_WINDOW, longest, WINDOWS).round())
    sizes = np.asarray(windows, dtype=np.int64).ravel()
    if not (len(sizes) and sizes.min() >= 3 and sizes.max() <= len(values)):
        raise InputError(f"each window must have from 3 to {len(values)} samples")
    if not values.std() > 1e-9 * np.abs(values).max():
        raise InputError("the signal is constant: it has no fluctuation")
    profile = np.cumsum(values - values.mean())
    return pd.DataFrame({"window": sizes, "fluctuation": [_fluctuation(profile, int(size)) for size in sizes]})


def fluctuation_exponent(signal: ArrayLike, windows: ArrayLike | None = None) -> float:
    """Return the exponent α of the fluctuation F(n) ∝ nᵅ at window size n, fitted to the logarithms by least squares.

    α is 0.5 for white noise, 1 for 1/f noise, and 1.5 for a random walk.

    Raises:
        InputError: see ``detrended_fluctuation``; or there is only one window size.
    """
    table = detrended_fluctuation(signal, windows)
    if table["window"].nunique() < 2:
        raise InputError("windows must have two or more sizes to fit an exponent")
    return float(np.polyfit(np.log(table["window"]), np.log(table["fluctuation"]), 1)[0])


def _fluctuation(profile: Floats, size: int) -> float:
    pieces = profile[: len(profile) // size * size].reshape(-1, size)
    pieces = pieces - pieces.mean(axis=1, keepdims=True)
    line = np.arange(size) - (size - 1) / 2.0
    left = pieces - np.outer(pieces @ line / (line @ line), line)
    return math.sqrt((left**2).mean())


def _finite(signal: ArrayLike) -> Floats:
    values = np.asarray(signal, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise InputError(f"signal of shape {values.shape}: it must be one list of numbers without gaps")
    return values
