"""Theoretical limits of a push or a floor displacement, in place or with steps, from inverted pendulums."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from biped.capturability.pendulum import NoLimitError
from biped.capturability.stance import Stance, stance_of
from biped.capturability.steps import IN_PLACE, Footholds, Steps, words_of
from biped.disturbances import Actuators, Platform, Push, Sensors
from biped.dynamics.whole_body import WholeBody
from biped.kernels.loop.measurement import strength_at
from biped.metrics import steps
from biped.model.legs import foot_under
from biped.model.strength import NO_PRESET, human_strength, human_torques
from biped.runs.run import Run
from biped.signals import Signal
from biped.simulation.scene import Scene
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.default_steps import LENGTH, REACTION, TIME
from experiments.studies.threshold.directions import evenly

#: Parameters whose limit is known.
IMPULSE = "push.impulse"
DISPLACEMENT = "platform.size"
#: [m] arbitrary displacement of the floor; the limit does not depend on it.
A_LITTLE = 0.01
HORIZONTAL = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0])}
#: Labels of the limits with feet in place, by column.
STANDING_LIMITS = {"limit": "limit of the inverted pendulum", "limit_hips": "limit with the hips as a flywheel"}


def name_with_steps(count: float) -> str:
    """Return the label of the limit with at most ``count`` steps."""
    return f"limit with {words_of(count)}"


@dataclass(frozen=True)
class Limit:
    """Limit of a push [N·s] or a floor displacement [m] in one direction: the largest that the pendulum withstands."""

    pendulum: float  # limit of a point mass on feet that stay in place
    hips: float | None  # limit with a trunk that turns about the hips; None if the joint limits are unknown
    steps: float | None = None  # limit with as many steps as the controller may take; None if it takes none
    count: float = 0.0  # largest number of steps of the controller; inf: any number

    @property
    def applicable(self) -> float:
        """Limit that applies to the controller: with steps if the controller takes steps, otherwise in place."""
        return self.pendulum if self.steps is None else self.steps

    def over(self, mass: float) -> "Limit":
        """Return the limit divided by a mass [kg]."""
        hips, steps = (None if limit is None else limit / mass for limit in (self.hips, self.steps))
        return Limit(self.pendulum / mass, hips, steps, self.count)

    @property
    def names(self) -> dict[str, str]:
        """Labels of the limits by column; the last one is the limit with steps."""
        return STANDING_LIMITS | ({} if self.steps is None else {"limit_steps": name_with_steps(self.count)})

    @property
    def applicable_name(self) -> str:
        """Label of the limit that applies to the controller."""
        return self.names["limit" if self.steps is None else "limit_steps"]

    @property
    def columns(self) -> dict[str, float]:
        """Known limits by column."""
        columns = zip(self.names, (self.pendulum, self.hips, self.steps), strict=False)
        return {name: value for name, value in columns if value is not None}


@dataclass(frozen=True)
class ScenePush:
    """Push of a scene, with the stance, delay and friction that determine its limits."""

    stance: Stance  # base of support of the model
    azimuth: float  # [rad] direction of the push: 0 drives the model forward, π/2 to its left
    shape: Signal  # impulse given up to a time after the push begins, divided by the whole impulse
    delay: float  # [s] delay of the response
    friction: float  # static friction coefficient of the floor
    most_steps: float = 0.0  # largest number of steps of the controller

    @cached_property
    def limit(self) -> Limit:
        """Limits of the push [N·s] in its direction, with delay and friction."""
        hips = self.impulse(self.azimuth, hips=True) if self.stance.flywheels else None
        usual, steps = Steps(self.most_steps, LENGTH, TIME, REACTION), None
        if usual.count:
            steps = self.impulse(self.azimuth, hips=False, steps=usual)
        return Limit(self.impulse(self.azimuth, hips=False), hips, steps, usual.count)

    def impulse(self, azimuth: float, *, hips: bool, slips: bool = True, steps: Steps | Footholds = IN_PLACE) -> float:
        """Return the limit [N·s] in a direction [rad]; ``slips=False`` assumes that the feet do not slip."""
        friction = self.friction if slips else float("inf")
        return self.stance.impulse(azimuth, self.shape, delay=self.delay, friction=friction, hips=hips, steps=steps)


def push_of(scene: Scene, delay: float | None = None) -> ScenePush:
    """Return a scene's push, with the properties of body and floor that determine its capturability limits.

    Args:
        scene: scene whose only disturbance is one push; sensors and actuators may have delays.
        delay: [s] delay of the response to the push; None: the delay of the scene's sensors.

    Raises:
        NoLimitError: the scene does not have exactly one push, has another disturbance, or its model does not stand.
    """
    pushes = [item for item in scene.disturbances if isinstance(item, Push)]
    rest = [item for item in scene.disturbances if not isinstance(item, (Push, Sensors, Actuators))]
    if len(pushes) != 1 or rest:
        present = ", ".join(type(item).__name__.lower() for item in (*pushes, *rest)) or "none"
        raise NoLimitError(f"a capturability limit needs a push as the only disturbance; the scene has: {present}")
    push, model = pushes[0], scene.model
    sensed = sum(item.delay for item in scene.disturbances if isinstance(item, Sensors))
    forward, left, _ = np.array([model.facing, model.left, (0.0, 0.0, 1.0)]) @ push.unit
    law = scene.controller
    point = None if law is None else law.set_point(model)
    return ScenePush(
        stance_of(model, scene.initial_state.q, _torques(scene)),
        float(np.arctan2(left, forward)),
        push.given.shifted(-push.start).scaled(1.0 / push.impulse),
        sensed if delay is None else delay,
        scene.floor.mu_s,
        law.most_steps() if law is not None and point is not None and point.with_feet else 0.0,
    )


def _torques(scene: Scene) -> dict[str, tuple[float, float]]:
    """Return the largest joint torques [N·m], in both directions, of the scene's strength or of strong young men."""
    model, q = scene.model, scene.initial_state.q
    actuators = [item for item in scene.disturbances if isinstance(item, Actuators) and item.strength != NO_PRESET]
    if not actuators:
        return {joint: (torque, torque) for joint, torque in human_torques(model).items()}
    strong = human_strength(model, actuators[0].strength).items()
    at = {joint: float(q[model.coordinate(joint)]) for joint, _ in strong}
    return {joint: (strength_at(np.array(ahead), at[joint], 0.0), strength_at(np.array(back), at[joint], 0.0))
            for joint, (ahead, back) in strong}  # fmt: skip


def push_under(experiment: Experiment, changes: dict[str, Value], delay: float | None = None) -> ScenePush:
    """Return the push of an experiment under these changes, from a start without jitter; errors as in ``push_of``."""
    without_jitter = {**changes, "initial.jitter": 0.0, IMPULSE: 1.0}
    return push_of(experiment.build(without_jitter), delay)


def footholds_of(scene: Scene, run: Run) -> Footholds:
    """Return a run's recovery steps for the pendulum model: their times [s] since the push, and areas of support.

    Each step moves the contact points of its foot by the displacement of the foot's middle. The support is the convex
    hull of all positions of the feet since the push, including those that they have left. Errors are as in ``push_of``.
    """
    push, model = push_of(scene), scene.model
    body, axes = WholeBody(model, scene.initial_state.q), np.array([model.facing, model.left])
    places: dict[str, Floats] = {
        foot: np.array([
            axes @ (body.contact_position(point.name) - body.com)
            for point in model.contact_points
            if foot_under(model, point.body) == foot
        ])
        for foot in model.feet
    }  # fmt: skip
    taken = steps(run)
    support, supports = push.stance.corners, list[Floats]()
    for foot, ahead, right in zip(taken["foot"], taken["length_ap"], taken["length_ml"], strict=True):
        places[foot] = places[foot] + (ahead, -right)
        support = np.concatenate([support, places[foot]])
        supports.append(support)
    times = np.maximum(taken["onset"] + taken["duration"] - push.delay, 0.0)
    return Footholds(tuple(times.tolist()), tuple(supports))


def displacement_of(scene: Scene) -> Limit:
    """Return the limit [m] of a lasting floor displacement along x or y, for feet that do not slip.

    Raises:
        NoLimitError: the floor moves differently, there is another disturbance, or the model does not stand.
    """
    floors = [item for item in scene.disturbances if isinstance(item, Platform)]
    rest = [item for item in scene.disturbances if not isinstance(item, (Platform, Sensors, Actuators))]
    along = [axis for axis in floors[0].signals if axis in HORIZONTAL] if len(floors) == 1 and not rest else []
    if len(along) != 1 or len(floors[0].signals) != 1:
        raise NoLimitError(
            "a capturability limit of platform.size needs a floor displaced along x or y as the only disturbance"
        )
    motion = floors[0].signals[along[0]]
    size = float(motion.coefficients[-1, 0])
    if size == 0.0 or np.diff(motion.scaled(1.0 / size)(np.linspace(motion.begins, motion.ends, 200))).min() < -1e-9:
        raise NoLimitError("a capturability limit needs a floor that moves in one direction and stays displaced")
    model = scene.model
    forward, left = np.array([model.facing, model.left]) @ (-np.sign(size) * HORIZONTAL[along[0]])
    stance = stance_of(model, scene.initial_state.q)
    delay = sum(item.delay for item in scene.disturbances if isinstance(item, Sensors))
    distance = stance.distance(float(np.arctan2(left, forward)))
    shape = motion.shifted(-motion.begins).scaled(1.0 / size)
    return Limit(float(stance.pendulum.platform(distance, shape, delay)), None)


def limit_under(experiment: Experiment, swept: str, changes: dict[str, Value]) -> Limit | None:
    """Return the pendulum's limit of the swept parameter under these changes; None for a parameter without a limit.

    Raises:
        NoLimitError: there is another disturbance, or the model does not stand.
    """
    if swept == IMPULSE:
        return push_under(experiment, changes).limit
    if swept == DISPLACEMENT:
        return displacement_of(experiment.build({**changes, "initial.jitter": 0.0, DISPLACEMENT: A_LITTLE}))
    return None


def limit_table(
    push: ScenePush,
    directions: int,
    rise: float,
    progress: Callable[[float], None] | None = None,
    steps: Sequence[Steps] = (IN_PLACE,),
) -> pd.DataFrame:
    """Return limits, a row for each number of steps and direction [°]: impulses [N·s], and a floor displacement [m].

    Args:
        push: push, whose azimuth is ignored.
        directions: number of directions, evenly around the model.
        rise: [s] duration of the minimum-jerk displacement of the floor, which drives the model in the direction.
        progress: called with the number of finished rows.
        steps: numbers and timings of the steps that the pendulum may take.
    """
    motion = Signal.step(1.0, 0.0, rise)
    rows = []
    for option in steps:
        for azimuth in evenly(directions):
            limits = _row(push, np.radians(azimuth), motion, option)
            rows.append({"steps": option.count, "direction": azimuth, **limits})
            if progress is not None:
                progress(len(rows))
    return pd.DataFrame(rows)


def _row(push: ScenePush, azimuth: float, motion: Signal, steps: Steps) -> dict[str, float]:
    stance = push.stance
    distance = stance.distance(azimuth)
    row = {"distance": distance}
    for name, hips in zip(STANDING_LIMITS, (False, True), strict=True):
        if not hips or stance.flywheels:
            row[name] = push.impulse(azimuth, hips=hips, steps=steps)
            row[f"{name}_without_friction"] = push.impulse(azimuth, hips=hips, slips=False, steps=steps)
    reach = distance + steps.reach(stance.pendulum)
    return row | {"platform": stance.pendulum.platform(reach, motion, push.delay)}
