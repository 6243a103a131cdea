"""Balance of a standing person: ankle, hip and stepping strategy with gains of people."""

from dataclasses import dataclass, field, replace
from typing import Any

from controllers.stepping import DOUBLE_SUPPORT, SINGLE_SUPPORT, BackwardSteps, Stepping, StepTasks

_SINGLE = replace(SINGLE_SUPPORT, kd_trunk=14.0, kd_momentum=8.0, weight_trunk=1e-3)
_DOUBLE = replace(DOUBLE_SUPPORT, kp_trunk=20.0, kd_trunk=10.0)
_BACKWARD = BackwardSteps(max_foot_load=1.2, landing_speed_ratio=0.45)


def _of_person(name: str, default: Any) -> Any:
    """Return the field ``name`` of ``Stepping`` with another default."""
    return field(default=default, metadata=Stepping.__dataclass_fields__[name].metadata)


@dataclass(frozen=True)
class Person(Stepping):
    """Controller with the ankle, hip and stepping strategy of a standing person (docs/person.md).

    It is ``Stepping`` with other gains and weights. ``capture`` = k makes the ankle torque m g h (1 + k/ω)(φ + φ̇/ω) of
    the sway φ, with ω² = g/h: K = 1.76 and K/ω = 0.53 s, within 1.5 to 1.9 (Peterka 2002) and 0.3 to 0.63 s of people.
    Low weights of trunk, posture and angular momentum let the hips act as soon as the centre of pressure is at its
    limit, ``margin`` from an edge. High damping keeps the joints stable with the lag of muscles.
    """

    capture: float = _of_person("capture", 2.5)
    kd_height: float = _of_person("kd_height", 25.0)
    kp_trunk: float = _of_person("kp_trunk", 30.0)
    kd_trunk: float = _of_person("kd_trunk", 8.0)
    kd_posture: float = _of_person("kd_posture", 25.0)
    weight_trunk: float = _of_person("weight_trunk", 3e-4)
    weight_momentum: float = _of_person("weight_momentum", 5e-4)
    weight_posture: float = _of_person("weight_posture", 5e-6)
    margin: float = _of_person("margin", 0.015)
    trigger: float = _of_person("trigger", 0.013)
    repeat_trigger: float = _of_person("repeat_trigger", 0.01)
    shortest_swing: float = _of_person("shortest_swing", 0.25)
    overshoot: float = _of_person("overshoot", 0.01)
    time_cost: float = _of_person("time_cost", 0.25)
    length_cost: float = _of_person("length_cost", 0.5)
    kp_swing: float = _of_person("kp_swing", 300.0)
    kd_swing: float = _of_person("kd_swing", 50.0)
    single_support: StepTasks = _SINGLE
    double_support: StepTasks = _DOUBLE
    backward: BackwardSteps = _BACKWARD
