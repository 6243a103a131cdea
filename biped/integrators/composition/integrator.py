"""Symmetric compositions of a symmetric integrator: orders 4, 6 and 8 for smooth motion."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.errors import InputError
from biped.inputs.fields import like, quantity
from biped.integrators.composition import kernels
from biped.integrators.composition.weights import SCHEMES, Scheme
from biped.integrators.integrator import Integrator
from biped.integrators.newton_settings import SolverSettings
from biped.integrators.registry import INTEGRATORS
from biped.kernels.state.checkpoint import new_checkpoint
from biped.kernels.state.method import Variational
from biped.kernels.variational.newton import ArticulatedNewton
from biped.model import Model


@dataclass(frozen=True)
class Composition(SolverSettings):
    """One step as several of a symmetric variational integrator, some of them backwards in time.

    For smooth phases. Its order is lost where forces are not smooth, so that it takes no contact points. In the
    steps back dampers run backwards too: the step is limited to about the time in which they act, where a plain
    variational step has no limit. What it conserves is what its base conserves. ``SolverSettings`` documents
    the other settings; the tolerance is that of each part.

    Raises:
        InputError: there is no such scheme, or a value is out of range; on use, the base cannot be composed.
    """

    symmetric: ClassVar[bool] = True
    conserves_energy: ClassVar[bool] = False
    takes_contact: ClassVar[bool] = False
    takes_moving_floor: ClassVar[bool] = False
    takes_passive_joints: ClassVar[bool] = False

    tolerance: float = like(SolverSettings, "tolerance", 1e-12)
    scheme: str = quantity("", "Composition: lengths of its parts", "kahan-li-6")
    base: str = quantity(
        "", "Composition: integrator that its parts are steps of, with its default settings", "recursive"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheme not in SCHEMES:
            raise InputError(f"integrator.scheme = {self.scheme!r}: it must be one of {', '.join(SCHEMES)}")

    @property
    def name(self) -> str:
        """That of the scheme."""
        return self.scheme

    @property
    def paper(self) -> str:
        """That of the scheme."""
        return self._parts.paper

    @property
    def order(self) -> int:
        """Of the error in the step, in smooth motion."""
        return self._parts.order

    @property
    def coordinates(self) -> str:
        """Those of the base."""
        return self._base.coordinates

    @property
    def symplectic(self) -> bool:
        """If the base is."""
        return self._base.symplectic

    @property
    def conserves_momentum(self) -> bool:
        """If the base does."""
        return self._base.conserves_momentum

    @property
    def takes_helical_joints(self) -> bool:
        """If the base does."""
        return self._base.takes_helical_joints

    @property
    def cost(self) -> str:
        """So many steps of the base."""
        return f"{len(self._parts.weights)} × {self._base.cost}"

    def method(self, model: Model) -> kernels.Composition:
        """What the kernels step a tree by.

        Raises:
            InputError: the base is not symmetric, or not variational.
        """
        inner = self._base.method(model)
        if not (self._base.symmetric and isinstance(inner, Variational)):
            raise InputError(
                f"integrator.base = {self.base!r}: only symmetric variational integrators can be composed, "
                f"such as 'recursive'"
            )
        root_finder = (
            kernels.ScaledArticulatedNewton() if isinstance(inner.root_finder, ArticulatedNewton) else inner.root_finder
        )
        part = inner._replace(root_finder=root_finder, solver=self.solver)
        before = new_checkpoint(model.nq, model.nv, model.nc)
        return kernels.Composition(part, self.solver, np.array(self._parts.weights), before, np.zeros(model.nv))

    @property
    def _parts(self) -> Scheme:
        return SCHEMES[self.scheme]

    @property
    def _base(self) -> Integrator:
        if self.base not in INTEGRATORS:
            raise InputError(f"integrator.base = {self.base!r}: it must be an integrator, such as 'recursive'")
        return INTEGRATORS[self.base]


#: One of each scheme.
COMPOSITIONS: tuple[Composition, ...] = tuple(Composition(scheme=name) for name in SCHEMES)
