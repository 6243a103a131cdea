"""Springs between points of bodies."""

from dataclasses import dataclass

from biped.kernels.tree import row_kinds as kinds
from biped.model.geometry import Quaternion, Vector3, name_of, vector3
from biped.model.joint_rows import Row
from formulations.assembly.errors import AssemblyError
from formulations.assembly.joint import Freedom

_ZERO: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Spring:
    """Spring and damper along the line between two points; the length is a coordinate with the spring's name.

    Attributes:
        name: unique among the springs and joints of an assembly.
        inboard: a body; None is the ground.
        outboard: another one.
        stiffness: [N/m] Its force is that at the start of a step, so that h² k must stay below the moving mass.
        rest: [m] length without force.
        damping: [N·s/m]
        inboard_point: (3,) [m] from the inboard body's centre of mass, its axes; on the ground from the origin.
        outboard_point: (3,) [m] from the outboard body's centre of mass, its axes.

    Raises:
        AssemblyError: both bodies are the same, or a number is not finite or is negative.
        ModelError: a point is not finite.
    """

    name: str
    inboard: str | None
    outboard: str
    stiffness: float
    rest: float = 0.0
    damping: float = 0.0
    inboard_point: Vector3 = _ZERO
    outboard_point: Vector3 = _ZERO

    def __post_init__(self) -> None:
        name_of(self.name, "a spring")
        what = f"spring {self.name!r}:"
        if self.inboard == self.outboard:
            raise AssemblyError(f"{what} it joins body {self.outboard!r} to itself; inboard must be another, or None")
        for field in ("inboard_point", "outboard_point"):
            object.__setattr__(self, field, vector3(getattr(self, field), f"{what} {field}"))
        try:
            _ = self.freedoms
        except AssemblyError as error:
            raise AssemblyError(f"{what} {error}") from error
        if self.rest < 0.0:
            raise AssemblyError(f"{what} rest = {self.rest!r}: a length is zero or above")

    # --- as a joint that holds nothing has them ---

    @property
    def freedoms(self) -> tuple[Freedom]:
        """Freedom along the spring's length."""
        return (Freedom(self.stiffness, self.rest, self.damping),)

    @property
    def free_rows(self) -> tuple[Row]:
        """Its length; kernels of their own find it (``formulations.assembly.kernels.links``)."""
        return (Row(kinds.TRANSLATION, (0.0, 0.0, 1.0)),)

    @property
    def rigid_rows(self) -> tuple[Row, ...]:
        """Rigid rows: none."""
        return ()

    @property
    def alignment(self) -> Quaternion:
        """Alignment: identity, as a spring holds no rotation."""
        return (1.0, 0.0, 0.0, 0.0)

    @property
    def coordinate_names(self) -> tuple[str]:
        """Its own name."""
        return (self.name,)

    @property
    def units(self) -> tuple[str]:
        """Unit of the length."""
        return ("m",)
