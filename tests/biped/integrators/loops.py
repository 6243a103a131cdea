"""Models with loops: a four-bar linkage whose motion is known, and trees of which two bodies are joined at random."""

import math

import numpy as np
from scipy.integrate import solve_ivp

from biped import assembled, closed_velocity, forward_kinematics
from biped.dynamics.closing import _loops_at
from biped.model import Body, ClosingJoint, Model, box_inertia, random_tree, revolute
from biped.model.geometry import quaternion_matrix
from formulations.assembly.joint import quaternion_product

from ...conftest import random_configuration

Y = (0.0, 1.0, 0.0)
CRANK, COUPLER, ROCKER, BASE = 0.3, 1.0, 0.8, 0.9
G = 9.81


def loop_rate(model, q, v):
    """[m/s or rad/s] at which the fastest row of the loops opens: C v."""
    return np.abs(_loops_at(model, np.array(q)).gradient @ np.array(v)).max()


def four_bar():
    """A crank that can turn round, a coupler on it, a rocker on the ground beside it, and the hinge between them."""
    bodies = (
        Body("crank", 1.0, box_inertia(1.0, (0.05, 0.05, CRANK)), (0.0, 0.0, CRANK / 2), revolute("a", Y)),
        Body(
            "coupler", 2.0, box_inertia(2.0, (COUPLER, 0.05, 0.05)), (COUPLER / 2, 0.0, 0.0),
            revolute("b", Y, (0.0, 0.0, CRANK)), "crank",
        ),
        Body(
            "rocker", 1.5, box_inertia(1.5, (0.05, 0.05, ROCKER)), (0.0, 0.0, ROCKER / 2),
            revolute("c", Y, (BASE, 0.0, 0.0)),
        ),
    )  # fmt: skip
    hinge = ClosingJoint("d", "revolute", "coupler", "rocker", Y, (COUPLER, 0.0, 0.0), (0.0, 0.0, ROCKER))
    return Model("four_bar", bodies, closing_joints=(hinge,))


def four_bar_start(model, angle=0.3, rate=3.0):
    """(q, v) with the crank at an angle [rad], turning [rad/s]."""
    q = assembled(model, model.configuration(angles={"a": angle, "b": 0.1, "c": 0.2}), held=["a"])
    return q, closed_velocity(model, q, [rate, 0.0, 0.0], held=["a"])


def linkage(angle):
    """Angles of coupler and rocker over that of the crank, and their derivatives: two circles, and a linear system."""
    tip = CRANK * np.array([math.sin(angle), math.cos(angle)])
    way = np.array([BASE, 0.0]) - tip
    distance = np.linalg.norm(way)
    along = (COUPLER**2 - ROCKER**2 + distance**2) / (2.0 * distance)
    across = math.sqrt(COUPLER**2 - along**2)
    joined = tip + (along * way + across * np.array([-way[1], way[0]])) / distance
    arm, lever = joined - tip, joined - (BASE, 0.0)
    coupler, rocker = math.atan2(-arm[1], arm[0]), math.atan2(lever[0], lever[1])
    turned = np.array([[arm[1], -lever[1]], [-arm[0], lever[0]]])  # (x, z) by an angle about y: (z, −x)
    rates = np.linalg.solve(turned, -np.array([tip[1], -tip[0]]))
    return coupler, rocker, rates


def reduced(angle):
    """Of the whole linkage: its inertia [kg m²] and its potential [J] as functions of the crank's angle."""
    coupler, rocker, (coupler_rate, rocker_rate) = linkage(angle)
    tip = CRANK * np.array([math.sin(angle), math.cos(angle)])
    half = 0.5 * COUPLER * np.array([math.cos(coupler), -math.sin(coupler)])
    velocity = np.array([tip[1], -tip[0]]) + coupler_rate * np.array([half[1], -half[0]])
    rods = (1.0 * CRANK**2 / 4, 1.5 * ROCKER**2 / 4)
    own = (1.0 * (0.05**2 + CRANK**2) / 12, 2.0 * (0.05**2 + COUPLER**2) / 12, 1.5 * (0.05**2 + ROCKER**2) / 12)
    inertia = rods[0] + own[0] + 2.0 * velocity @ velocity + own[1] * coupler_rate**2
    inertia += (rods[1] + own[2]) * rocker_rate**2
    height = 1.0 * tip[1] / 2 + 2.0 * (tip + half)[1] + 1.5 * ROCKER * math.cos(rocker) / 2
    return inertia, G * height


def crank_angle(duration, angle=0.3, rate=3.0):
    """[rad] where the crank is after a time in which it never turns back: its energy alone says how fast it is."""
    inertia, potential = reduced(angle)
    total = 0.5 * inertia * rate**2 + potential

    def speed(_time, where):
        inertia, potential = reduced(where[0])
        return [math.sqrt(2.0 * (total - potential) / inertia)]

    return solve_ivp(speed, (0.0, duration), [angle], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]


def joined_tree(rng, kind):
    """(model, q, v): a floating tree whose last two tips are joined where they are, and a motion that keeps them so."""
    tree = random_tree(rng, 7).without_contacts()
    first, second = leaves(tree)[-2:]
    q = random_configuration(tree, rng)
    motion = forward_kinematics(tree, q)
    R, S = (quaternion_matrix(motion.orientation[i]) for i in (first, second))
    point = motion.position[first] + R @ rng.uniform(-0.1, 0.1, 3)
    places = [T.T @ (point - motion.position[i]) + tree.bodies[i].com for T, i in ((R, first), (S, second))]
    back = motion.orientation[first] * (1.0, -1.0, -1.0, -1.0)
    aligned = tuple(quaternion_product(back, motion.orientation[second]))  # the second body's axes to the first one's
    names = (tree.bodies[first].name, tree.bodies[second].name)
    axis = rng.normal(size=3)
    more = {"universal": {"second_axis": np.cross(axis, rng.normal(size=3))}, "helical": {"pitch": 0.05}}
    joint = ClosingJoint("loop", kind, *names, axis, *map(tuple, places), aligned, **more.get(kind, {}))
    model = Model("joined", tree.bodies, gravity=tree.gravity, closing_joints=(joint,))
    return model, q, closed_velocity(model, q, rng.normal(size=model.nv))


def leaves(model):
    return [i for i in range(model.n) if i not in model.tree.parent]
