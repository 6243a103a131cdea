"""What is seen over time of a run of bodies with poses of their own."""

from collections.abc import Iterator

import numpy as np

from biped.runs.run import Run
from biped.runs.world import Bodies
from contact import ContactState
from contact.arrays import Floats
from experiments.visualization.viewer.snapshot import Snapshot, turned

#: [N] a smaller force is none.
LEAST_FORCE = 1e-9


def seen_of_bodies(run: Run, bodies: Bodies) -> Snapshot:
    """The rows of a run: poses, the forces of planes on points, and the centre of mass."""
    position = np.stack([_columns(run, f"{name}_", "xyz") for name in bodies.body_names], axis=1)
    quaternion = np.stack([_columns(run, f"{name}_q", "wxyz") for name in bodies.body_names], axis=1)
    place, force = (np.stack(list(parts), axis=1) if bodies.contact_points else np.zeros((len(run.frame), 0, 3))
                    for parts in (_places(bodies, position, quaternion), _forces(run, bodies)))  # fmt: skip
    pressed = np.linalg.norm(force, axis=2) > LEAST_FORCE
    com = np.einsum("b,tbk->tk", bodies.masses, position) / sum(bodies.masses)
    nowhere, count = np.full((len(com), 3), np.nan), len(com)
    support = np.empty(count, dtype=object)
    support[:] = [np.zeros((0, 3))] * count
    return Snapshot(
        time=run.frame["time"].to_numpy(dtype=float),  # type: ignore[arg-type]  # of rows: all of them
        position=position,
        quaternion=quaternion,
        contact_place=place,
        contact_force=force,
        contact_mode=np.where(pressed, ContactState.STICKING, ContactState.NONE).astype(np.int64),
        com=com,
        com_on_floor=com * (1.0, 1.0, 0.0),
        xcom=nowhere,
        cop=nowhere,
        support=support,  # of rows: arrays of as many corners as there are
        platform=None,
        projectile=None,
        push_body=np.zeros((count, 0), dtype=np.int64),
        push_place=np.zeros((count, 0, 3)),
        push_force=np.zeros((count, 0, 3)),
    )


def _columns(run: Run, prefix: str, parts: str) -> Floats:
    return run.frame[[f"{prefix}{part}" for part in parts]].to_numpy(dtype=float)


def _places(bodies: Bodies, position: Floats, quaternion: Floats) -> Iterator[Floats]:
    for one in bodies.contact_points:
        i = bodies.body_names.index(one.body)
        yield position[:, i] + turned(quaternion[:, i], np.array(one.point))


def _forces(run: Run, bodies: Bodies) -> Iterator[Floats]:
    for one in bodies.contact_points:
        parts = run.frame[[f"{one.name}_{part}" for part in ("normal", "tangent_1", "tangent_2")]]
        yield parts.to_numpy(dtype=float) @ np.array(one.frame)
