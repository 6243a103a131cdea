"""Poses of all bodies, forces, CoM, XCoM and CoP of a run over time."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from biped.disturbances import Disturbance, Force, Push
from biped.dynamics import centre_of_mass, forward_kinematics, momentum
from biped.errors import InputError
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.metrics.kernels.support import CAPTURE, COP, FEET, XCOM, fill_series, gather_base
from biped.metrics.layout import Layout
from biped.metrics.runs import rows_of
from biped.model import Model
from biped.runs.recording import Recording
from biped.runs.row_layout import POSE, columns_of
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.world import Bodies, World
from biped.signals import Signal
from contact import ContactState
from contact.arrays import Floats
from controllers.kernels.stepping import SWINGS, UNLOADS
from experiments.visualization.viewer.scenery import Scenery, scenery_of
from experiments.visualization.viewer.snapshot import Snapshot, turned

#: Prefix of the columns of a thrown box.
PROJECTILE = "projectile"
#: [m] least height of the centre of mass for a capture region.
LOWEST = 0.05


@dataclass(frozen=True)
class PoseTrajectory:
    """Motion of a run with forces and marks, over time."""

    model: Model | Bodies  # model with its loads, or bodies
    scenery: Scenery
    rows: Snapshot  # one entry per recorded time along the arrays' first axis

    @property
    def times(self) -> Floats:
        """Times (rows,) [s], increasing."""
        return np.asarray(self.rows.time)

    @property
    def begins(self) -> float:
        return float(self.times[0])

    @property
    def ends(self) -> float:
        return float(self.times[-1])

    def row_at(self, time: float) -> int:
        """Return the number of the last row not after a time [s]; 0 before the first row."""
        if not math.isfinite(time):
            raise InputError(f"time = {time!r}: it must be a finite number of seconds")
        return max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)

    def at(self, time: float) -> Snapshot:
        """Return the snapshot at a time [s]; outside the recorded times, the first or the last row.

        Positions and orientations are interpolated between two rows; forces, contact states, base of support and CoP,
        which may jump, are taken from the earlier row.
        """
        k = self.row_at(time)
        after = min(k + 1, len(self.times) - 1)
        time = min(max(time, self.begins), self.ends)
        part = 0.0 if after == k else float((time - self.times[k]) / (self.times[after] - self.times[k]))

        def seen(item: Field[Any], values: Any) -> Any:
            between = item.metadata.get("between")
            return values[k] if between is None else between(values[k], values[after], part)

        return replace(Snapshot.of_each(seen, self.rows), time=time)


def trajectory_of(run: Run, disturbances: Sequence[Disturbance] | None = None) -> PoseTrajectory:
    """Return the poses of all bodies over time in a run and in the motion after its fall.

    Args:
        run: run to show.
        disturbances: disturbances of the run; None: those saved with it, of which a force that follows a signal has
            only beginning, end and impulse, so that the mean force is shown.

    Raises:
        InputError: the run has no rows, its columns are not those of its model, or it has no bodies to show.
    """
    frame = run.frame
    if not len(frame):
        raise InputError("the run has no rows: there is nothing to show")
    if run.world is not None:
        return _trajectory_of_bodies(run, run.world)
    model = run.state.model
    layout = Layout.of(model, list(frame.columns))
    names = [f"{PROJECTILE}_{part}" for part in POSE]
    projectile = frame[names].to_numpy(dtype=float) if names[0] in frame.columns else None
    scenery = scenery_of(model, run.disturbances)
    pushes = _saved_pushes(run) if disturbances is None else _pushes_among(disturbances)
    coordinates = frame[list(model.coordinate_names)].to_numpy(dtype=float)
    seen = _seen(layout, model, coordinates, rows_of(run), projectile, pushes, footholds=_footholds(frame))
    trajectory = PoseTrajectory(model, scenery, seen)
    return trajectory if run.after is None else _joined(trajectory, trajectory_of(run.after, disturbances))


def _footholds(frame: pd.DataFrame) -> Floats | None:
    """Return position and time (rows, 3) [m, m, s] of planned footholds, as recorded; NaN while no foot steps."""
    if "foothold_x" not in frame:
        return None
    steps = frame["step_phase"].isin([UNLOADS, SWINGS])
    return frame.reindex(columns=["foothold_x", "foothold_y", "foothold_time"]).where(steps).to_numpy(dtype=float)


def _trajectory_of_bodies(run: Run, world: World) -> PoseTrajectory:
    if world.bodies is None:
        raise InputError(f"{run.name!r} is {world.kind}: it has coordinates, but no bodies to show in space")
    return PoseTrajectory(world.bodies, Scenery(floor=world.bodies.floor), snapshots_of_bodies(run, world.bodies))


def touching_only(snapshot: Snapshot, count: int) -> Snapshot:
    """Return a snapshot, or rows, in which contact points after the first ``count`` are NaN without contact."""
    idle = snapshot.contact_mode == ContactState.NONE
    idle[..., :count] = False
    return replace(snapshot, contact_place=np.where(idle[..., np.newaxis], np.nan, snapshot.contact_place))


def _joined(before: PoseTrajectory, after: PoseTrajectory) -> PoseTrajectory:
    """Return the first trajectory up to the start of the second one, and then the second.

    Points that the first one lacks are NaN in it; in the second they are NaN unless they touch the floor.
    """
    kept, count = before.times < after.begins - 1e-9, before.rows.contact_place.shape[1]
    more = after.rows.contact_place.shape[1] - count
    ends = {
        "contact_place": np.full((len(before.times), more, 3), np.nan),
        "contact_force": np.zeros((len(before.times), more, 3)),
        "contact_mode": np.full((len(before.times), more), ContactState.NONE),
    }

    def joined(item: Field[Any], early: Any, late: Any) -> Any:
        early = np.concatenate([early, ends[item.name]], axis=1) if item.name in ends else early
        return np.concatenate([early[kept], late])

    return replace(before, rows=Snapshot.of_each(joined, before.rows, touching_only(after.rows, count)))


def snapshot_of(state: State, disturbances: Sequence[Disturbance] = (), latest: Recording | None = None) -> Snapshot:
    """Return the snapshot of a running simulation; pushes are means over the last step.

    A planned foothold is from the last row of ``latest``. The extrapolated centre of mass assumes a floor at rest, as
    one state does not contain its velocity.
    """
    model, arrays = state.model, state.arrays
    columns = columns_of(model, platform=state.floor is not None)
    layout = Layout.of(model, columns.names)
    places = layout.places
    row = np.full((1, len(columns.names)), np.nan)
    row[0, places.time] = state.time
    row[0, places.com : places.com + 3] = centre_of_mass(model, arrays.q)
    # The total momentum is in the root's if it floats; else it follows from the last step's rates.
    linear = arrays.momentum[:3] if model.is_floating else momentum(model, arrays.q, arrays.cache.rate).linear
    row[0, places.momentum : places.momentum + 3] = linear
    contact = forward_kinematics(model, arrays.q).contact
    for c, place in enumerate(places.contact):
        row[0, place : place + 7] = (arrays.contact_state[c], *arrays.force[c], *contact[c])
    if state.floor is not None:
        row[0, places.platform : places.platform + 7] = (*state.floor[0:3], *state.floor[12:16])
    projectile = None if state.projectile is None else state.projectile[np.newaxis, :7].copy()
    spans = np.array([state.time - float(arrays.clock[LAST_STEP_LENGTH]), state.time])
    pushes = _pushes_among(disturbances)
    footholds = None
    if latest is not None:
        footholds = _footholds(pd.DataFrame(latest.rows[-1:], columns=list(latest.columns.names)))
    seen = _seen(layout, model, arrays.q[np.newaxis].copy(), row, projectile, pushes, spans, footholds)
    return PoseTrajectory(model, scenery_of(model, disturbances), seen).at(state.time)


def _seen(
    layout: Layout,
    model: Model,
    coordinates: Floats,
    rows: Floats,
    projectile: Floats | None,
    pushes: Sequence[Push | Force],
    spans: Floats | None = None,
    footholds: Floats | None = None,
) -> Snapshot:
    """Return a snapshot of raw rows; a push is averaged between the times ``spans``, one more than rows."""
    places, count = layout.places, len(rows)
    time = rows[:, places.time].copy()
    motions = [forward_kinematics(model, q) for q in coordinates]
    position = np.array([motion.position for motion in motions])
    quaternion = np.array([motion.orientation for motion in motions])
    points = np.array([motion.contact for motion in motions])
    contact = np.stack([rows[:, p : p + 7] for p in places.contact], axis=1) if model.nc else np.zeros((count, 0, 7))
    series = np.empty((count, FEET + len(layout.feet)))
    fill_series(rows, places, layout.body(), layout.scratch(), series)
    platform = None if places.platform < 0 else rows[:, places.platform : places.platform + 7].copy()
    com = rows[:, places.com : places.com + 3].copy()
    flat = np.column_stack([series[:, COP : COP + 2], np.zeros(count)])
    com_on_floor, support = _on_floor(com[:, :2], platform), _support_polygons(layout, rows, platform)
    place, left = np.full((count, 2), np.nan), np.full(count, np.nan)
    if footholds is not None:
        place, left = footholds[:, :2], np.maximum(footholds[:, 2] - time, 0.0)
    capture = _on_floor(series[:, CAPTURE : CAPTURE + 2], platform)
    high = com[:, 2] - com_on_floor[:, 2]
    bodies = np.array([model.body_index(push.body) for push in pushes], dtype=np.int64)
    offsets = np.array([push.point for push in pushes], dtype=float).reshape(-1, 3)
    return Snapshot(
        time=time,  # type: ignore[arg-type]  # one entry per row
        position=position,
        quaternion=quaternion,
        contact_place=contact[:, :, 4:7] if model.nc else points,
        contact_force=contact[:, :, 1:4],
        contact_mode=contact[:, :, 0].astype(np.int64),
        com=com,
        com_on_floor=com_on_floor,
        xcom=_on_floor(series[:, XCOM : XCOM + 2], platform),
        foothold=_on_floor(place, platform),
        capture=_capture_regions(capture, -model.gravity[2], high, left, support),
        cop=flat if platform is None else platform[:, :3] + turned(platform[:, 3:], flat),
        support=support,
        platform=platform,
        projectile=projectile,
        push_body=np.tile(bodies, (count, 1)),
        push_place=position[:, bodies] + turned(quaternion[:, bodies], offsets),
        push_force=_push_forces(pushes, np.append(time, time[-1]) if spans is None else spans),
    )


def _support_polygons(layout: Layout, rows: Floats, platform: Floats | None) -> Any:
    """Return, for each row, an array of the corners of the base of support on the floor."""
    polygons, scratch = np.empty(len(rows), dtype=object), layout.scratch()
    for k, row in enumerate(rows):
        corners = gather_base(row, layout.places, scratch) if len(layout.places.contact) else 0
        floor = None if platform is None else np.tile(platform[k], (corners, 1))
        polygons[k] = _on_floor(scratch.hull[:corners], floor)
    return polygons


def _capture_regions(capture: Floats, gravity: float, high: Floats, left: Floats, support: Any) -> Any:
    """Return, for each row, the corners of the region of the XCoM at landing, ``left`` [s] later; none without a step.

    From a centre of pressure p it moves to p + (ξ − p) e^{ωT} (Koolen et al. 2012); a foot that lands near it stops
    it. For all p in the base of support the result is a similar polygon, rotated by half a turn.
    """
    regions = _no_polygons(len(left))
    for k in np.flatnonzero(np.isfinite(left) & (high > LOWEST)):
        growth = math.exp(math.sqrt(gravity / high[k]) * left[k])
        regions[k] = capture[k] + (growth - 1.0) * (capture[k] - support[k])
    return regions


def _no_polygons(count: int) -> Any:
    """Return arrays (count,) without corners."""
    polygons = np.empty(count, dtype=object)
    polygons[:] = [np.zeros((0, 3))] * count
    return polygons


def _on_floor(places: Floats, platform: Floats | None) -> Floats:
    """Return the floor's points (rows, 3) at positions (rows, 2) in top view."""
    if platform is None:
        return np.column_stack([places, np.zeros(len(places))])
    normal = turned(platform[:, 3:], np.array([0.0, 0.0, 1.0]))
    away = places - platform[:, :2]
    height = platform[:, 2] - np.sum(normal[:, :2] * away, axis=1) / normal[:, 2]
    return np.column_stack([places, height])


def _push_forces(pushes: Sequence[Push | Force], spans: Floats) -> Floats:
    """Return the mean force (rows, pushes, 3) [N] of each push over each span: exact impulse / duration."""
    length = np.diff(spans)
    forces = np.zeros((len(length), len(pushes), 3))
    for j, push in enumerate(pushes):
        given = np.diff(push.given(spans))
        size = np.divide(given, length, out=np.zeros_like(given), where=length > 0.0)
        forces[:, j] = size[:, np.newaxis] * push.unit
    return forces


def _pushes_among(disturbances: Sequence[Disturbance]) -> list[Push | Force]:
    return [d for d in disturbances if isinstance(d, (Push, Force))]


def _saved_pushes(run: Run) -> list[Push | Force]:
    """Return the pushes and forces in a saved run; a force that follows a signal becomes its mean."""
    pushes: list[Push | Force] = []
    delivered = run.events[run.events["kind"] == "push"]
    for acted in run.disturbances:
        saved = {name: value for name, value in acted.items() if name != "kind"}
        if acted["kind"] == "push":
            saved |= {name: tuple(saved[name]) for name in ("direction", "point")}
            pushes.append(Push(**saved))
        elif acted["kind"] == "force":
            begins, ends = acted["signal"]["begins"], acted["signal"]["ends"]
            force = Force(acted["body"], tuple(acted["direction"]), Signal.rectangle(1.0, begins, ends - begins))
            start = max(begins, float(run.frame["time"].iloc[0]))
            given = delivered[(delivered["subject"] == acted["body"]) & np.isclose(delivered["time"], start)]
            impulse = given[["impulse_x", "impulse_y", "impulse_z"]].to_numpy(dtype=float)
            # If several forces on a body start together, take the impulse along the direction of this force.
            along = [float(vector @ force.unit) for vector in impulse if np.allclose(np.cross(vector, force.unit), 0.0)]
            mean = along[0] / (min(ends, float(run.frame["time"].iloc[-1])) - start) if along else 0.0
            signal = Signal.rectangle(mean, begins, ends - begins)
            pushes.append(Force(force.body, force.direction, signal, tuple(acted["point"])))
    return pushes


#: [N] smallest contact force of a point that counts as touching.
LEAST_FORCE = 1e-9


def snapshots_of_bodies(run: Run, bodies: Bodies) -> Snapshot:
    """Return the rows of a run of bodies: poses, the forces of planes on points, and the centre of mass."""
    position = np.stack([_columns(run, f"{name}_", "xyz") for name in bodies.body_names], axis=1)
    quaternion = np.stack([_columns(run, f"{name}_q", "wxyz") for name in bodies.body_names], axis=1)
    place, force = (np.stack(list(parts), axis=1) if bodies.contact_points else np.zeros((len(run.frame), 0, 3))
                    for parts in (_places(bodies, position, quaternion), _forces(run, bodies)))  # fmt: skip
    pressed = np.linalg.norm(force, axis=2) > LEAST_FORCE
    com = np.einsum("b,tbk->tk", bodies.masses, position) / sum(bodies.masses)
    nowhere, count = np.full((len(com), 3), np.nan), len(com)
    return Snapshot(
        time=run.frame["time"].to_numpy(dtype=float),  # type: ignore[arg-type]  # one entry per row
        position=position,
        quaternion=quaternion,
        contact_place=place,
        contact_force=force,
        contact_mode=np.where(pressed, ContactState.STICKING, ContactState.NONE).astype(np.int64),
        com=com,
        com_on_floor=com * (1.0, 1.0, 0.0),
        xcom=nowhere,
        foothold=nowhere,
        capture=_no_polygons(count),  # one array per row
        cop=nowhere,
        support=_no_polygons(count),
        platform=None,
        projectile=None,
        push_body=np.zeros((count, 0), dtype=np.int64),
        push_place=np.zeros((count, 0, 3)),
        push_force=np.zeros((count, 0, 3)),
    )


def _columns(run: Run, prefix: str, parts: str) -> Floats:
    return run.frame[[f"{prefix}{part}" for part in parts]].to_numpy(dtype=float)


def _places(bodies: Bodies, position: Floats, quaternion: Floats) -> Iterator[Floats]:
    for contact in bodies.contact_points:
        i = bodies.body_names.index(contact.body)
        yield position[:, i] + turned(quaternion[:, i], np.array(contact.point))


def _forces(run: Run, bodies: Bodies) -> Iterator[Floats]:
    for contact in bodies.contact_points:
        parts = run.frame[[f"{contact.name}_{part}" for part in ("normal", "tangent_1", "tangent_2")]]
        yield parts.to_numpy(dtype=float) @ np.array(contact.frame)
