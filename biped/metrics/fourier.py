"""Fourier coefficients of columns over whole cycles: one definition, for metrics of runs and for identification."""

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
    """(frequencies, columns) c of Re(c exp(iω(t − t₀))) in columns of a table, fitted by least squares with a constant.

    t₀ is the time of the first row that counts. Over whole cycles, evenly sampled, this is the discrete Fourier
    transform, 2/n Σ y exp(−iωt); it stays right where rows are not quite so.

    Args:
        rows: (n, …) with a column of times [s].
        time: which of its columns.
        table: (n, …) with the columns.
        columns: which of them.
        frequencies: [Hz].
        begin: the first row that counts.
    """
    found = np.empty((len(frequencies), len(columns)), dtype=np.complex128)
    for k, frequency in enumerate(frequencies):
        for j, column in enumerate(columns):
            cosine, sine = kernels.fit_sine(rows, time, table, column, begin, float(frequency))
            found[k, j] = complex(cosine, -sine)  # a cos + b sin is the real part of (a − ib) exp(iωt)
    return found
