"""Problems: a free rigid body, a double spherical pendulum, a chain, and a human in flight and standing."""

from collections.abc import Callable

import numpy as np

from biped.dynamics import energy, forward_kinematics
from biped.model import Body, Model, chain, floating, human, spherical
from biped.model.geometry import Matrix3, quaternion_matrix
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import RUBBER
from contact.arrays import Floats
from contact.modes import STICKING
from controllers.impedance import JointImpedance
from experiments.work_precision import case as cases
from formulations.assembly.joint import quaternion_product

#: [kg·m²] and [rad/s], Wendlandt 1997, (2.52).
INERTIA, OMEGA = (1.0, 2.0, 3.0), (0.0, 3.0, 4.0)
#: [kg], [m], [m], [m/s] of two masses on rods, Wendlandt 1997, after (2.55); the constraints give z, which is negative.
MASSES, RODS = (2.0, 3.5), (4.0, 3.0)
XY, XY_RATES = ((2.820, 0.025), (5.085, 0.105)), ((3.381, 2.506), (2.497, 10.495))
#: [m] radius of the balls that replace the pendulum's point masses in a tree, whose bodies need an inertia.
BALL = 0.05
#: [rad] change of the rest angles of the hip springs at time zero.
LEAN = 0.02


def tumbling(model: Model) -> tuple[Floats, Floats]:
    """Return a configuration and a fixed velocity of about 2 rad/s in every joint and about every axis."""
    rng = np.random.default_rng(0)
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] += 100.0
    q[7:] += rng.normal(0.0, 0.3, model.nq - 7)
    v[3:] = rng.normal(0.0, 2.0, model.nv - 3)
    return q, v


def tree_case(
    model: Model,
    start: State,
    places: Callable[[Floats], Floats] | None,
    problem: cases.Problem,
    controller: JointImpedance | None = None,
    equations: cases.TreeEquations | None = None,
) -> cases.TreeCase:
    """Return a tree with its reference; the points are the bodies' centres of mass unless ``places`` gives others."""
    where = places or (lambda q: forward_kinematics(model, q).position)
    begin = np.concatenate([start.q, start.arrays.cache.rate])
    truth = cases.reference(
        equations or cases.TreeEquations(model), begin, problem.times, lambda state: where(state[: model.nq]),
        lambda state: energy(model, state[: model.nq], state[model.nq :]).total,
    )  # fmt: skip
    return cases.TreeCase(model, start, where, truth, controller)


def _axes_tips(quaternion: Floats) -> Floats:
    """Return the points at unit distance along the body's axes [m], (3, 3)."""
    return quaternion_matrix(quaternion / np.linalg.norm(quaternion)).T


def _diagonal(x: float, y: float, z: float) -> Matrix3:
    return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)


def _free_body() -> cases.Forms:
    from formulations.lagrangian import rigid_body

    body = Body("body", 1.0, _diagonal(*INERTIA), (0.0, 0.0, 0.0), floating("root"))
    model = Model("free_rigid_body", (body,)).with_gravity((0.0, 0.0, 0.0))
    start = State.at(model, model.neutral(), np.array([0.0, 0.0, 0.0, *OMEGA]))
    tree = tree_case(model, start, lambda q: _axes_tips(q[3:7]), FREE_BODY)
    lagrangian = cases.LagrangianCase(
        rigid_body(INERTIA),
        np.array([1.0, 0.0, 0.0, 0.0]),
        np.array([0.0, *OMEGA]) / 2.0,
        lambda table: np.array([_axes_tips(row) for row in table]),
        tree.reference,
    )
    return cases.Forms((tree, lagrangian), ())


def pendulum_start() -> tuple[Floats, Floats]:
    """Return initial positions [m] and velocities [m/s] of the two masses, (6,) each, as in the thesis."""
    (x1, x2), (v1, v2) = np.array(XY), np.array(XY_RATES)
    drop1, drop2 = -np.sqrt(RODS[0] ** 2 - x1 @ x1), -np.sqrt(RODS[1] ** 2 - (x2 - x1) @ (x2 - x1))
    fall1, fall2 = -(x1 @ v1) / drop1, -((x2 - x1) @ (v2 - v1)) / drop2
    return np.array([*x1, drop1, *x2, drop1 + drop2]), np.array([*v1, fall1, *v2, fall1 + fall2])


def _upright_to(direction: Floats) -> Floats:
    d = direction / np.linalg.norm(direction)
    q = np.array([1.0 - d[2], *np.cross((0.0, 0.0, -1.0), d)])
    return q / np.linalg.norm(q)


def pendulum_tree() -> tuple[Model, State]:
    """Return the double spherical pendulum as a tree of two balls on massless rods, and its start without spin."""
    bodies = []
    for k, (mass, rod) in enumerate(zip(MASSES, RODS, strict=True), start=1):
        inertia = _diagonal(*[0.4 * mass * BALL**2] * 3)
        joint = spherical(f"joint_{k}", (0.0, 0.0, 0.0) if k == 1 else (0.0, 0.0, -RODS[0]))
        bodies.append(Body(f"ball_{k}", mass, inertia, (0.0, 0.0, -rod), joint, None if k == 1 else "ball_1"))
    model = Model("double_spherical_pendulum", tuple(bodies))
    q, v = pendulum_start()
    arms, rates = (q[:3], q[3:] - q[:3]), (v[:3], v[3:] - v[:3])
    first, second = (_upright_to(arm) for arm in arms)
    omega = [np.cross(arm, rate) / (arm @ arm) for arm, rate in zip(arms, rates, strict=True)]
    turned = quaternion_product(first * (1.0, -1.0, -1.0, -1.0), second)
    return model, State.at(model, np.concatenate([first, turned]), np.concatenate([omega[0], omega[1] - omega[0]]))


def _pendulum() -> cases.Forms:
    from formulations.lagrangian import double_spherical_pendulum

    tree = tree_case(*pendulum_tree(), None, PENDULUM)
    q0, v0 = pendulum_start()
    truth = pendulum_reference(MASSES, RODS, q0, v0, PENDULUM.times)
    apart = cases.rms(tree.reference.places, truth.places)
    remark = (
        f"The bodies of a tree need an inertia: its masses are solid balls of {BALL:g} m radius, fixed to their rods. "
        f"This changes their motion by {apart:.2g} m (root mean square). Errors do not include this difference, "
        "because each form has its own reference."
    )
    system = double_spherical_pendulum()
    return cases.Forms(
        (tree, cases.LagrangianCase(system, q0, v0, lambda q: q.reshape(len(q), 2, 3), truth)), (remark,)
    )


def _chain() -> cases.Forms:
    model = chain(10).without_contacts()
    return cases.Forms((tree_case(model, State.at(model, np.full(model.nq, 0.2)), None, CHAIN),), ())


def _flight() -> cases.Forms:
    model = human().with_gravity((0.0, 0.0, 0.0)).without_contacts()
    return cases.Forms((tree_case(model, State.at(model, *tumbling(model)), None, FLIGHT),), ())


def _settled(model: Model) -> State:
    """Return the human at rest on its feet, at the equilibrium of floor and joint springs, all points sticking."""
    settled = simulate(model, JointImpedance(), duration=4.0, step=1e-3, record_every=4.0).state
    state = State.at(model, settled.q)
    state.arrays.anchor[:] = settled.arrays.anchor
    state.arrays.mode[:] = STICKING
    state.arrays.contact_state[:] = STICKING
    return state


def _standing() -> cases.Forms:
    model = human()
    rest = {f"{side}_hip_pitch": LEAN for side in ("left", "right")}
    controller = JointImpedance(rest=rest, period=STANDING.duration / STANDING.samples)
    start = _settled(model)
    impedance = controller.impedance(model)
    equations = cases.TreeEquations(model, RUBBER, start.arrays.anchor.copy(), impedance)
    case = tree_case(model, start, None, STANDING, controller, equations)
    use = equations.greatest_use_of_friction(case.reference.states)
    stiffness, damping = max(impedance.stiffness.values()), max(impedance.damping.values())
    remark = (
        f"Joint springs and dampers hold the human ({stiffness:g} N·m/rad, {damping:g} N·m·s/rad). At time zero "
        f"the rest angles of the hip springs change by {LEAN:g} rad. All contact points stick, and use at most "
        f"{100 * use:.0f}% of their friction limit: the motion is smooth and has a reference, so methods show their "
        "order. The problem is stiff: the floor damps a foot within a tenth of a millisecond."
    )
    return cases.Forms((case,), (remark,))


FREE_BODY = cases.Problem(
    "free-body", "a free rigid body tumbles", "Wendlandt 1997, (2.52)",
    "the three points 1 m along the body's axes", 5.0, 25, 0.1, 11, _free_body, ("sympy",),
)  # fmt: skip
PENDULUM = cases.Problem(
    "pendulum", "a double spherical pendulum swings", "Wendlandt 1997, after (2.55)",
    "the two masses", 3.0, 30, 0.05, 10, _pendulum, ("sympy",),
)  # fmt: skip
CHAIN = cases.Problem(
    "chain", "a chain of 10 links falls from a bend", "links of 0.3 m and 1 kg, hinges bent by 0.2 rad",
    "the links' centres of mass", 1.0, 20, 0.01, 8, _chain,
)  # fmt: skip
FLIGHT = cases.Problem(
    "flight", "a human tumbles freely, without gravity", "the human of Wendlandt 1997, 4.1; rates of about 2 rad/s",
    "the bodies' centres of mass", 1.0, 20, 0.01, 8, _flight,
)  # fmt: skip
STANDING = cases.Problem(
    "standing", "a human sways on its feet", "the human of Wendlandt 1997, 4.1, on the floor of 5.3",
    "the bodies' centres of mass", 0.5, 10, 0.01, 9, _standing,
)  # fmt: skip

#: Problems by name.
PROBLEMS = {problem.name: problem for problem in (FREE_BODY, PENDULUM, CHAIN, FLIGHT, STANDING)}


def pendulum_reference(
    masses: tuple[float, float], rods: tuple[float, float], q0: Floats, v0: Floats, times: Floats
) -> cases.Reference:
    """Return the reference motion of Wendlandt 1997, (2.54): masses [kg] on rods [m], from q0 [m] and v0 [m/s]."""
    m1, m2 = masses
    weight = np.array([0.0, 0.0, -9.81 * m1, 0.0, 0.0, -9.81 * m2])
    mass = np.array([m1] * 3 + [m2] * 3)
    squares = np.square(rods)

    def rate(_: float, state: Floats) -> Floats:
        q, v = state[:6], state[6:]
        rod, swing = q[3:] - q[:3], v[3:] - v[:3]
        rows = np.array([[*q[:3], 0.0, 0.0, 0.0], [*-rod, *rod]])
        # An exact motion satisfies the constraints; rounding errors in them are damped.
        drift = 0.5 * np.array([q[:3] @ q[:3], rod @ rod]) - 0.5 * squares
        slide = rows @ v
        required = -np.array([v[:3] @ v[:3], swing @ swing]) - 2.0 * slide - drift
        inverse = rows / mass
        multipliers = np.linalg.solve(inverse @ rows.T, required - inverse @ weight)
        return np.concatenate([v, (weight + rows.T @ multipliers) / mass])

    return cases.reference(
        rate, np.concatenate([q0, v0]), times, lambda state: state[:6].reshape(2, 3),
        lambda state: float(0.5 * mass @ state[6:] ** 2 - weight @ state[:6]),
    )  # fmt: skip
