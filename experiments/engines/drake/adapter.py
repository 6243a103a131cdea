"""Drake behind the adapter of engines."""

from dataclasses import dataclass

from biped.disturbances import Throw
from biped.extras import need
from experiments.engines.drake.contact import DEFAULT_RELAXATION, IMPACT, block_contact, thrown_back
from experiments.engines.drake.plant import build
from experiments.engines.drake.simulation import DrakeSimulation
from experiments.engines.engine import Case, Engine, Simulation, VendorDefaults


@dataclass(frozen=True)
class Drake(Engine):
    """Drake's discrete plant with its settings; soles are spheres of 1 µm at the contact points."""

    name = "drake"
    title = "Drake"
    package = "pydrake"
    distribution = "drake"
    velocity_offset = 0.5

    #: of contact: sap, with a linear spring and damper; similar or lagged, with the law of Hunt and Crossley. (Drake's
    #: fourth, tamsi, is deprecated.)
    approximation: str = "sap"
    contact: str = "matched"  # "matched" to our floor's stiffness and damping, or "default"

    @property
    def vendor_defaults(self) -> VendorDefaults:
        return VendorDefaults(
            Drake("lagged", "default"),
            1e-3,
            "Drake's defaults: discrete, lagged, 1 ms, point stiffness, dissipation and stiction tolerance its own; "
            "spheres at the contact points",
        )

    def differences(self, case: Case) -> tuple[str, ...]:
        found = [self._normal(case), self._friction(case)]
        if case.throw is not None:
            found.append(self._impact(case.throw, case.step))
        if any(body.joint.kind == "spherical" for body in case.model.bodies):
            found.append("spherical joints have three angles, singular where the middle one is ±90°")
        return tuple(found)

    def start(self, case: Case) -> Simulation:
        need("pydrake")
        self.check_choices(approximation=("sap", "similar", "lagged"), contact=("matched", "default"))
        return DrakeSimulation(case, build(case, self.approximation, self.contact == "matched"))

    def _normal(self, case: Case) -> str:
        if self.contact == "default":
            return "Drake's contacts are its defaults, not our floor's spring and damper"
        if self.approximation == "sap":
            return (
                "the normal force is our floor's spring and damper, taken at the end of each step, not in its middle: "
                f"{1e2 * case.step * case.floor.k_n / max(case.floor.b_n, 1e-9):.2g} % more damping"
            )
        return (
            "damping grows with penetration (Hunt and Crossley): it is our floor's where all points carry equal shares "
            "of the weight, less in a point that carries less"
        )

    def _friction(self, case: Case) -> str:
        one = f"one coefficient of friction, {case.floor.mu_s:g}, and no tangential spring"
        if self.approximation == "sap":
            tau = case.floor.b_n / case.floor.k_n if self.contact == "matched" else DEFAULT_RELAXATION
            glide = 1e3 * (tau + case.step) * case.floor.mu_s * 0.1
            return (
                f"{one}: points under load creep, and those that slide are lifted, by {glide:.2g} mm at 0.1 m/s, which "
                "is how sap makes friction convex; where that is more than they are deep, they chatter"
            )
        tolerance = case.floor.stiction_velocity if self.contact == "matched" else 1e-4
        return f"{one}: points creep at up to {tolerance:g} m/s, the stiction tolerance, before they slide"

    def _impact(self, throw: Throw, step: float) -> str:
        edges = "boxes touch in one point at a time, which may be the end of an edge"
        if self.contact == "default":
            return f"the block's contact is Drake's default, which knows no restitution; {edges}"
        law = "spring and damper" if self.approximation == "sap" else "Hunt-Crossley contact"
        attained = thrown_back(block_contact(throw, step), self.approximation, throw, step)
        return (
            f"Drake has no restitution: the block's contact is a {law} of {1e3 * IMPACT:g} ms, which in steps of "
            f"{1e3 * step:g} ms throws it back from a wall with {attained:.2f}, not {throw.restitution:g}; {edges}"
        )
