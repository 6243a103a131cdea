"""The serial chain of Lee et al. 2016, figure 2 (a).

The paper prints none of its numbers. Those here are from the program that it points to for its experiments
(github.com/jslee02/wafr2016, ``experiments``, at revision bfbe862).
"""

import numpy as np

from biped.model import Body, Model, principal_inertia, revolute
from biped.runs.state import State

#: [m] from hinge to hinge; [kg]; [kg m²] about the centre of mass, the same about every axis.
LENGTH, MASS, INERTIA = 1.5, 1.0, 1.0
#: [rad], [rad/s]: angles and rates of the joints are drawn from ± this.
RANGE = np.pi / 2
#: [s]
STEP = 1e-3

ASSUMPTIONS = (
    "the chain, which the paper does not describe: links of 1.5 m, 1 kg and 1 kg m² about each axis, hinged about "
    "parallel axes, angles and rates of the joints drawn from ±π/2 (the authors' published program; their random "
    "numbers are not known, ours are NumPy's with a fixed seed)",
    "the potential P(T) of (6) is that of uniform gravity, where there is any",
)


def lee_chain(n: int) -> Model:
    """Return ``n`` links on hinges about x, standing upwards from the origin in the home configuration."""
    inertia = principal_inertia((INERTIA, INERTIA, INERTIA))
    bodies = [
        Body(
            name=f"link_{i}",
            mass=MASS,
            inertia=inertia,
            com=(0.0, 0.0, LENGTH / 2),
            joint=revolute(f"joint_{i}", (1.0, 0.0, 0.0), (0.0, 0.0, LENGTH if i > 1 else 0.0)),
            parent=f"link_{i - 1}" if i > 1 else None,
        )
        for i in range(1, n + 1)
    ]
    return Model(f"lee_chain_{n}", tuple(bodies))


def random_start(model: Model, seed: int = 2016) -> State:
    rng = np.random.default_rng(seed)
    return State.at(model, rng.uniform(-RANGE, RANGE, model.nq), rng.uniform(-RANGE, RANGE, model.nv))
