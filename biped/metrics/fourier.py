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
    """Return the complex amplitudes c (frequencies, columns) of columns of a table.

    Re(c exp(iω(t − t₀))) and a constant are fitted by least squares; t₀ is the time of the row ``begin``. Over whole
    cycles of even samples this is the Fourier transform, 2/n Σ y exp(−iωt). Slightly uneven rows are allowed.

    Args:
        rows: (n, …) table with a column of times [s].
        time: index of the column of times in ``rows``.
        table: (n, …) table with the columns to analyse.
        columns: indices of these columns in ``table``.
        frequencies: [Hz] frequencies of the amplitudes.
        begin: index of the first row that counts.
    """
    amplitudes = np.empty((len(frequencies), len(columns)), dtype=np.complex128)
    for k, frequency in enumerate(frequencies):
        for j, column in enumerate(columns):
            cosine, sine = kernels.fit_sine(rows, time, table, column, begin, float(frequency))
            amplitudes[k, j] = complex(cosine, -sine)  # a cos + b sin is the real part of (a − ib) exp(iωt)
    return amplitudes
