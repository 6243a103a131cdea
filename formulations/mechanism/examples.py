"""Example mechanisms, those of Johnson & Murphey 2009, and their initial configurations.

All move in the plane of x and z: rotations are about y, gravity is along −z.
"""

import math
from collections.abc import Mapping

from biped.inputs.checks import above_zero
from formulations.mechanism.constraints import Coincident, PointAlong
from formulations.mechanism.frames import Frame, Mass, ry, tx, tz
from formulations.mechanism.mechanism import Mechanism

#: Gravitational acceleration [m/s²], as in the paper's listing 1.
GRAVITY = (0.0, 0.0, -9.81)

#: Approximate initial angles [rad] of the closed-chain device, from the authors' program.
CLOSED_CHAIN_START: Mapping[str, float] = {
    "K": 0.523599,
    "M": -1.34537,
    "J": -0.523599,
    "H": 1.21009,
    "A": -0.523599,
    "C": 1.5385,
    "E": 1.22497,
}

#: Pairs of frames that close the chains of the device.
CLOSED_CHAIN_PINS = (("G", "G2"), ("O", "O2"))


def n_link_pendulum(links: int, *, length: float = 1.0, mass: float = 1.0, inertia: float = 0.0) -> Mechanism:
    """Return a planar chain of pendulums, each with its mass at its lower end (section VI-A).

    Args:
        links: number of links; their coordinates are J1, J2, …, from the top.
        length: [m] length of each link.
        mass: [kg] mass at the lower end of each link.
        inertia: [kg m²] moment of inertia of each mass about its centre.

    Raises:
        InputError: ``links`` is not positive.
    """
    return Mechanism(f"pendulum_{links}", frames=[pendulum_frames(links, length, (mass, inertia, inertia, inertia))],
                     gravity=GRAVITY)  # fmt: skip


def pendulum_frames(links: int, length: float, mass: Mass) -> Frame:
    """Return the uppermost frame of `n_link_pendulum`, with the others as its descendants."""
    above_zero(links, "links")
    below: tuple[Frame, ...] = ()
    for k in range(links, 0, -1):
        below = (ry(f"J{k}", tz(-length, *below, name=f"end {k}", mass=mass)),)
    return below[0]


def closed_chain_device() -> Mechanism:
    """Return the device of figure 6 and listing 1: seven point masses of 1 kg and two closed chains.

    Its initial configuration is ``satisfy_constraints(CLOSED_CHAIN_START)``.
    """
    along = ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    pins = [PointAlong(*pair, direction) for pair in CLOSED_CHAIN_PINS for direction in along]
    return Mechanism("closed_chain_device", frames=closed_chain_frames(), gravity=GRAVITY, constraints=pins)


def closed_chain_frames() -> list[Frame]:
    """Return the frames of `closed_chain_device`, one for each of three arms, with descendants."""
    first = ry(
        "J",
        tz(-0.5, name="I", mass=1.0),
        tz(-1.0, ry("H", tz(-1.0, name="G", mass=1.0), tz(-2.0, name="O2"), name="H")),
        name="J",
    )
    left = ry(
        "K",
        tz(-1.0, name="L", mass=1.0),
        tz(-2.0, ry("M", tz(-0.5, name="N", mass=1.0), tz(-1.0, name="O"), name="M")),
        name="K",
    )
    wrist = ry("E", tz(-0.5, name="F", mass=1.0), tz(-1.0, name="G2"), name="E")
    elbow = ry("C", tz(-0.375, name="D", mass=1.0), tz(-0.75, wrist), name="C")
    right = ry("A", tz(-1.0, name="B", mass=1.0), tz(-2.0, elbow), name="A")
    return [first, tx(-1.5, left), tx(1.5, right)]


def scissor_lift(
    segments: int, *, length: float = 5.0, mass: float = 1.0, inertia: float = 1.0, slider: float = 1.0
) -> Mechanism:
    """Return a hanging scissor lift: many links and closed chains, one degree of freedom (figures 9 and 10).

    The upper left joint is pinned at the origin, the upper right joint slides along x. Coordinates: ``slider`` [m], and
    for segment k the angles ``Lk`` and ``Rk`` [rad] of the links whose upper ends are on its left and right.

    Args:
        segments: number of segments, each a cross of two links.
        length: [m] length of a link.
        mass: [kg] mass of a link, at its middle.
        inertia: [kg m²] moment of inertia of a link about its middle.
        slider: [kg] mass of the slider.

    Raises:
        InputError: ``segments`` is not positive.
    """
    frames = scissor_frames(segments, length=length, mass=mass, inertia=inertia, slider=slider)
    pins = [Coincident(*pair, "xz") for pair in scissor_pins(segments)]
    return Mechanism(f"scissor_lift_{segments}", frames=frames, gravity=GRAVITY, constraints=pins)


def scissor_frames(segments: int, *, length: float, mass: float, inertia: float, slider: float) -> list[Frame]:
    """Return the frames of `scissor_lift` at the top, with descendants."""
    above_zero(segments, "segments")
    load = (mass, inertia, inertia, inertia)
    left: tuple[Frame, ...] = ()
    right: tuple[Frame, ...] = ()
    for k in range(segments, 0, -1):
        # The left link of a segment ends where the right link of the next segment starts.
        left, right = ((_scissor_link(f"L{k}", length, load, right),), (_scissor_link(f"R{k}", length, load, left),))
    return [*left, tx("slider", *right, name="slider", mass=slider)]


def _scissor_link(name: str, length: float, load: Mass, below: tuple[Frame, ...]) -> Frame:
    return ry(name, tx(length / 2.0, name=f"{name} middle", mass=load), tx(length, *below, name=f"{name} end"))


def scissor_pins(segments: int) -> list[tuple[str, str]]:
    """Return the pairs of frames of `scissor_lift` that are pinned: the middles of the links of each segment."""
    return [(f"L{k} middle", f"R{k} middle") for k in range(1, segments + 1)]


def scissor_configuration(segments: int, angle: float, *, length: float = 5.0) -> dict[str, float]:
    """Return all coordinates of `scissor_lift` with its links at ``angle`` [rad] below the horizontal."""
    q = {"slider": length * math.cos(angle), "L1": angle, "R1": math.pi - angle}
    for k in range(2, segments + 1):
        q |= {f"L{k}": 2.0 * angle - math.pi, f"R{k}": math.pi - 2.0 * angle}
    return q


def planar_human() -> Mechanism:
    """Return a human of 75 kg and 1.75 m in the sagittal plane, facing +x, a tree as in figure 2.

    Coordinates: ``x`` and ``z`` of the hips, trunk, shoulder and elbow (both arms as one), and hip, knee and ankle of
    each leg. Masses, lengths and radii of gyration: Winter, *Biomechanics and Motor Control of Human Movement*, 4th
    edition, 2009, table 4.1.
    """
    forearm = _segment("elbow", (), mass=3.3, length=0.44, centre=0.17, gyration=0.12)
    arm = _segment("shoulder", (forearm,), mass=4.2, length=0.33, centre=0.14, gyration=0.11)
    head = tz(0.33, name="head")  # its mass is included in the trunk's
    trunk = ry("trunk", tz(0.33, name="trunk", mass=_load(43.35, 0.25)), tz(0.50, arm, head, name="shoulder"))
    hips = tz("z", trunk, _leg("left"), _leg("right"), name="hips")
    return Mechanism("planar_human", frames=[tx("x", hips)], gravity=GRAVITY)


def _leg(side: str) -> Frame:
    toes = tx(0.13, name=f"{side} toes")
    foot = ry(f"{side} ankle", tz(-0.04, tx(0.07, name=f"{side} foot", mass=_load(1.1, 0.13)), toes))
    shank = _segment(f"{side} knee", (foot,), mass=3.5, length=0.43, centre=0.19, gyration=0.13)
    return _segment(f"{side} hip", (shank,), mass=7.5, length=0.43, centre=0.19, gyration=0.14)


def _segment(
    joint: str, below: tuple[Frame, ...], *, mass: float, length: float, centre: float, gyration: float
) -> Frame:
    """Return a segment below a joint: ``centre`` [m] from joint to centre of mass, and ``below`` at its end."""
    return ry(joint, tz(-centre, name=f"below the {joint}", mass=_load(mass, gyration)), tz(-length, *below))


def _load(mass: float, gyration: float) -> Mass:
    moment = mass * gyration**2
    return mass, moment, moment, moment
