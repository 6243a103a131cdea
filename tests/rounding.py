"""What rounding amounts to: bounds from the number of roundings and the size of what is rounded.

One changes a number by at most u = ε/2 of its size. Any n of them add up to n u (Higham 2002, Accuracy and Stability of
Numerical Algorithms, section 3.1), and n independent ones of mean zero to no more than λ √n u but for a chance of
2 exp(−λ²/2) (Higham and Mary 2019, SIAM J. Sci. Comput. 41(5), Theorem 2.4): 3e-8 for λ = 6.
"""

import numpy as np

U = np.finfo(float).eps / 2.0


def summed(roundings: float, size: float) -> float:
    return roundings * U * size


def walked(roundings: float, size: float) -> float:
    return 6.0 * np.sqrt(roundings) * U * size
