"""All figures of a run: which there are, what each needs, and the files they go into."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from biped.control.controller import SetPoint
from biped.runs.run import Run
from experiments.catalogue.figure_names import file_name
from experiments.visualization.figures import body, contacts, joints, ledger, overview, wrench
from experiments.visualization.figures.style import STYLE
from experiments.visualization.figures.subject import Subject, subject_of

Draw = Callable[[Subject], Figure]


@dataclass(frozen=True)
class Plate:
    """One kind of figure."""

    kind: str  # its name, one of ``names.KINDS``
    draw: Draw  # draws it
    applies: Callable[[Subject], bool]  # whether a run has what it shows
    #: whether it is drawn for every run that it applies to, or only where the experiment asks for it
    general: bool = True


def _floats(subject: Subject) -> bool:
    return subject.has(*body.POSITION, *body.ORIENTATION)


def _has_set_point(subject: Subject) -> bool:
    return subject.set_point is not None and _floats(subject)


def _has_joints(subject: Subject) -> bool:
    return bool(joints.panels_of(subject, "torque"))


def _touches(subject: Subject) -> bool:
    return subject.model.nc > 0


PLATES = (
    Plate("overview", overview.overview, _floats),
    Plate("joint-angles", joints.joint_angles, _has_joints),
    Plate("joint-torques", joints.joint_torques, _has_joints),
    Plate("body-position", body.body_position, lambda s: _floats(s) and _has_joints(s)),
    Plate("body-orientation", body.body_orientation, lambda s: _floats(s) and _has_joints(s)),
    Plate("position-error", body.position_error, _has_set_point),
    Plate("orientation-error", body.orientation_error, _has_set_point),
    Plate("desired-force", wrench.desired_force, lambda s: s.has(*wrench.FORCE)),
    Plate("desired-torque", wrench.desired_torque, lambda s: s.has(*wrench.TORQUE)),
    Plate("centre-of-mass", body.centre_of_mass, lambda s: s.has("com_x"), general=False),
    Plate("quaternion", body.quaternion, _floats, general=False),
    Plate("friction-states", contacts.friction_states, _touches, general=False),
    Plate("newton-iterations", ledger.newton_iterations, lambda _: True, general=False),
    Plate("contact-modes", contacts.contact_modes, _touches),
    Plate("ledger", ledger.ledger, lambda _: True),
    Plate("momentum", ledger.momentum, lambda s: _floats(s) and not _touches(s)),
)


def draw_figures(
    run: Run,
    folder: str | Path,
    set_point: SetPoint | None = None,
    numbers: Mapping[str, str] | None = None,
    name: str = "",
) -> list[Path]:
    """Draw all figures that a run has something to show in.

    Args:
        run: the run, with at least two rows.
        folder: where the PNG files go; it must exist.
        set_point: where the root was to be; without it there are no figures of errors.
        numbers: by kind, the numbers of the figures in a publication that they correspond to.
        name: what the overview is titled with.

    Returns:
        The files.

    Raises:
        OSError: a file cannot be written.
    """
    numbers = numbers or {}
    if len(run.frame) < 2:
        return []
    subject = subject_of(run, set_point, name)
    files = []
    with matplotlib.rc_context(STYLE):
        for plate in PLATES:
            if (plate.general or plate.kind in numbers) and plate.applies(subject):
                path = Path(folder) / file_name(plate.kind, numbers)
                plate.draw(subject).savefig(path)
                files.append(path)
    return files
