"""The criterion of the line search along Newton's step."""

from kernelcache import kernel

# Required reduction relative to the predicted one (Armijo 1966).
SUFFICIENT = 1e-4


@kernel
def suffices(reduced, tolerance, factor, norm):
    """Return True if ``factor`` of Newton's step, which changed ``norm`` to ``reduced``, is accepted."""
    return reduced <= tolerance or reduced <= (1.0 - SUFFICIENT * factor) * norm
