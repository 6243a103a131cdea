"""The balance task: simulation, observations, actions and rewards, for one model or for many at once."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from biped.control.controller import Controller, Impedance
from biped.control.observation import joint_places
from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model, human
from biped.runs.postures import standing
from biped.runs.state import State
from biped.runs.summary import Ending
from biped.runs.verdict import UNDECIDED
from biped.simulation.scene import Scene
from biped.simulation.world import Fall
from contact.arrays import Floats


@dataclass(frozen=True)
class Commanded(Controller):
    """Controller for external torques; joints are damped within the time steps."""

    period: float = 15e-3
    damping: float = 0.0

    def impedance(self, model: Model) -> Impedance | None:
        """Return the damping as an impedance, or None."""
        return Impedance(damping=dict.fromkeys(model.joint_names, self.damping)) if self.damping else None


def standing_human() -> Scene:
    """Return the human at rest, upright on its feet; ``Fall()`` defines a fall."""
    model = human()
    return Scene(model, state=standing(model), fall=Fall(), step=2.5e-3)


@dataclass(frozen=True)
class BalanceTask:
    """Task of keeping a model with a floating root upright in place, with little effort.

    The observation is, in this order: height of the root's centre of mass [m]; its orientation (w, x, y, z); the
    coordinates of the joints [rad or m]; velocity [m/s] and angular velocity [rad/s] of the root, world axes; the rates
    of the joints [rad/s or m/s]; and the vertical GRF on each contact point divided by the model's weight. The
    horizontal position on the floor is not observed.

    An action is a share, from −1 to 1, of each joint's ``torque_limit``, in the order of ``model.joint_names``, and is
    constant for a ``period``. The reward of a period is

        alive + posture · exp(−(Δz / 0.1 m)² − (tilt / 0.3 rad)²) − effort · mean(action²)

    with Δz the change of the root's height since the start, and the tilt of the root's vertical axis. An episode is
    terminated by a fall or a failed time step (both without the reward ``alive``), and truncated after ``duration``.
    Then ``info`` has the ``verdict`` and ``reason``.

    Attributes:
        scene: simulated scene with its start; its controller is not used.
        period: [s] time between two actions; the scene's time step must divide it.
        duration: [s] longest duration of an episode.
        torque_limit: [N·m or N] torque limit of every joint.
        damping: [N·m·s/rad or N·s/m] damping of every joint; without damping, random torques make the light feet spin.
            With damping, the scene must not have ``Sensors`` or ``Actuators``.
        scatter: [rad or m] standard deviation of the joints' coordinates at the start.
        alive: reward for a period without a fall.
        posture: reward for a period at the initial height without tilt.
        effort: cost of a period with all torques at their limits.

    Raises:
        InputError: a number is out of range, or the scene's model has no floating root or no joints.
    """

    scene: Scene = field(default_factory=standing_human)
    period: float = 15e-3
    duration: float = 10.0
    torque_limit: float = 200.0
    damping: float = 5.0
    scatter: float = 0.01
    alive: float = 1.0
    posture: float = 1.0
    effort: float = 0.1

    def __post_init__(self) -> None:
        for name in ("period", "duration", "torque_limit"):
            above_zero(getattr(self, name), name)
        for name in ("damping", "scatter", "alive", "posture", "effort"):
            zero_or_above(getattr(self, name), name)
        model = self.model
        if not (model.is_floating and model.joint_names):
            raise InputError(f"model {model.name!r}: the balance task needs a floating root and joints")

    @property
    def model(self) -> Model:
        """Balancing model."""
        return self.scene.model

    @cached_property
    def commanded(self) -> Scene:
        """Scene with external torques."""
        return replace(self.scene, controller=Commanded(self.period, self.damping))

    @cached_property
    def start(self) -> State:
        """Initial state of an episode, without scatter."""
        return self.scene.initial_state

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Lengths of an observation and of an action."""
        return self.model.nq - 2 + self.model.nv + self.model.nc, len(self.model.joint_names)

    @cached_property
    def weight(self) -> float:
        """Weight of the model [N]."""
        return self.model.total_mass * float(np.linalg.norm(self.model.gravity))

    def draw(self, random: np.random.Generator) -> State:
        """Return an initial state with scattered joints."""
        q = self.start.q.copy()
        coordinates = joint_places(self.model).coordinates
        q[coordinates] += random.normal(0.0, self.scatter, len(coordinates))
        return State.at(self.model, q, time=self.start.time)

    def observed(self, q: Floats, v: Floats, contact_forces: Floats) -> Floats:
        """Return observations (…, size) of configurations (…, nq), velocities (…, nv) and forces (…, nc, 3)."""
        return np.concatenate([q[..., 2:], v, contact_forces[..., 2] / self.weight], axis=-1)

    def end(self, ending: Ending | None, late: bool) -> dict[str, str]:
        """Return verdict and reason of a finished episode, as for runs; an empty dict while it continues."""
        if ending is not None:
            return {"verdict": ending.verdict, "reason": ending.reason}
        return {"verdict": UNDECIDED, "reason": f"cut off, upright, after {self.duration:g} s"} if late else {}

    def rewards(self, q: Floats, actions: Floats, fell: bool | np.ndarray) -> Floats:
        """Return rewards (…) of periods that end in configurations (…, nq) after actions (…, joints)."""
        rise = q[..., 2] - self.start.q[2]
        upright = 1.0 - 2.0 * (q[..., 4] ** 2 + q[..., 5] ** 2)  # cosine of the tilt
        tilt = np.arccos(np.maximum(np.minimum(upright, 1.0), -1.0))
        posture = np.exp(-((rise / 0.1) ** 2) - (tilt / 0.3) ** 2)
        effort = (actions * actions).sum(axis=-1) / self.sizes[1]
        return self.alive * (1.0 - np.asarray(fell)) + self.posture * posture - self.effort * effort
