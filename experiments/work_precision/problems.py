"""The problems: a free rigid body, a double spherical pendulum, a chain, and a human in the air and on its feet."""

from collections.abc import Callable
from functools import partial

import numpy as np

from biped.control.controller import Impedance
from biped.dynamics import forward_kinematics
from biped.model import Body, Model, chain, floating, human, spherical
from biped.model.geometry import quaternion_matrix
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import RUBBER
from contact.arrays import Floats
from contact.modes import STICKING
from controllers.impedance import JointImpedance
from experiments.benchmarks.scenes import tumbling
from experiments.benchmarks.work_precision.case import Forms, LagrangianCase, Problem, TreeCase
from experiments.benchmarks.work_precision.reference import Holds, Reference, TreeEquations, reference, rms, tree_energy

#: [kg·m²] and [rad/s], Wendlandt 1997, (2.52).
INERTIA, OMEGA = (1.0, 2.0, 3.0), (0.0, 3.0, 4.0)
#: [m] and [m/s], Wendlandt 1997, after (2.55); the z coordinates follow from the constraints, and are negative.
MASSES, RODS = (2.0, 3.5), (4.0, 3.0)
XY, XY_RATES = ((2.820, 0.025), (5.085, 0.105)), ((3.381, 2.506), (2.497, 10.495))
#: [m] radius of the balls that stand for the pendulum's point masses in a tree: a body has an inertia.
BALL = 0.05
#: [rad] by which the springs in the hips are set anew.
LEAN = 0.02


def tree_reference(
    model: Model, start: State, places: Callable[[Floats], Floats], times: Floats, holds: Holds | None = None
) -> Reference:
    begin = np.concatenate([start.q, start.arrays.cache.rate])
    return reference(
        TreeEquations(model, holds or Holds()),
        begin,
        times,
        lambda state: places(state[: model.nq]),
        partial(tree_energy, model),
    )


def _body_centres(model: Model, q: Floats) -> Floats:
    return forward_kinematics(model, q).position


def _axes_tips(quaternion: Floats) -> Floats:
    """(3, 3) [m] the points at unit distance along the body's axes."""
    return quaternion_matrix(quaternion / np.linalg.norm(quaternion)).T


def _free_body() -> Forms:
    from formulations.lagrangian import rigid_body

    inertia = ((INERTIA[0], 0.0, 0.0), (0.0, INERTIA[1], 0.0), (0.0, 0.0, INERTIA[2]))
    body = Body("body", 1.0, inertia, (0.0, 0.0, 0.0), floating("root"))
    model = Model("free_rigid_body", (body,)).with_gravity((0.0, 0.0, 0.0))

    def start() -> State:
        return State.at(model, model.neutral(), np.array([0.0, 0.0, 0.0, *OMEGA]))

    def places(q: Floats) -> Floats:
        return _axes_tips(q[3:7])

    truth = tree_reference(model, start(), places, FREE_BODY.times)
    lagrangian = LagrangianCase(
        rigid_body(INERTIA),
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([0.0, *OMEGA]) / 2.0,
        lambda table: np.array([_axes_tips(row) for row in table]),
        truth,
    )
    return Forms((TreeCase(model, start, places, truth), lagrangian), ())


def pendulum_start() -> tuple[Floats, Floats]:
    """(6,) [m] and (6,) [m/s] of the two masses, as the thesis starts them."""
    (x1, x2), (v1, v2) = np.array(XY), np.array(XY_RATES)
    drop1 = -np.sqrt(RODS[0] ** 2 - x1 @ x1)
    drop2 = -np.sqrt(RODS[1] ** 2 - (x2 - x1) @ (x2 - x1))
    fall1 = -(x1 @ v1) / drop1
    fall2 = -((x2 - x1) @ (v2 - v1)) / drop2
    return np.array([*x1, drop1, *x2, drop1 + drop2]), np.array([*v1, fall1, *v2, fall1 + fall2])


def _upright_to(direction: Floats) -> Floats:
    d = direction / np.linalg.norm(direction)
    q = np.array([1.0 - d[2], *np.cross((0.0, 0.0, -1.0), d)])
    return q / np.linalg.norm(q)


def _times(p: Floats, q: Floats) -> Floats:
    scalar = p[0] * q[0] - p[1:] @ q[1:]
    return np.array([scalar, *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def pendulum_tree() -> tuple[Model, State]:
    """The double spherical pendulum as a tree of two balls on massless rods, and its start without spin."""
    bodies = []
    for k, (mass, rod) in enumerate(zip(MASSES, RODS, strict=True), start=1):
        moment = 0.4 * mass * BALL**2
        inertia = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
        joint = spherical(f"joint_{k}", (0.0, 0.0, 0.0) if k == 1 else (0.0, 0.0, -RODS[0]))
        bodies.append(Body(f"ball_{k}", mass, inertia, (0.0, 0.0, -rod), joint, None if k == 1 else "ball_1"))
    model = Model("double_spherical_pendulum", tuple(bodies))
    q, v = pendulum_start()
    arms, rates = (q[:3], q[3:] - q[:3]), (v[:3], v[3:] - v[:3])
    first, second = (_upright_to(arm) for arm in arms)
    omega = [np.cross(arm, rate) / (arm @ arm) for arm, rate in zip(arms, rates, strict=True)]
    turned = _times(first * (1.0, -1.0, -1.0, -1.0), second)
    return model, State.at(model, np.concatenate([first, turned]), np.concatenate([omega[0], omega[1] - omega[0]]))


def _pendulum() -> Forms:
    from formulations.lagrangian import double_spherical_pendulum

    model, start = pendulum_tree()
    places = partial(_body_centres, model)
    q0, v0 = pendulum_start()
    tree_truth = tree_reference(model, start, places, PENDULUM.times)
    truth = pendulum_reference(MASSES, RODS, q0, v0, PENDULUM.times)
    lagrangian = LagrangianCase(
        double_spherical_pendulum(), q0, v0, lambda table: table.reshape(len(table), 2, 3), truth
    )
    apart = rms(tree_truth.places, truth.places)
    remark = (
        f"A tree's bodies have inertias: its masses are solid balls of {BALL:g} m radius, fixed to their rods. That "
        f"moves them by {apart:.2g} m (root mean square). It is the model, and no error: each form has its own "
        "reference."
    )
    return Forms((TreeCase(model, start.copy, places, tree_truth), lagrangian), (remark,))


def _chain() -> Forms:
    model = chain(10).without_contacts()
    start = State.at(model, np.full(model.nq, 0.2))
    places = partial(_body_centres, model)
    return Forms((TreeCase(model, start.copy, places, tree_reference(model, start, places, CHAIN.times)),), ())


def _flight() -> Forms:
    model = human().with_gravity((0.0, 0.0, 0.0)).without_contacts()
    start = State.at(model, *tumbling(model))
    places = partial(_body_centres, model)
    truth = tree_reference(model, start, places, FLIGHT.times)
    return Forms((TreeCase(model, start.copy, places, truth),), ())


def _settled(model: Model) -> State:
    """The human at rest on its feet, at the equilibrium of floor and joint springs, all points sticking."""
    settled = simulate(model, JointImpedance(), duration=4.0, step=1e-3, record_every=4.0).state
    state = State.at(model, settled.q)
    state.arrays.anchor[:] = settled.arrays.anchor
    state.arrays.mode[:] = STICKING
    state.arrays.found[:] = STICKING
    return state


def _standing() -> Forms:
    model = human()
    rest = {f"{side}_hip_pitch": LEAN for side in ("left", "right")}
    controller = JointImpedance(rest=rest, period=STANDING.duration / STANDING.samples)
    start = _settled(model)
    holds = Holds(RUBBER, start.arrays.anchor.copy(), controller.impedance(model))
    places = partial(_body_centres, model)
    truth = tree_reference(model, start, places, STANDING.times, holds)
    use = TreeEquations(model, holds).greatest_use_of_friction(truth.states)
    remark = (
        f"Springs and dampers in the joints hold it ({_springs(controller.impedance(model))}); at time zero those of "
        f"the hips are set anew by {LEAN:g} rad. All points of the soles stick throughout, and use {100 * use:.0f}% of "
        "their friction at most: the motion is smooth, has a reference, and methods show their order. It is stiff: the "
        "floor damps a foot within a tenth of a millisecond."
    )
    return Forms((TreeCase(model, start.copy, places, truth, controller),), (remark,))


def _springs(impedance: Impedance) -> str:
    stiffness, damping = max(impedance.stiffness.values()), max(impedance.damping.values())
    return f"{stiffness:g} N·m/rad, {damping:g} N·m·s/rad"


FREE_BODY = Problem(
    "free-body", "a free rigid body tumbles", "Wendlandt 1997, (2.52)",
    "the three points 1 m along the body's axes", 5.0, 25, 0.1, 11, _free_body, ("sympy",),
)  # fmt: skip
PENDULUM = Problem(
    "pendulum", "a double spherical pendulum swings", "Wendlandt 1997, after (2.55)",
    "the two masses", 3.0, 30, 0.05, 10, _pendulum, ("sympy",),
)  # fmt: skip
CHAIN = Problem(
    "chain", "a chain of 10 links falls from a bend", "links of 0.3 m and 1 kg, hinges bent by 0.2 rad",
    "the links' centres of mass", 1.0, 20, 0.01, 8, _chain,
)  # fmt: skip
FLIGHT = Problem(
    "flight", "a human tumbles freely, without gravity", "the human of Wendlandt 1997, 4.1; rates of about 2 rad/s",
    "the bodies' centres of mass", 1.0, 20, 0.01, 8, _flight,
)  # fmt: skip
STANDING = Problem(
    "standing", "a human sways on its feet", "the human of Wendlandt 1997, 4.1, on the floor of 5.3",
    "the bodies' centres of mass", 0.5, 10, 0.01, 9, _standing,
)  # fmt: skip

#: By name.
PROBLEMS = {problem.name: problem for problem in (FREE_BODY, PENDULUM, CHAIN, FLIGHT, STANDING)}


#: [m/s²]
GRAVITY = 9.81


def pendulum_reference(
    masses: tuple[float, float], rods: tuple[float, float], q0: Floats, v0: Floats, times: Floats
) -> Reference:
    """The reference motion of Wendlandt 1997, (2.54): masses [kg] on rods [m], from q0 [m] and v0 [m/s]."""
    m1, m2 = masses
    weight = np.array([0.0, 0.0, -GRAVITY * m1, 0.0, 0.0, -GRAVITY * m2])
    mass = np.array([m1] * 3 + [m2] * 3)
    squares = np.square(rods)

    def rate(_: float, state: Floats) -> Floats:
        q, v = state[:6], state[6:]
        rod, swing = q[3:] - q[:3], v[3:] - v[:3]
        rows = np.array([[*q[:3], 0.0, 0.0, 0.0], [*-rod, *rod]])
        # A motion on the constraints has no error in them to be taken back; that of rounding is damped.
        drift = 0.5 * np.array([q[:3] @ q[:3], rod @ rod]) - 0.5 * squares
        slide = rows @ v
        wanted = -np.array([v[:3] @ v[:3], swing @ swing]) - 2.0 * slide - drift
        inverse = rows / mass
        multipliers = np.linalg.solve(inverse @ rows.T, wanted - inverse @ weight)
        return np.concatenate([v, (weight + rows.T @ multipliers) / mass])

    def places(state: Floats) -> Floats:
        return state[:6].reshape(2, 3)

    def energy(state: Floats) -> float:
        return float(0.5 * mass @ state[6:] ** 2 - weight @ state[:6])

    return reference(rate, np.concatenate([q0, v0]), times, places, energy)
