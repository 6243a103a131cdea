"""The variational integrator with rigid contact: no penetration of the floor, no slip of sticking points."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from biped.disturbances import Disturbances
from biped.dynamics import body_gaps, forward_kinematics
from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.integrators.closing import closing_columns, closing_if_any
from biped.integrators.newton_settings import SolverSettings
from biped.integrators.rigid.kernels import step  # noqa: F401  registers the kernels of the method
from biped.integrators.rigid.kernels.loops import new_loops
from biped.integrators.rigid.kernels.method import BodyParts, RigidContact, contact_buffers
from biped.kernels.loop.log import Both
from biped.kernels.state.simulation_state import START, TOTAL_STEPS, SimulationState
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.newton import Extrapolation
from biped.model import Capsule, Model
from biped.model.legs import foot_under
from biped.model.ragdoll import touching_all_over
from contact import Floor
from contact.arrays import Floats, Integers
from contact.modes import NONE
from kernelcache import Nothing

#: [m] Greatest depth of contact points in a state from which a run is continued.
IN_FLOOR = 1e-6
#: Least and greatest number of directions of friction.
DIRECTIONS = (4, 64)
#: Values of ``touching``: the parts of the model that may touch the floor.
TOUCHING = ("points", "body")


@dataclass(frozen=True)
class Rigid(SolverSettings):
    """The variational integrator with rigid contact, without contact springs and dampers, and with Coulomb friction.

    Each step solves equations 22 to 33 of Brüdigam et al. 2024 in joint coordinates, so without multipliers of joints,
    by an interior point method with the O(n) factorization of ``Recursive``. Without contact, runs equal those of
    ``Recursive``. At the end of a step contacts also act on the velocities: sticking points are at rest, and a landing
    point rebounds with ``restitution`` times its approach velocity.

    The only parameter of a floor in use is ``mu_s``; ``mu_d`` must equal it. If points are below the floor at the
    start, as on a compliant floor, the model is raised until the lowest point is on the floor. The columns
    ``solver_residual`` [N·s], ``solver_complementarity`` [N·s·m] and ``deepest_point`` [m] (a depth) are the largest
    values since the last row of the run; the column ``unresolved`` counts the steps without a solution for the end
    velocities, which the next step corrects. The columns ``press_1_<body>_<body>`` … [N] are the contact forces of each
    pair of capsules in the last step. Loops are closed in positions and velocities; they add ``closing_columns``.

    With ``touching="body"``, trunk, knees, hands etc. (``biped.model.ragdoll.body_points``) can touch the floor, and
    the pairs of bodies in ``Model.touching`` each other. Friction in a pyramid of n ``directions`` is at least cos(π/n)
    times that in the cone. For ``tolerance``, a gap counts as the momentum of a mean body that closes it in a step.

    Raises:
        InputError: a value is out of range.
    """

    takes_balls: ClassVar[bool] = True
    name: ClassVar[str] = "rigid"
    paper: ClassVar[str] = "Brüdigam et al. 2024"
    takes_loops: ClassVar[bool] = True

    complementarity: float = quantity(
        "N·s·m", "Rigid contact: largest product of contact impulse and gap (or slip distance) of a solved step", 1e-15
    )
    directions: int = quantity("", "Rigid contact: number of sides of the friction pyramid (even); 0: cone", 8)
    restitution: float = quantity("", "Rigid contact: coefficient of restitution, 0 (no rebound) to 1 (elastic)", 0.0)
    touching: str = quantity("", "Rigid contact of the contact points only (points) or of all bodies (body)", "points")
    body_friction: float = quantity("", "Rigid contact: coefficient of friction between two bodies of the model", 0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.complementarity) and self.complementarity > 0.0):
            raise InputError(
                f"integrator.complementarity = {self.complementarity!r}: it must be finite and above zero [N·s·m]"
            )
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"integrator.restitution = {self.restitution!r}: it must be a number from 0 to 1")
        if self.touching not in TOUCHING:
            raise InputError(f"integrator.touching = {self.touching!r}: it must be one of {', '.join(TOUCHING)}")
        if not (math.isfinite(self.body_friction) and self.body_friction >= 0.0):
            raise InputError(f"integrator.body_friction = {self.body_friction!r}: it must be finite and zero or above")
        least, most = DIRECTIONS
        count: Any = self.directions
        is_whole = isinstance(count, int) and not isinstance(count, bool)
        if not is_whole or count % 2 or not (count == 0 or least <= count <= most):
            raise InputError(
                f"integrator.directions = {count!r}: it must be an even number from {least} to {most}, or 0 for "
                "Coulomb's friction cone"
            )

    def moving(self, model: Model) -> Model:
        """Return the model with all points that may touch the floor; those of ``model`` come first."""
        return model if self.touching == "points" else touching_all_over(model)

    def bind(self, model: Model, floor: Floor, disturbances: Disturbances) -> None:
        """Check that every floor has one coefficient of friction.

        Raises:
            InputError: ``mu_s`` and ``mu_d`` of a floor differ, or its ``friction`` is "printed".
        """
        floors = {"floor": floor} | {f"patch {k}": patch.floor for k, patch in enumerate(disturbances.patches, 1)}
        for name, item in floors.items():
            if item.mu_s != item.mu_d or item.friction == "printed":
                raise InputError(
                    f"integrator {self.name!r} supports Coulomb friction with one coefficient only, but the {name} has "
                    f"mu_s = {item.mu_s:g}, mu_d = {item.mu_d:g}, friction = {item.friction!r}: set mu_d equal to "
                    "mu_s, and friction = 'yielding'"
                )

    def begin(self, model: Model, state: SimulationState, floor: Floats | None) -> None:
        """Raise the model at the start until no contact point is below the floor.

        Raises:
            InputError: the model cannot be raised, since its root is fixed, its floor has moved, or the run has begun
                with another integrator; or bodies that may touch overlap.
        """
        if self.touching == "body":
            _check_apart(model, state.q)
        if not model.nc:
            return
        points = forward_kinematics(model, state.q).contact
        if floor is not None:
            points = (points - floor[:3]) @ floor[3:12].reshape(3, 3)
        depth, fresh = float((model.contact_radii - points[:, 2]).max()), not state.counts[TOTAL_STEPS]
        if depth <= (0.0 if fresh else IN_FLOOR):
            return
        if not fresh or floor is not None or not model.is_floating:
            raise InputError(
                f"a contact point is {depth:.3g} m below the floor, and integrator {self.name!r} cannot continue from "
                "this state: start with all contact points above the floor, or start a new run of a model with a "
                "floating root, which is raised until it stands on the floor"
            )
        state.q[2] += depth
        state.ledger.works[START] -= depth * model.total_mass * model.gravity[2]
        state.mode[:] = state.contact_state[:] = NONE

    def method(self, model: Model) -> RigidContact:
        """Return the method for the kernels."""
        parts = _parts(model, self.body_friction, self.touching == "body")
        closing = closing_if_any(model)
        return RigidContact(
            body=MidpointBody(), guess=Extrapolation(), solver=self.solver,
            complementarity=float(self.complementarity), restitution=float(self.restitution), closing=closing,
            loops=closing if isinstance(closing, Nothing) else new_loops(closing, len(parts.body)),
            **contact_buffers(model.tree, self.directions, model.contact_radii, _watched(model), parts),
        )  # fmt: skip

    def recorder(self, method: RigidContact) -> Any:
        """Return the parts of the method whose numbers are recorded."""
        return Both(method.unknowns, method.closing)

    def columns(self, model: Model) -> dict[str, str]:
        """Return names and units of the recorded numbers, in order."""
        worst = {"solver_residual": "N*s", "solver_complementarity": "N*s*m", "deepest_point": "m", "unresolved": "1"}
        pairs = _pairs(model) if self.touching == "body" else []
        presses = {f"press_{number}_{a.body}_{b.body}": "N" for number, (a, b) in enumerate(pairs, 1)}
        return worst | presses | closing_columns(model)


def _watched(model: Model) -> Integers:
    """Return (nc,) 1 for points that each step checks: points of the feet, or all points of a model without feet."""
    on_feet = [foot_under(model, point.body) is not None or not model.feet for point in model.contact_points]
    return np.array(on_feet, dtype=np.int64)


def _check_apart(model: Model, q: Floats) -> None:
    """Refuse a start in which bodies that may touch overlap."""
    for (first, second), gap in body_gaps(model, q).items():
        if gap < -IN_FLOOR:
            raise InputError(
                f"bodies {first!r} and {second!r}, which may touch, overlap by {-gap:.3g} m at the start: start with "
                "a gap between them, or set integrator.touching = points"
            )


def _pairs(model: Model) -> list[tuple[Capsule, Capsule]]:
    """Return all pairs of capsules of bodies that may touch."""
    of: dict[str, list[Capsule]] = {name: [] for name in model.body_names}
    for capsule in model.capsules:
        of[capsule.body].append(capsule)
    return [pair for first, second in model.touching for pair in product(of[first], of[second])]


def _parts(model: Model, friction: float, touching: bool) -> BodyParts:
    """Return the capsules that may touch as the kernels need them; none unless ``touching``."""
    ends = [capsule for pair in _pairs(model) for capsule in pair] if touching else []
    rows = [model.body_index(capsule.body) for capsule in ends]
    centers = [np.subtract(capsule.center, model.bodies[i].com) for capsule, i in zip(ends, rows, strict=True)]
    return BodyParts(
        body=np.array(rows, dtype=np.int64).reshape(-1, 2),
        center=np.array(centers).reshape(-1, 3),
        half=np.array([capsule.half for capsule in ends]).reshape(-1, 3),
        radius=np.array([capsule.radius for capsule in ends]).reshape(-1, 2),
        friction=float(friction),
    )
