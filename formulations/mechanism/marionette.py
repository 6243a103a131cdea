"""Marionette of Johnson, Schultz & Murphey 2014, section VIII-B: a human on six strings.

The human moves in three dimensions and faces y; gravity is along −z. The strings are massless: each holds a frame at
a variable distance below a point that moves in a horizontal plane. The numbers of variables and constraints are the
paper's; lengths, masses and posture are from its authors' program, to four digits.
"""

import math
from collections.abc import Mapping

from contact.arrays import Floats
from formulations.mechanism.constraints import Distance
from formulations.mechanism.forces import Damper
from formulations.mechanism.frames import Frame, Mass, kinematic, rx, ry, rz, tx, ty, tz
from formulations.mechanism.mechanism import Mechanism

#: Gravitational acceleration [m/s²].
GRAVITY = (0.0, 0.0, -9.8)
#: Damping of each dynamic coordinate [N·s/m or N·m·s].
DAMPING = 0.2
#: Height of the plane of the strings' upper ends above the origin [m].
CEILING = 2.0
#: Half widths of the hips and shoulders, and lengths of segments [m].
HIP, SHOULDER = 0.1, 0.1581
TORSO, NECK, LOWER_HEAD, UPPER_HEAD = 0.4913, 0.045, 0.045, 0.09
FEMUR, TIBIA, HUMERUS, RADIUS = 0.4, 0.4, 0.25, 0.2577
#: Masses [kg] and principal moments of inertia [kg m²].
PELVIS: Mass = (10.0, 1.0, 1.0, 1.0)
HEAD: Mass = (0.75, 0.08, 0.08, 0.08)
LEG: Mass = (1.5, 0.3, 0.3, 0.1)
ARM: Mass = (0.5, 0.05, 0.05, 0.01)
#: Attachment of each string: frame, and offset (x, y) [m] from it.
STRINGS: Mapping[str, tuple[str, tuple[float, float]]] = {
    "left_shoulder": ("spine_top", (-0.1, 0.0)),
    "right_shoulder": ("spine_top", (0.1, 0.0)),
    "left_hand": ("left_wrist", (0.0, 0.1)),
    "right_hand": ("right_wrist", (0.0, 0.1)),
    "left_knee": ("left_femur_end", (0.0, 0.1)),
    "right_knee": ("right_femur_end", (0.0, 0.1)),
}
#: Angles at the start [rad]; all other coordinates are zero.
POSTURE: Mapping[str, float] = {
    "torso_rx": -0.05,
    **{f"{side}_elbow_rx": 1.57 for side in ("left", "right")},
    **{f"{side}_hip_rx": 0.5 * math.pi - 0.6 for side in ("left", "right")},
    **{f"{side}_knee_rx": 0.6 - 0.5 * math.pi for side in ("left", "right")},
}


def marionette() -> Mechanism:
    """Return the marionette: 22 dynamic and 18 kinematic coordinates, 6 constraints; its start: ``marionette_start``.

    Dynamic: ``torso_tx`` … ``torso_rx``, three for each hip and shoulder, one for each knee and elbow. Kinematic, for
    each of the ``STRINGS``: position ``…_x``, ``…_y`` [m] of its upper end, and its length ``…_length`` [m].
    """
    body, above = _body(), tz(CEILING, *(_string(name) for name in STRINGS))
    moved = Mechanism("body", [body]).coordinates
    return Mechanism(
        "marionette",
        [body, above],
        GRAVITY,
        constraints=[Distance(f"{s}_hook", f"{s}_above", f"{s}_length", name=s) for s in STRINGS],
        forces=[Damper(coordinate, DAMPING) for coordinate in moved],
    )


def marionette_start(mechanism: Mechanism) -> Floats:
    """Return the configuration q (40,) of the ``POSTURE`` with vertical strings."""
    q = dict(POSTURE)
    hanging = mechanism.configuration(q)
    for string in STRINGS:
        x, y, z = mechanism.frame(f"{string}_hook").position(hanging)
        q |= {f"{string}_x": x, f"{string}_y": y, f"{string}_length": CEILING - z}
    return mechanism.configuration(q)


def _string(name: str) -> Frame:
    """Return the frames of a string: its upper end, and its lower end if the string is vertical."""
    end = rx(math.pi, tz(kinematic(f"{name}_length")))
    return tx(kinematic(f"{name}_x"), ty(kinematic(f"{name}_y"), end, name=f"{name}_above"))


def _body() -> Frame:
    skull = tz(NECK, tz(LOWER_HEAD, tz(UPPER_HEAD, name="head", mass=HEAD)))
    chest = tz(TORSO, skull, _arm("left", -1.0), _arm("right", 1.0), *_hooks("spine_top"), name="spine_top")
    pelvis = rx("torso_rx", _leg("left", -1.0), _leg("right", 1.0), chest, name="pelvis", mass=PELVIS)
    return tx("torso_tx", ty("torso_ty", tz("torso_tz", rz("torso_rz", ry("torso_ry", pelvis)))))


def _leg(side: str, sign: float) -> Frame:
    shin = rx(f"{side}_knee_rx", tz(-0.5 * TIBIA, name=f"{side}_tibia", mass=LEG), tz(-TIBIA, name=f"{side}_foot"))
    knee = tz(-FEMUR, shin, *_hooks(f"{side}_femur_end"), name=f"{side}_femur_end")
    thigh = tz(-0.5 * FEMUR, name=f"{side}_femur", mass=LEG)
    return tx(sign * HIP, _turned(f"{side}_hip", thigh, knee))


def _arm(side: str, sign: float) -> Frame:
    wrist = tz(-RADIUS, *_hooks(f"{side}_wrist"), name=f"{side}_wrist")
    elbow = rx(f"{side}_elbow_rx", tz(-0.5 * RADIUS, name=f"{side}_radius", mass=ARM), wrist)
    upper = tz(-0.5 * HUMERUS, name=f"{side}_humerus", mass=ARM)
    return tx(sign * SHOULDER, _turned(f"{side}_shoulder", upper, tz(-HUMERUS, elbow)))


def _turned(joint: str, *below: Frame) -> Frame:
    """Return frames turned by three angles."""
    return rz(f"{joint}_rz", ry(f"{joint}_ry", rx(f"{joint}_rx", *below)))


def _hooks(frame: str) -> list[Frame]:
    """Return the hook frames of the strings tied near a frame, each along x or y from it."""
    tied = {string: offset for string, (where, offset) in STRINGS.items() if where == frame}
    return [tx(x, name=f"{s}_hook") if x else ty(y, name=f"{s}_hook") for s, (x, y) in tied.items()]
