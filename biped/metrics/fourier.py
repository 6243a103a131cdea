"""Fourier coefficients of columns over whole cycles, defined once for metrics and for identification."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biped.metrics.kernels import metrics as kernels
from contact.arrays import Floats

Complexes = NDArray[np.complex128]


def fourier_coefficients(
    rows: Floats,
    time: int,
    table: Floats,
    columns: Sequence[int],
    frequencies: Sequence[float] | Floats,
    begin: int = 0,
) -> Complexes:
    """Return c (frequencies, columns) of Re(c exp(iω(t − t₀))), fitted to columns of a table with a constant.

    t₀ is the time of the first row that counts. The fit is by least squares. Over whole cycles, evenly sampled, it is
    the discrete Fourier transform, 2/n Σ y exp(−iωt); it remains accurate for slightly uneven rows.

    Args:
        rows: (n, …) with a column of times [s].
        time: index of the column of times.
        table: (n, …) with the columns.
        columns: indices of the columns.
        frequencies: [Hz].
        begin: index of the first row that counts.
    """
    found = np.empty((len(frequencies), len(columns)), dtype=np.complex128)
    for k, frequency in enumerate(frequencies):
        for j, column in enumerate(columns):
            cosine, sine = kernels.fit_sine(rows, time, table, column, begin, float(frequency))
            found[k, j] = complex(cosine, -sine)  # a cos + b sin is the real part of (a − ib) exp(iωt)
    return found
