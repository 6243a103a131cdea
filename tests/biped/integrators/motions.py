"""Motions that several tests begin with, what they keep, where the continuous dynamics leads, and orders."""

import numpy as np
from scipy.integrate import solve_ivp

from biped import Model, State, chain, dynamics


def thrown(model: Model, seed: int, size: float = 2.0) -> State:
    rng = np.random.default_rng(seed)
    return State.at(model, model.neutral(), size * rng.normal(size=model.nv))


def tumbling(model: Model, seed: int = 1, size: float = 2.0) -> State:
    rng = np.random.default_rng(seed)
    v = size * rng.normal(size=model.nv)
    v[:3] = rng.normal(size=3)
    return State.at(model, model.neutral(), v)


def momenta(state: State) -> np.ndarray:
    linear, about_root = state.momentum[:3], state.momentum[3:6]
    return np.concatenate([linear, about_root + np.cross(state.q[:3], linear)])


def swinging(links: int, span: float) -> tuple[Model, np.ndarray, np.ndarray]:
    """A chain that begins at rest, its configuration, and (q, p) where scipy's order 8 takes it in some time."""
    model = chain(links).without_contacts()
    q = model.configuration(angles=dict.fromkeys(model.joint_names, 0.4))
    n = model.nq

    def flow(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], dynamics.forward_dynamics(model, y[:n], y[n:], np.zeros(n))])

    y = solve_ivp(flow, (0, span), np.concatenate([q, np.zeros(n)]), "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return model, q, np.concatenate([y[:n], dynamics.mass_matrix(model, y[:n]) @ y[n:]])


def order_of(steps, errors) -> float:
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
