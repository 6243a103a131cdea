"""When a part of Newton's step is enough."""

from kernelcache import kernel

# A part of the step reduces the residual by at least this part of what the whole one is to (Armijo 1966).
SUFFICIENT = 1e-4


@kernel
def suffices(reduced, tolerance, factor, norm):
    """Whether ``factor`` of Newton's step, which made ``reduced`` of ``norm``, is taken."""
    return reduced <= tolerance or reduced <= (1.0 - SUFFICIENT * factor) * norm
