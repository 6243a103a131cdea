"""What is seen of a run over time: poses of all bodies, forces, centres of mass and pressure, in arrays."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biped.disturbances import Disturbance, Force, Push
from biped.dynamics import centre_of_mass, momentum
from biped.errors import InputError
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.variational.equations import reference_point
from biped.metrics.kernels.support import COP, FEET, XCOM, fill_series, gather_base
from biped.metrics.layout import Layout
from biped.metrics.measuring import rows_of
from biped.model import Model
from biped.runs.row_layout import columns_of
from biped.runs.run import Run
from biped.runs.state import State
from contact.arrays import Floats
from experiments.visualization.viewer.scenery import Scenery, scenery_of
from experiments.visualization.viewer.snapshot import Snapshot, quaternion_between, turned

#: A push, or what a saved run says of it.
Acting = Disturbance | Mapping[str, Any]


@dataclass(frozen=True)
class Film:
    """All that is seen of a run: one row for each recorded time; world axes, SI units.

    Attributes:
        model: what moves, with its loads.
        scenery: what else there is.
        time: (rows,) [s], increasing.
        position: (rows, n, 3) [m] the bodies' centres of mass.
        quaternion: (rows, n, 4) unit quaternions, scalar first, body to world.
        contact_place: (rows, nc, 3) [m].
        contact_force: (rows, nc, 3) [N].
        contact_mode: (rows, nc).
        com: (rows, 3) [m].
        com_on_floor: (rows, 3) [m].
        xcom: (rows, 3) [m].
        cop: (rows, 3) [m].
        base: (rows, nc, 3) [m] corners of the support polygon, counter-clockwise from above.
        corners: (rows,) how many of them count.
        platform: (rows, 7) pose of a floor that moves, or None.
        thrown: (rows, 7) pose of a thrown box, or None.
        push_body: (pushes,) numbers of the bodies that are pushed.
        push_place: (rows, pushes, 3) [m] where.
        push_force: (rows, pushes, 3) [N] mean force from a row to the next one.
    """

    model: Model
    scenery: Scenery
    time: Floats
    position: Floats
    quaternion: Floats
    contact_place: Floats
    contact_force: Floats
    contact_mode: NDArray[np.int64]
    com: Floats
    com_on_floor: Floats
    xcom: Floats
    cop: Floats
    base: Floats
    corners: NDArray[np.int64]
    platform: Floats | None = None
    thrown: Floats | None = None
    push_body: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    push_place: Floats = field(default_factory=lambda: np.zeros((1, 0, 3)))
    push_force: Floats = field(default_factory=lambda: np.zeros((1, 0, 3)))

    @property
    def begins(self) -> float:
        """[s]."""
        return float(self.time[0])

    @property
    def ends(self) -> float:
        """[s]."""
        return float(self.time[-1])

    def row_at(self, time: float) -> int:
        """The last row that is not after a time; the first one if all are.

        Raises:
            InputError: the time is not a number.
        """
        if not math.isfinite(time):
            raise InputError(f"time = {time!r}: it must be a finite number of seconds")
        return max(int(np.searchsorted(self.time, time, side="right")) - 1, 0)

    def at(self, time: float) -> Snapshot:
        """The instant at a time; before the first row and after the last one, that row.

        Places and orientations are interpolated between two rows; forces, modes, the support polygon and the centre of
        pressure, which may jump, are those of the last row before.

        Raises:
            InputError: the time is not a number.
        """
        k = self.row_at(time)
        nxt = min(k + 1, len(self.time) - 1)
        time = min(max(time, self.begins), self.ends)
        part = 0.0 if nxt == k else float((time - self.time[k]) / (self.time[nxt] - self.time[k]))
        return Snapshot(
            time=time,
            position=_between(self.position, k, nxt, part),
            quaternion=quaternion_between(self.quaternion[k], self.quaternion[nxt], part),
            contact_place=_between(self.contact_place, k, nxt, part),
            contact_force=self.contact_force[k],
            contact_mode=self.contact_mode[k],
            com=_between(self.com, k, nxt, part),
            com_on_floor=_between(self.com_on_floor, k, nxt, part),
            xcom=self.xcom[k],
            cop=self.cop[k],
            base=self.base[k, : self.corners[k]],
            platform=_pose_between(self.platform, k, nxt, part),
            thrown=_pose_between(self.thrown, k, nxt, part),
            push_body=self.push_body,
            push_place=_between(self.push_place, k, nxt, part),
            push_force=self.push_force[k],
        )

    def sampled(self, times: Sequence[float] | Floats) -> list[Snapshot]:
        """The instants at some times."""
        return [self.at(float(time)) for time in times]

    def rows(self, chosen: Any) -> "Film":
        """The same film with fewer rows; ``chosen`` indexes them."""
        fixed = ("model", "scenery", "push_body")
        parts = {item.name: getattr(self, item.name) for item in fields(self)}
        return Film(**{name: v if name in fixed or v is None else v[chosen] for name, v in parts.items()})


def film_of(run: Run, disturbances: Sequence[Disturbance] | None = None) -> Film:
    """What is seen of a run.

    Args:
        run: it.
        disturbances: those that acted. A saved run knows of a force that follows a signal only when it begins and
            ends, and its impulse: without them its mean is shown throughout.

    Raises:
        InputError: the table is empty, or not that of the run's model.
    """
    model = run.state.model
    if not len(run.frame):
        raise InputError("the run has no rows: there is nothing to see")
    layout = Layout.of(model, list(run.frame.columns))
    rows = rows_of(run)
    thrown = _block(run, "thrown")
    scenery = scenery_of(model, run.disturbances)
    pushes = _pushes_of(run) if disturbances is None else [d for d in disturbances if isinstance(d, (Push, Force))]
    coordinates = run.frame[list(model.coordinate_names)].to_numpy(dtype=float)
    return _film(layout, model, coordinates, rows, thrown, scenery, pushes)


def film_of_state(state: State, disturbances: Sequence[Disturbance] = ()) -> Film:
    """A film of one row: what is seen of a state; pushes are the mean over the last step."""
    model, arrays = state.model, state.arrays
    columns = columns_of(model, platform=state.floor is not None)
    layout = Layout.of(model, columns.names)
    row = np.full((1, len(columns.names)), np.nan)
    places = layout.places
    row[0, places.time] = state.time
    row[0, places.com : places.com + 3] = centre_of_mass(model, arrays.q)
    row[0, places.momentum : places.momentum + 3] = _linear_momentum(state)
    place_points = _poses(model, arrays.q[np.newaxis])[2][0]
    for c, place in enumerate(places.contact):
        row[0, place : place + 7] = (arrays.found[c], *arrays.force[c], *place_points[c])
    if state.floor is not None:
        row[0, places.platform : places.platform + 7] = (*state.floor[0:3], *state.floor[12:16])
    thrown = None if state.thrown is None else state.thrown[np.newaxis, :7].copy()
    scenery = scenery_of(model, disturbances)
    pushes = [d for d in disturbances if isinstance(d, (Push, Force))]
    step = float(arrays.clock[LAST_STEP_LENGTH])
    spans = np.array([state.time - step, state.time])
    return _film(layout, model, arrays.q[np.newaxis].copy(), row, thrown, scenery, pushes, spans)


def _linear_momentum(state: State) -> Floats:
    """(3,) [N·s] that of a root that floats is what its first three velocities carry; else by the last step's rates."""
    if state.model.is_floating:
        return state.arrays.momentum[:3]
    return momentum(state.model, state.arrays.q, state.arrays.cache.rate).linear


def _film(
    layout: Layout,
    model: Model,
    coordinates: Floats,
    rows: Floats,
    thrown: Floats | None,
    scenery: Scenery,
    pushes: Sequence[Push | Force],
    spans: Floats | None = None,
) -> Film:
    """From raw rows; ``spans`` are the ends of the times over which a push is averaged, one more than rows."""
    places, count = layout.places, model.nc
    time = rows[:, places.time].copy()
    position, quaternion, points = _poses(model, coordinates)
    contact = np.stack([rows[:, p : p + 7] for p in places.contact], axis=1) if count else np.zeros((len(rows), 0, 7))
    series = np.empty((len(rows), FEET + len(layout.feet)))
    fill_series(rows, places, layout.body(), layout.room(), series)
    platform = None if places.platform < 0 else rows[:, places.platform : places.platform + 7].copy()
    com = rows[:, places.com : places.com + 3].copy()
    base, corners = _bases(layout, rows, platform)
    flat = np.column_stack([series[:, COP : COP + 2], np.zeros(len(rows))])
    spans = np.append(time, time[-1]) if spans is None else spans
    bodies = np.array([model.body_index(push.body) for push in pushes], dtype=np.int64)
    offsets = np.array([push.point for push in pushes], dtype=float).reshape(-1, 3)
    return Film(
        model=model,
        scenery=scenery,
        time=time,
        position=position,
        quaternion=quaternion,
        contact_place=contact[:, :, 4:7] if count else points,
        contact_force=contact[:, :, 1:4],
        contact_mode=contact[:, :, 0].astype(np.int64),
        com=com,
        com_on_floor=_on_floor(com[:, :2], platform),
        xcom=_on_floor(series[:, XCOM : XCOM + 2], platform),
        cop=flat if platform is None else platform[:, :3] + turned(platform[:, 3:], flat),
        base=base,
        corners=corners,
        platform=platform,
        thrown=thrown,
        push_body=bodies,
        push_place=position[:, bodies] + turned(quaternion[:, bodies], offsets),
        push_force=_push_forces(pushes, spans),
    )


def _poses(model: Model, coordinates: Floats) -> tuple[Floats, Floats, Floats]:
    """Places and orientations of all bodies, and contact points, for each row of configurations."""
    motion, rates = new_tree_data(model.n, model.nv, model.nc), np.zeros(model.nv)
    position, quaternion = np.empty((len(coordinates), model.n, 3)), np.empty((len(coordinates), model.n, 4))
    contact = np.empty((len(coordinates), model.nc, 3))
    for k, q in enumerate(np.ascontiguousarray(coordinates)):
        set_tree_data(model.tree, q, rates, motion)
        origin = np.asarray(reference_point(model.tree, q))
        position[k] = origin + motion.poses.com
        quaternion[k] = motion.poses.quaternion
        contact[k] = origin + motion.poses.contact
    return position, quaternion, contact


def _bases(layout: Layout, rows: Floats, platform: Floats | None) -> tuple[Floats, NDArray[np.int64]]:
    """The corners of the support polygons, on the floor, and how many there are."""
    count = len(layout.places.contact)
    corners, flat = np.zeros(len(rows), dtype=np.int64), np.zeros((len(rows), count, 2))
    room = layout.room()
    for k in range(len(rows) if count else 0):
        corners[k] = gather_base(rows[k], layout.places, room)
        flat[k, : corners[k]] = room.hull[: corners[k]]
    base = _on_floor(flat.reshape(-1, 2), None if platform is None else np.repeat(platform, count, axis=0))
    return base.reshape(len(rows), count, 3), corners


def _on_floor(places: Floats, platform: Floats | None) -> Floats:
    """(rows, 3) the floor's points at places (rows, 2) as seen from above."""
    if platform is None:
        return np.column_stack([places, np.zeros(len(places))])
    normal = turned(platform[:, 3:], np.array([0.0, 0.0, 1.0]))
    away = places - platform[:, :2]
    height = platform[:, 2] - np.sum(normal[:, :2] * away, axis=1) / normal[:, 2]
    return np.column_stack([places, height])


def _push_forces(pushes: Sequence[Push | Force], spans: Floats) -> Floats:
    """(rows, pushes, 3) [N] the mean force of each over each span: what it gives, exactly, over how long that takes."""
    length = np.diff(spans)
    forces = np.zeros((len(length), len(pushes), 3))
    for j, push in enumerate(pushes):
        given = np.diff(push.given(spans))
        size = np.divide(given, length, out=np.zeros_like(given), where=length > 0.0)
        forces[:, j] = size[:, np.newaxis] * push.unit
    return forces


def _pushes_of(run: Run) -> list[Push | Force]:
    """The pushes and forces that a saved run tells of; a force that follows a signal as its mean."""
    from biped.signals import Signal

    found: list[Push | Force] = []
    delivered = run.events[run.events["kind"] == "push"]
    for acted in run.disturbances:
        told = {name: value for name, value in acted.items() if name != "kind"}
        if acted["kind"] == "push":
            told |= {name: tuple(told[name]) for name in ("direction", "point")}
            found.append(Push(**told))
        elif acted["kind"] == "force":
            begins, ends = acted["signal"]["begins"], acted["signal"]["ends"]
            force = Force(acted["body"], tuple(acted["direction"]), Signal.rectangle(1.0, begins, ends - begins))
            start = max(begins, float(run.frame["time"].iloc[0]))
            given = delivered[(delivered["subject"] == acted["body"]) & np.isclose(delivered["time"], start)]
            impulse = given[["impulse_x", "impulse_y", "impulse_z"]].to_numpy(dtype=float)
            # Of several forces on a body from the same time on, the one that goes along this one's line.
            along = [float(one @ force.unit) for one in impulse if np.allclose(np.cross(one, force.unit), 0.0)]
            mean = along[0] / (min(ends, float(run.frame["time"].iloc[-1])) - start) if along else 0.0
            signal = Signal.rectangle(mean, begins, ends - begins)
            found.append(Force(force.body, force.direction, signal, tuple(acted["point"])))
    return found


def _block(run: Run, prefix: str) -> Floats | None:
    """(rows, 7) the columns of a pose, or None."""
    if f"{prefix}_x" not in run.frame.columns:
        return None
    names = [f"{prefix}_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    return run.frame[names].to_numpy(dtype=float)


def _between(values: Floats, k: int, nxt: int, part: float) -> Floats:
    if part == 0.0:
        return values[k]
    between: Floats = (1.0 - part) * values[k] + part * values[nxt]
    return between


def _pose_between(poses: Floats | None, k: int, nxt: int, part: float) -> Floats | None:
    if poses is None:
        return None
    turn = quaternion_between(poses[k, 3:], poses[nxt, 3:], part)
    return np.concatenate([_between(poses[:, :3], k, nxt, part), turn])
