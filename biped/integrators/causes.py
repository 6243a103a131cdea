"""Sentences for the causes of a failed step."""

from biped.kernels.solve import causes

#: Sentences by the return value of a kernel.
SENTENCES = {
    causes.NOT_CONVERGED: "Newton's method does not converge",
    causes.NOT_FINITE: "a number is not finite",
    causes.TURNED_TOO_FAR: "a body would turn by more than a right angle, or an angle change by more than half a turn",
    causes.LANDED_TOO_DEEP: "a point lands too deep",
    causes.COLLISION_FAILED: "the thrown box's flight or collision has no solution",
    causes.STUCK: "no part of Newton's step reduces the residual: no solution is near",
    causes.SINGULAR: "the derivative of the equations is singular, as where something that is solved for moves no mass",
    causes.DEPENDENT: "the constraints depend on each other there, so that their forces are not determined",
    causes.NO_VELOCITY: "no velocity has this momentum (singular mass matrix or constraint Jacobian, or a motion that "
    "is not finite)",
    causes.CREATES_ENERGY: "joints and contacts created energy, as where they leave a body no way out",
}


def why(cause: int, iterations: int | None = None) -> str:
    """Return the sentence for a cause of failure (``biped.kernels.solve.causes``).

    Args:
        cause: the return value of a kernel.
        iterations: limit of Newton iterations, to be mentioned if given.
    """
    allowed = f" in {iterations} iterations" if cause == causes.NOT_CONVERGED and iterations is not None else ""
    return SENTENCES[cause] + allowed
