"""Visuals: surfaces of bodies for drawing, without mechanical effect."""

from dataclasses import dataclass
from typing import Literal, get_args

from biped.model.errors import ModelError, unknown
from biped.model.geometry import IDENTITY, Matrix3, Vector3, name_of, rotation3, vector3

Form = Literal["box", "sphere", "cylinder", "capsule", "mesh"]
FORMS: tuple[str, ...] = get_args(Form)


@dataclass(frozen=True)
class Visual:
    """A shape fixed to a body, for drawing only.

    Attributes:
        body: name of the body.
        form: ``"box"``, ``"sphere"``, ``"cylinder"``, ``"capsule"`` or ``"mesh"``.
        size: [m] edges of the bounding box; a cylinder or capsule has its axis along z. For a mesh: scale factors from
            the file's coordinates to metres, negative to mirror it.
        center: [m] position of the form's centre, or of a mesh's origin, in the body's link frame.
        rotation: (3, 3) rotation from the form's axes to the axes of the link frame.
        color: (red, green, blue), each from 0 to 1; None: the colour in a mesh's file, or a default colour.
        file: path of a mesh's file; empty for other forms.

    Raises:
        ModelError: the form is unknown, a mesh has no file, an edge is not positive, ``rotation`` is not a rotation, or
            a number is not finite.
    """

    body: str
    form: Form
    size: Vector3 = (1.0, 1.0, 1.0)
    center: Vector3 = (0.0, 0.0, 0.0)
    rotation: Matrix3 = IDENTITY
    color: Vector3 | None = None
    file: str = ""

    def __post_init__(self) -> None:
        name_of(self.body, "a visual: the body")
        what = f"visual on {self.body!r}:"
        if self.form not in FORMS:
            raise ModelError(f"{what} {unknown('form', self.form, FORMS)}")
        if (self.form == "mesh") != bool(self.file):
            raise ModelError(f"{what} form = {self.form!r}, file = {self.file!r}: a mesh has a file, other forms none")
        object.__setattr__(self, "size", vector3(self.size, f"{what} size"))
        if not all(edge > 0.0 if self.form != "mesh" else edge for edge in self.size):
            raise ModelError(f"{what} size = {self.size}: edges must be above zero, a mesh's factors not zero")
        object.__setattr__(self, "center", vector3(self.center, f"{what} center"))
        object.__setattr__(self, "rotation", rotation3(self.rotation, f"{what} rotation"))
        if self.color is not None:
            object.__setattr__(self, "color", vector3(self.color, f"{what} color"))
