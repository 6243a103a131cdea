"""Contacts between bodies: detected at the start of each step, stored after the ground contacts.

Arrays are large enough for all possible contacts; a step gets the part in use, without distant pairs of bodies.
The graph always has the edges of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biped.disturbances import Force, Push
from biped.disturbances.push import Torque
from biped.kernels.solve.contacts import Contacts, pairs_of
from contact.arrays import Floats
from formulations.assembly.collision import Collider, collide
from formulations.assembly.compilation import frame_of
from formulations.assembly.graph import edge_between
from formulations.assembly.kernels.system import Buffers, Motion, System
from formulations.assembly.manifold import MOST_POINTS, Manifold

if TYPE_CHECKING:
    from formulations.assembly.assembly import Assembly

#: [m] Distance below which two bodies are checked at any speed, since springs may press them together.
TOUCHING = 1e-6
#: Columns of a pair and their units: normal force, force on the second body in world axes, smallest gap.
COLUMNS = {"normal": "N", "force_x": "N", "force_y": "N", "force_z": "N", "gap": "m"}


class Parts(NamedTuple):
    """Arguments of a time step: views of the arrays, cut to the present number of contacts."""

    system: System
    motion: Motion
    buffers: Buffers


def buffers_for_encounters(assembly: Assembly) -> tuple[int, int]:
    """Return the greatest possible numbers of contacts between bodies and of their slack-multiplier pairs."""
    pairs = sum(pairs_of(pair.friction, assembly.directions) for pair in assembly.touching)
    return MOST_POINTS * len(assembly.touching), MOST_POINTS * pairs


class Encounters:
    """Contacts between the bodies of an assembly, detected at each step.

    Args:
        assembly: an assembly with pairs of bodies that may touch.
        step: [s] length of a step.
    """

    def __init__(self, assembly: Assembly, step: float) -> None:
        self.assembly, self.step = assembly, step
        self.ends = assembly.structure.touching
        self.colliders = {
            i: Collider(shape)
            for i, body in enumerate(assembly.bodies)
            if (shape := body.shape) is not None and any(i in pair for pair in self.ends)
        }
        self.edges = [edge_between(assembly.system.graph, second, first) for first, second in self.ends]
        self.gap = np.full(len(self.ends), np.nan)
        self.pair_of: list[int] = []
        self.contacts = self._buffers()
        self._size = np.array([0.0 if body.shape is None else body.shape.size for body in assembly.bodies])
        self._least = np.array([np.linalg.eigvalsh(np.array(body.inertia))[0] for body in assembly.bodies])

    def _buffers(self) -> Contacts:
        """Return the arrays of the ground contacts, extended by buffers for body contacts."""
        ground, (more, _) = self.assembly.system.contacts, buffers_for_encounters(self.assembly)
        return Contacts(**{
            name: array if name == "directions" else np.pad(array, ((0, more), *(((0, 0),) * (array.ndim - 1))))
            for name, array in ground._asdict().items()
        })  # fmt: skip

    def gaps(self, positions: Floats, rotations: Floats) -> Iterator[float]:
        """Yield the gaps [m] of all pairs, negative for penetrating bodies."""
        for first, second in self.ends:
            yield self._collided(first, second, positions, rotations)[0]

    def _collided(self, first: int, second: int, positions: Floats, rotations: Floats) -> tuple[float, Manifold]:
        return collide(
            self.colliders[first], self.colliders[second], (positions[first], positions[second]),
            (rotations[first], rotations[second]),
        )  # fmt: skip

    def hastening(self, disturbances: Iterable[Push | Force | Torque], begin: float, end: float) -> float:
        """Return the greatest change of speed [m/s] that disturbances give to any point between two times [s]."""
        gained = np.zeros(len(self._size))
        for load in disturbances:
            i, given = self.assembly.body_index(load.body), float(np.linalg.norm(load.delivered(begin, end)))
            arm = 1.0 if isinstance(load, Torque) else float(np.linalg.norm(load.point))
            straight = 0.0 if isinstance(load, Torque) else given / self.assembly.bodies[i].mass
            gained[i] += straight + given * arm * self._size[i] / self._least[i]
        return float(gained.max())

    def reach(self, motion: Motion, hastening: float = 0.0) -> float:
        """Return the greatest distance [m] by which two bodies can approach each other in a step.

        No body becomes faster than the fastest one is now, except by gravity and ``hastening`` [m/s].
        """
        bodies = self.assembly.system.bodies
        speed = np.linalg.norm(motion.momentum[:, :3], axis=1) / bodies.mass
        turning = np.linalg.norm(motion.momentum[:, 3:], axis=1) / self._least
        fastest = float((speed + turning * self._size).max()) + hastening
        return max(2.0 * self.step * (fastest + float(np.linalg.norm(bodies.gravity)) * self.step), TOUCHING)

    def begin_step(self, motion: Motion, buffers: Buffers, hastening: float = 0.0, *, all_gaps: bool) -> Parts:
        """Return the arguments of the next step, with all contacts that may close during the step.

        Args:
            motion: motion with arrays for all possible contacts.
            buffers: buffers for all possible contacts.
            hastening: [m/s] greatest change of speed of a body by disturbances.
            all_gaps: True to compute ``gap`` for distant bodies too.
        """
        count, pairs = len(self.assembly.contacts), self.assembly.structure.pairs
        reach = self.reach(motion, hastening)
        positions, rotations = motion.poses.com, motion.poses.rotation.reshape(-1, 3, 3)
        self.pair_of.clear()
        for number, (first, second) in enumerate(self.ends):
            apart = np.linalg.norm(positions[first] - positions[second]) - self._size[first] - self._size[second]
            if apart > reach and not all_gaps:
                continue
            self.gap[number], manifold = self._collided(first, second, positions, rotations)
            if self.gap[number] <= reach:
                kept = self._within(number, manifold, reach)
                pairs = self._write(number, kept, count, pairs, positions, rotations)
                count += len(kept.first)
                self.pair_of += [number] * len(kept.first)
        motion.contact_impulse[len(self.assembly.contacts) : count] = 0.0
        return self._parts(motion, buffers, count, pairs)

    def _within(self, number: int, manifold: Manifold, reach: float) -> Manifold:
        """Return the points of a manifold that may touch during the step."""
        first, second = (self.colliders[i].shape.radius for i in self.ends[number])
        near = manifold.gaps - first - second <= max(reach, self.gap[number])
        return Manifold(manifold.normal, manifold.first[near], manifold.second[near])

    def _write(self, number: int, manifold: Manifold, at: int, pairs: int, positions: Floats, rotations: Floats) -> int:
        """Write the points of a pair into the arrays from index ``at`` on; return the number of their slacks."""
        (first, second), (edge, is_upper), arrays = self.ends[number], self.edges[number], self.contacts
        radii = [self.colliders[i].shape.radius for i in (first, second)]
        friction = float(self.assembly.touching[number].friction)
        each, end = pairs_of(friction, self.assembly.directions), at + len(manifold.first)
        arrays.body[at:end], arrays.other[at:end] = second, first
        arrays.point[at:end] = (manifold.second - positions[second]) @ rotations[second]
        arrays.other_point[at:end] = (manifold.first - positions[first]) @ rotations[first]
        arrays.frame[at:end] = frame_of(manifold.normal.tolist())
        arrays.height[at:end], arrays.radius[at:end] = sum(radii), radii[1]
        arrays.friction[at:end], arrays.edge[at:end], arrays.is_upper[at:end] = friction, edge, is_upper
        arrays.pair[at:end] = pairs + each * np.arange(end - at)
        return pairs + each * (end - at)

    def _parts(self, motion: Motion, buffers: Buffers, count: int, pairs: int) -> Parts:
        def cut(rows: int, arrays: Motion | Buffers | Contacts, *names: str) -> dict[str, Any]:
            return {name: getattr(arrays, name)[:rows] for name in names}

        contacts = self.contacts._replace(
            **cut(count, self.contacts, *(name for name in Contacts._fields if name != "directions"))
        )
        return Parts(
            self.assembly.system._replace(contacts=contacts),
            motion._replace(**cut(count, motion, "contact_impulse"), **cut(pairs, motion, "slack", "dual")),
            buffers._replace(
                **cut(2 * count, buffers, "arm_begin", "arm_end", "lead_begin", "lead_end"),
                **cut(count, buffers, "gap_begin", "slide"),
                **cut(pairs, buffers, "dimension", "target", "slack_change", "dual_change", "base_slack", "base_dual"),
            ),
        )

    def row(self, parts: Parts, time: float) -> Floats:
        """Return the contact forces (pairs, columns) of a solved step, whose impulses act over ``time`` [s]."""
        table = np.zeros((len(self.ends), len(COLUMNS)))
        table[:, -1] = self.gap
        begin = len(self.assembly.contacts)
        for k, number in enumerate(self.pair_of, begin):
            impulse = parts.motion.contact_impulse[k]
            table[number, 0] += impulse[0] / time
            table[number, 1:4] += impulse @ parts.system.contacts.frame[k].reshape(3, 3) / time
        return table
