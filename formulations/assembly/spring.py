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
    """Spring and damper along the line between two points; its length is a coordinate with the spring's name.

    Attributes:
        name: name, unique among the springs and joints of an assembly.
        inboard: name of a body; None: the ground.
        outboard: name of another body.
        stiffness: [N/m] k. A time step h uses the force at its start, so h² k must be less than the moving mass.
        rest: [m] length at which the spring has no force.
        damping: [N·s/m] damping constant.
        inboard_point: (3,) [m] end on the inboard body, from its centre of mass, in its axes; ground: in the world.
        outboard_point: (3,) [m] end on the outboard body, from its centre of mass, in its axes.

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
            raise AssemblyError(f"{what} inboard = outboard = {self.inboard!r}: give two bodies (None: the ground)")
        for field in ("inboard_point", "outboard_point"):
            object.__setattr__(self, field, vector3(getattr(self, field), f"{what} {field}"))
        try:
            _ = self.freedoms
        except AssemblyError as error:
            raise AssemblyError(f"{what} {error}") from error
        if self.rest < 0.0:
            raise AssemblyError(f"{what} rest = {self.rest!r}: the rest length must be zero or above [m]")

    # --- as a joint that holds nothing has them ---

    @property
    def freedoms(self) -> tuple[Freedom]:
        """Freedom along the spring's length."""
        return (Freedom(self.stiffness, self.rest, self.damping),)

    @property
    def free_rows(self) -> tuple[Row]:
        """Row of the spring's length; separate kernels compute it (``formulations.assembly.kernels.links``)."""
        return (Row(kinds.TRANSLATION, (0.0, 0.0, 1.0)),)

    @property
    def rigid_rows(self) -> tuple[Row, ...]:
        """Constraints: none, since a spring holds nothing rigidly."""
        return ()

    @property
    def alignment(self) -> Quaternion:
        """Identity quaternion, since a spring holds no rotation."""
        return (1.0, 0.0, 0.0, 0.0)

    @property
    def coordinate_names(self) -> tuple[str]:
        """Name of the length's coordinate: the spring's name."""
        return (self.name,)

    @property
    def units(self) -> tuple[str]:
        """Unit of the length: m."""
        return ("m",)
