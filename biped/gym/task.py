"""The balance task: simulation, observations, actions and rewards, for one model or for many at once."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from biped.control.controller import Controller, Impedance
from biped.control.observation import joint_places
from biped.errors import InputError
from biped.gym.randomization import Episode, Randomization
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model, human
from biped.model.geometry import quaternion_matrix
from biped.model.importing.options import by_joint
from biped.runs.postures import standing
from biped.runs.state import State
from biped.runs.summary import Ending
from biped.runs.verdict import UNDECIDED
from biped.simulation.scene import Scene
from biped.simulation.world import Fall
from contact.arrays import Floats

#: One number for all joints, or numbers by joint name, in which ``*`` is a wildcard; later entries take precedence.
ByJoint = float | Mapping[str, float]
#: Allowed values of ``actions`` and ``observation``.
CHOICES = {"actions": ("torques", "targets"), "observation": ("world", "body")}
#: Attributes of servos.
SERVO = ("stiffness", "servo_damping", "action_scale")


class Sample(NamedTuple):
    """End of a period or start of an episode, of one environment or, with a leading axis, of several."""

    q: Floats  #: (…, nq) configuration
    v: Floats  #: (…, nv) velocity
    contact_forces: Floats  #: (…, nc, 3) [N] GRF on each contact point, world axes
    action: Floats  #: (…, joints) action of the period, from −1 to 1; zero at the start
    previous: Floats  #: (…, joints) action of the period before
    fell: bool | np.ndarray  #: (…) True after a fall or a failed time step


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

    With ``observation="world"``, the observation is, in this order: height of the root's centre of mass [m]; its
    orientation (w, x, y, z); the coordinates of the joints [rad or m]; velocity [m/s] and angular velocity [rad/s] of
    the root, world axes; the rates of the joints [rad/s or m/s]; and the vertical GRF on each contact point divided by
    the model's weight. The horizontal position on the floor is not observed.

    With ``observation="body"``, the observation does not depend on position and heading: direction of gravity, velocity
    [m/s] of the origin of the root's frame, and angular velocity [rad/s] of the root, all in the root's axes; the
    coordinates of the joints minus the initial posture; their rates; and the last action. A policy's file calls these
    ``projected_gravity``, ``base_lin_vel``, ``base_ang_vel``, ``joint_pos``, ``joint_vel`` and ``last_action``.

    An action has a number from −1 to 1 for each joint, in the order of ``model.joint_names``, constant for a
    ``period``. It is a share of ``torque_limit``, or with ``actions="targets"`` the target of a servo with the torque

        stiffness · (initial posture + action_scale · action − coordinate) − servo_damping · rate

    limited to ``torque_limit``; targets are limited to the range of the joint. The reward of a period is the sum of the
    terms of ``rewards``, by default

        alive + posture · exp(−(Δz / 0.1 m)² − (tilt / 0.3 rad)²) − effort · mean(action²)

    with Δz the change of the root's height since the start, and the tilt of the root's vertical axis. An episode is
    terminated by a fall or a failed time step (both without the reward ``alive``), and truncated after ``duration``.
    Then ``info`` has the ``verdict`` and ``reason``. Subclasses may override ``sizes``, ``observed`` and ``rewards``.

    Attributes:
        scene: simulated scene with its start; its controller is not used.
        period: [s] time between two actions; the scene's time step must divide it.
        duration: [s] longest duration of an episode.
        torque_limit: [N·m or N] torque limit, for all joints or by joint.
        damping: [N·m·s/rad or N·s/m] damping of every joint; without damping, random torques make the light feet spin.
            With damping, the scene must not have ``Sensors`` or ``Actuators``.
        scatter: [rad or m] standard deviation of the joints' coordinates at the start.
        alive: reward for a period without a fall.
        posture: reward for a period at the initial height and upright; less with a change of height, and tilt.
        effort: cost of a period with all actions at −1 or 1.
        actions: "torques" or "targets".
        observation: "world" or "body".
        stiffness: [N·m/rad or N/m] stiffness of the servos, for all joints or by joint.
        servo_damping: [N·m·s/rad or N·s/m] damping of the servos, for all joints or by joint.
        action_scale: [rad or m] change of the target by an action of 1, for all joints or by joint.
        servo_period: [s] time between two computations of the torques; it must divide ``period``. None: the scene's
            time step for targets, ``period`` for torques.
        randomization: ranges of values that each episode draws; or a function of ``scene`` and a random generator that
            returns an episode's scene with the same joints, contact points, time step and start.

    Raises:
        InputError: a number is out of range, a choice is unknown, a joint has no number, ``servo_period`` does not
            divide ``period``, or the scene's model has no floating root or no joints.
        ModelError: a table by joint has a name that is no joint.
    """

    scene: Scene = field(default_factory=standing_human)
    period: float = 15e-3
    duration: float = 10.0
    torque_limit: ByJoint = 200.0
    damping: float = 5.0
    scatter: float = 0.01
    alive: float = 1.0
    posture: float = 1.0
    effort: float = 0.1
    actions: Literal["torques", "targets"] = "torques"
    observation: Literal["world", "body"] = "world"
    stiffness: ByJoint = 100.0
    servo_damping: ByJoint = 2.0
    action_scale: ByJoint = 0.5
    servo_period: float | None = None
    randomization: Randomization | Callable[[Scene, np.random.Generator], Scene] | None = None

    def __post_init__(self) -> None:
        for name in ("period", "duration"):
            above_zero(getattr(self, name), name)
        for name in ("damping", "scatter", "alive", "posture", "effort"):
            zero_or_above(getattr(self, name), name)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} = {getattr(self, name)!r}: it must be {' or '.join(map(repr, allowed))}")
        unused = [name for name in SERVO if getattr(self, name) != getattr(type(self), name)]
        if unused and self.actions == "torques":
            raise InputError(f"{', '.join(unused)}: only for servos; set actions='targets', or leave this out")
        _ = self.ticks
        model = self.model
        if not (model.is_floating and model.joint_names):
            raise InputError(f"model {model.name!r}: the balance task needs a floating root and joints")
        for name in ("torque_limit", *SERVO):
            self.by_joint(name)
        load = getattr(self.randomization, "payload", None)
        if load is not None and model.root.mass + load[0] <= 0.0:
            raise InputError(f"payload = {load}: the root has only {model.root.mass:g} kg; give a greater least value")

    @property
    def model(self) -> Model:
        """Balancing model."""
        return self.scene.model

    @cached_property
    def commanded(self) -> Scene:
        """Scene with external torques."""
        return replace(self.scene, controller=Commanded(self.period / self.ticks, self.damping))

    @cached_property
    def ticks(self) -> int:
        """Number of servo periods in a period."""
        tick = self.scene.step if self.actions == "targets" else self.period
        tick = tick if self.servo_period is None else self.servo_period
        above_zero(tick, "servo_period")
        if not math.isclose(round(self.period / tick) * tick, self.period, rel_tol=1e-9):
            raise InputError(f"period = {self.period:g} s: it must be a multiple of the servo period, {tick:g} s")
        return round(self.period / tick)

    @cached_property
    def start(self) -> State:
        """Initial state of an episode, without scatter."""
        return self.scene.initial_state

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Lengths of an observation and of an action."""
        model, joints = self.model, len(self.model.joint_names)
        return 9 + 3 * joints if self.observation == "body" else model.nq - 2 + model.nv + model.nc, joints

    @cached_property
    def weight(self) -> float:
        """Weight of the model [N]."""
        return self.model.total_mass * float(np.linalg.norm(self.model.gravity))

    @cached_property
    def initial_posture(self) -> Floats:
        """Coordinates of the joints at the start, (joints,) [rad or m]."""
        return self.start.q[joint_places(self.model).coordinates]

    def by_joint(self, name: str) -> Floats:
        """Return the values (joints,) of ``torque_limit``, ``stiffness``, ``servo_damping`` or ``action_scale``."""
        given, joints = getattr(self, name), self.model.joint_names
        table = given if isinstance(given, Mapping) else {"*": given}
        for value in table.values():
            (above_zero if name == "torque_limit" else zero_or_above)(value, name)
        values = by_joint(table, name, joints)
        if missing := [joint for joint in joints if joint not in values]:
            raise InputError(f"{name}: no value for {', '.join(missing)}; add them, or begin with a value for '*'")
        return np.array([values[joint] for joint in joints])

    def draw(self, random: np.random.Generator) -> State:
        """Return an initial state with scattered joints."""
        q = self.start.q.copy()
        coordinates = joint_places(self.model).coordinates
        q[coordinates] += random.normal(0.0, self.scatter, len(coordinates))
        return State.at(self.model, q, time=self.start.time)

    def episode(self, random: np.random.Generator) -> Episode:
        """Return a drawn episode; it has no new scene without randomization."""
        if self.randomization is None:
            return None, 0, {}
        if isinstance(self.randomization, Randomization):
            return self.randomization.draw(self.commanded, random, self.start.time)
        scene, usual = self.randomization(self.scene, random), self.scene
        before, after = ((s.model.joint_names, s.model.contact_names, s.step) for s in (usual, scene))
        if after != before or scene.state is not usual.state:
            raise InputError("randomization: it must not change joints, contact points, time step and start of a scene")
        return replace(scene, controller=self.commanded.controller), 0, {}

    def clipped(self, actions: Any, running: Any = True) -> Floats:
        """Return actions (…, joints) within −1 and 1.

        Raises:
            InputError: the shape is wrong, or an action of a ``running`` environment is not finite.
        """
        given, size = np.asarray(actions, dtype=float), self.sizes[1]
        shape = (*np.shape(running), size)
        if given.shape != shape:
            raise InputError(f"the action has shape {given.shape}: it must be {shape}")
        bad = ~np.isfinite(given) & np.expand_dims(running, -1)
        if bad.any():
            raise InputError(f"the action of {self.model.joint_names[np.argwhere(bad)[0, -1]]} is not finite")
        return np.clip(given, -1.0, 1.0)

    def torques(self, actions: Floats, motion: Any) -> Floats:
        """Return torques (…, joints) [N·m or N] of actions (…, joints).

        Servos need ``motion``, an object with configurations ``q`` (…, nq) and velocities ``v`` (…, nv).
        """
        limits, stiffness, damping, scale, lower, upper = self._servos
        if self.actions == "torques":
            return limits * actions
        places = joint_places(self.model)
        target = np.minimum(np.maximum(self.initial_posture + scale * actions, lower), upper)
        torques = stiffness * (target - motion.q[..., places.coordinates]) - damping * motion.v[..., places.dofs]
        return np.minimum(np.maximum(torques, -limits), limits)

    @cached_property
    def _servos(self) -> tuple[Floats, ...]:
        """Torque limit, stiffness, damping, action scale, lowest and highest target of the servos, each (joints,)."""
        joints = [self.model.bodies[self.model.joint_index(name)].joint for name in self.model.joint_names]
        ranges = np.array([(joint.lower, joint.upper) for joint in joints]).T
        return *map(self.by_joint, ("torque_limit", *SERVO)), *ranges

    def observed(self, sample: Sample) -> Floats:
        """Return observations (…, size)."""
        q, v, places = sample.q, sample.v, joint_places(self.model)
        if self.observation == "world":
            return np.concatenate([q[..., 2:], v, sample.contact_forces[..., 2] / self.weight], axis=-1)
        # Rotation (…, 3, 3) from the root's to world axes: a velocity times it has the root's axes.
        axes = np.moveaxis(quaternion_matrix(np.moveaxis(q[..., 3:7], -1, 0)), (0, 1), (-2, -1))
        turn_rate = _times(v[..., 3:6], axes)
        velocity = _times(v[..., :3], axes) - _times(turn_rate, np.cross(np.eye(3), self.model.root.com))
        angles, rates = q[..., places.coordinates] - self.initial_posture, v[..., places.dofs]
        return np.concatenate([-axes[..., 2, :], velocity, turn_rate, angles, rates, sample.action], axis=-1)

    def end(self, ending: Ending | None, late: bool) -> dict[str, str]:
        """Return verdict and reason of a finished episode, as for runs; an empty dict while it continues."""
        if ending is not None:
            return {"verdict": ending.verdict, "reason": ending.reason}
        return {"verdict": UNDECIDED, "reason": f"cut off, upright, after {self.duration:g} s"} if late else {}

    def rewards(self, sample: Sample) -> dict[str, Floats]:
        """Return the terms (…) of the reward by name; the reward is their sum."""
        rise = sample.q[..., 2] - self.start.q[2]
        upright = 1.0 - 2.0 * (sample.q[..., 4] ** 2 + sample.q[..., 5] ** 2)  # cosine of the tilt
        tilt = np.arccos(np.maximum(np.minimum(upright, 1.0), -1.0))
        return {
            "alive": self.alive * (1.0 - np.asarray(sample.fell)),
            "posture": self.posture * np.exp(-((rise / 0.1) ** 2) - (tilt / 0.3) ** 2),
            "effort": -self.effort * ((sample.action * sample.action).sum(axis=-1) / self.sizes[1]),
        }


def _times(vectors: Floats, matrices: Floats) -> Floats:
    """Return vectors (…, 3) times matrices (…, 3, 3), rounded equally for one and for many, unlike ``matmul``."""
    x, y, z = (vectors[..., k, np.newaxis] * matrices[..., k, :] for k in range(3))
    return x + y + z


class ActionHistory:
    """The last actions of ``count`` environments of a task; each acts after the delay of its episode.

    Attributes:
        actions: (periods, count, joints) actions of the present period, of the period before, and so on.
    """

    def __init__(self, task: BalanceTask, count: int) -> None:
        self._ticks, self._each, drawn = task.ticks, np.arange(count), task.randomization
        longest = drawn.delay[1] if isinstance(drawn, Randomization) else 0
        self.actions = np.zeros((1 + max(1, -(-longest // self._ticks)), count, task.sizes[1]))
        self._delays = np.zeros(count, dtype=np.int64)

    def begin(self, which: Any, delay: int) -> None:
        """Begin an episode of environment ``which`` with a delay [servo periods]; actions before it are zero."""
        self.actions[:, which], self._delays[which] = 0.0, delay

    def take(self, actions: Floats) -> None:
        """Store the actions (count, joints) of a new period."""
        self.actions = np.concatenate([actions.reshape(1, *self.actions.shape[1:]), self.actions[:-1]])

    def delayed(self, tick: int) -> Floats:
        """Return the actions (count, joints) that act in servo period ``tick`` of the present period."""
        return self.actions[-((tick - self._delays) // self._ticks), self._each]
