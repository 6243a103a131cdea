"""Human strength: the torque of each joint as a function of angle and speed, by age and sex.

Flexion and extension: D. E. Anderson, M. L. Madigan, M. A. Nussbaum, "Maximum voluntary joint torque as a function of
joint angle and angular velocity: model development and application to the lower limb", Journal of Biomechanics 40,
2007, table 3, means, as in the Rigid Body Dynamics Library (``Millard2016TorqueMuscle.cc``). Torques of other motions
are constant; those without a source are our choice. ``docs/human-strength.md`` lists all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from biped.model.errors import ModelError, unknown
from biped.model.geometry import STANDARD_GRAVITY
from biped.model.model import Model

#: [N·m] Peak torques of strong young men, rounded up, by joint of a leg: flexion and extension of Anderson, Madigan and
#: Nussbaum (2007), abduction and rotation of the hip of Cahalan et al. (1989), roll of the ankle of Ottaviani et al.
#: (1995).
HUMAN_TORQUES = {
    "hip_pitch": 250.0, "hip_roll": 150.0, "hip_yaw": 100.0,
    "knee_pitch": 300.0, "ankle_pitch": 220.0, "ankle_roll": 60.0,
}  # fmt: skip


#: Value of ``strength`` that sets no torque limits.
NO_PRESET = "none"


class Strength(NamedTuple):
    """Greatest torque of a joint in one direction, for the kernels.

    At the angle q and the rate ω in this direction it is peak · cos(width (q − centre)) · (1 + gain ω)/(1 + loss ω).
    For opposite motion it is multiplied by (1 + lengthening |ω|), with |ω| for ω.
    """

    peak: float  # [N·m]
    width: float = 0.0  # [1/rad]
    centre: float = 0.0  # [rad]
    gain: float = 0.0  # [s/rad]
    loss: float = 0.0  # [s/rad]
    lengthening: float = 0.0  # [s/rad]


@dataclass(frozen=True)
class People:
    """Strength of a group of people.

    Attributes:
        anderson: coefficients C1 to C6 by motion: torque over weight times height; [1/rad]; [rad]; speeds [rad/s] with
            3/4 and 1/2 of the torque at rest; [s/rad]. Flexion and dorsiflexion are positive angles.
        abduction: [N·m/kg] abduction of the hip, also used for adduction, which is at least as strong.
        rotation: [N·m/kg] rotation of the hip in both directions.
        inversion: inversion torque of the ankle, over weight times height.
        eversion: eversion torque of the ankle, over weight times height.
    """

    anderson: Mapping[str, tuple[float, float, float, float, float, float]]
    abduction: float
    rotation: float
    inversion: float
    eversion: float


# Abduction: isokinetic, at 60 °/s, of athletes (Sugimoto et al. 2014). Adduction is stronger (Cahalan et al. 1989), but
# set equal. Rotation is weaker than abduction (Cahalan et al. 1989); the number is our choice. Inversion and eversion:
# young people standing on the leg, both sexes (Ottaviani et al. 2001).
_ABDUCTION = {"men": 1.29, "women": 1.13}
_ROTATION, _INVERSION, _EVERSION = 0.8, 0.027, 0.016
#: Ratio of old to young people's strength in women's abduction (Johnson et al. 2004); our choice for the other motions.
_OLD = 1.0 - 0.34

#: Strength by age and sex.
PEOPLE = {
    f"{age}-{sex}": People(
        dict(zip(("hip_extension", "hip_flexion", "knee_extension", "knee_flexion", "ankle_extension", "ankle_flexion"),
                 rows, strict=True)),
        *(left * number for number in (_ABDUCTION[sex], _ROTATION, _INVERSION, _EVERSION)),
    )
    for age, sex, left, rows in (
        ("young", "men", 1.0, (
            (0.161, 0.958, 0.932, 1.578, 3.190, 0.242), (0.113, 0.738, -0.214, 2.095, 4.267, 0.218),
            (0.163, 1.258, 1.133, 1.517, 3.952, 0.095), (0.087, 0.869, 0.522, 2.008, 5.233, 0.304),
            (0.095, 1.391, 0.408, 0.987, 3.558, 0.295), (0.033, 1.510, -0.187, 0.699, 1.940, 0.828),
        )),
        ("young", "women", 1.0, (
            (0.181, 0.697, 1.242, 1.567, 3.164, 0.164), (0.127, 0.650, -0.350, 2.136, 4.349, 0.156),
            (0.159, 1.187, 1.274, 1.393, 3.623, 0.173), (0.080, 0.873, 0.635, 1.698, 4.412, 0.175),
            (0.104, 1.399, 0.424, 0.862, 3.109, 0.189), (0.027, 1.079, -0.302, 0.864, 2.399, 0.771),
        )),
        ("old", "men", _OLD, (
            (0.144, 0.896, 1.125, 1.561, 3.152, 0.477), (0.101, 0.762, -0.269, 1.875, 3.819, 0.296),
            (0.137, 1.310, 1.067, 1.141, 3.152, 0.386), (0.069, 0.838, 0.437, 1.718, 4.476, 0.414),
            (0.106, 1.465, 0.498, 0.490, 1.767, 0.571), (0.029, 1.419, -0.174, 0.561, 1.558, 1.198),
        )),
        ("old", "women", _OLD, (
            (0.138, 0.707, 1.542, 1.613, 3.256, 0.360), (0.081, 0.625, -0.422, 2.084, 4.245, 0.196),
            (0.124, 1.347, 1.140, 1.066, 2.855, 0.464), (0.060, 0.897, 0.445, 1.121, 2.922, 0.389),
            (0.125, 1.299, 0.580, 0.587, 1.819, 0.348), (0.022, 1.096, -0.369, 0.458, 1.242, 1.401),
        )),
    )
}  # fmt: skip


def human_torques(model: Model) -> Mapping[str, float]:
    """Return peak torques [N·m] of strong young men by joint, for both directions; empty if ``model`` is not human."""
    if model.name.partition(" ")[0] not in ("human", "subject"):
        return {}
    kinds = {joint: joint.partition("_")[2] for joint in model.joint_names}
    return {joint: HUMAN_TORQUES[kind] for joint, kind in kinds.items() if kind in HUMAN_TORQUES}


def human_strength(model: Model, people: str) -> dict[str, tuple[Strength, Strength]]:
    """Return, by joint of the legs, the strength of ``people`` ("young-men", …) in positive and in negative direction.

    Raises:
        ModelError: ``people`` is not a key of ``PEOPLE``, or the model does not have the legs of ``human()``.
    """
    if people not in PEOPLE:
        raise unknown("age group", people, tuple(PEOPLE))
    weight, stature, group = model.total_mass, _stature(model), PEOPLE[people]
    strengths = {}
    for side, mirrored in (("left", 1.0), ("right", -1.0)):
        for name, pair in _leg(group, weight, stature, mirrored).items():
            strengths[f"{side}_{name}"] = pair
    for name in strengths:
        if name not in model.joint_names:
            raise ModelError(f"strength {people!r} needs human legs, but model {model.name!r} has no joint {name!r}")
    return strengths


def _stature(model: Model) -> float:
    """Return the height [m] of the top of the head at home."""
    tops = [
        float(model.home_positions[model.body_index(point.body)][2]) + point.position[2] for point in model.body_points
    ]
    if not tops:
        raise ModelError(f"model {model.name!r} needs body_points, of which the highest gives its stature")
    return max(tops)


def _leg(group: People, mass: float, stature: float, mirrored: float) -> dict[str, tuple[Strength, Strength]]:
    """Return the strengths of a left leg, or mirrored; adduction, flexion, inward rotation, inversion are positive."""
    size = -STANDARD_GRAVITY[2] * mass * stature
    pitch = {name: _anderson(row, size) for name, row in group.anderson.items()}
    knee = tuple(pitch[name]._replace(centre=-pitch[name].centre) for name in ("knee_extension", "knee_flexion"))
    inversion, eversion = Strength(group.inversion * size), Strength(group.eversion * size)
    return {
        "hip_roll": (Strength(group.abduction * mass),) * 2,
        "hip_pitch": (pitch["hip_flexion"], pitch["hip_extension"]),
        "hip_yaw": (Strength(group.rotation * mass),) * 2,
        "knee_pitch": (knee[0], knee[1]),
        "ankle_roll": (inversion, eversion) if mirrored > 0.0 else (eversion, inversion),
        "ankle_pitch": (pitch["ankle_flexion"], pitch["ankle_extension"]),
    }


def _anderson(row: tuple[float, float, float, float, float, float], size: float) -> Strength:
    """Return the equation of Anderson et al. as a hyperbola: 3/4 of the torque at rest at C4, half at C5."""
    c1, c2, c3, c4, c5, c6 = row
    return Strength(c1 * size, c2, c3, (c5 - 3.0 * c4) / (2.0 * c4 * c5), (2.0 * c5 - 4.0 * c4) / (2.0 * c4 * c5), c6)
