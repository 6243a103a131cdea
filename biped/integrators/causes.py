"""Sentences for the causes of a failed step."""

from biped.kernels.solve import causes

#: Sentences by the return value of a kernel.
SENTENCES = {
    causes.NOT_CONVERGED: "Newton's method does not converge",
    causes.NOT_FINITE: "a number is not finite",
    causes.TURNED_TOO_FAR: "a body would turn by more than 90°, or a joint by more than 180°, in one time step",
    causes.LANDED_TOO_DEEP: "a contact point lands deeper than landing_depth",
    causes.COLLISION_FAILED: "the thrown box's flight or collision has no solution",
    causes.STUCK: "no part of Newton's step reduces the residual: there is no solution nearby",
    causes.SINGULAR: "the derivative of the equations is singular, for example since an unknown moves no mass",
    causes.DEPENDENT: "the constraints are linearly dependent there, so that their forces are not determined",
    causes.NO_VELOCITY: "no velocity has this momentum (singular mass matrix or constraint Jacobian, or a motion that "
    "is not finite)",
    causes.CREATES_ENERGY: "joints and contacts created energy, for example since they trap a body",
}


def why(cause: int, iterations: int | None = None) -> str:
    """Return the sentence for a cause of failure (``biped.kernels.solve.causes``).

    Args:
        cause: the return value of a kernel.
        iterations: limit of Newton iterations, for the sentence; None if unknown.
    """
    allowed = f" in {iterations} iterations" if cause == causes.NOT_CONVERGED and iterations is not None else ""
    return SENTENCES[cause] + allowed
