"""Joints that Pinocchio has as one, and that are several on one body: each becomes a joint of its own.

Between them stand links without mass, as in the file's own meaning.
"""

from typing import Any

_COMPOSITE = "JointModelComposite"
_UNIVERSAL = "JointModelUniversal"
#: Along all degrees of freedom or coordinates; both are in the same order in the two models.
_ARRAYS = (
    "lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit", "damping", "friction", "armature",
    "rotorInertia", "rotorGearRatio",
)  # fmt: skip


def taken_apart(model: Any) -> Any:
    """A Pinocchio model whose composite joints are split into ``NAME_1``, ``NAME_2``, …; all else is unchanged."""
    import pinocchio as pin

    if not any(joint.shortname() in (_COMPOSITE, _UNIVERSAL) for joint in model.joints[1:]):
        return model
    result = pin.Model()
    result.name, result.gravity = model.name, model.gravity
    rows = {0: 0}
    for i in range(1, model.njoints):
        rows[i] = _add(result, rows[model.parents[i]], model, i)
        result.addJointFrame(rows[i])
        result.appendBodyToJoint(rows[i], model.inertias[i], pin.SE3.Identity())
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY:
            result.addFrame(pin.Frame(frame.name, rows[frame.parentJoint], frame.placement, frame.type))
    for array in _ARRAYS:
        getattr(result, array)[:] = getattr(model, array)
    return result


def _add(result: Any, parent: int, model: Any, i: int) -> int:
    """Joint i of ``model``, in parts if it is composite; the row of the last."""
    import pinocchio as pin

    name, joint, place = model.names[i], model.joints[i], model.jointPlacements[i]
    if joint.shortname() not in (_COMPOSITE, _UNIVERSAL):
        return int(result.addJoint(parent, joint, place, name))
    whole = joint.extract() if joint.shortname() == _COMPOSITE else _of_hinges(joint.extract())
    for k, (part, at) in enumerate(zip(whole.joints, whole.jointPlacements, strict=True), start=1):
        parent = int(result.addJoint(parent, part, place * at, f"{name}_{k}"))
        place = pin.SE3.Identity()
    return parent


def _of_hinges(joint: Any) -> Any:
    """A universal joint as a composite of its two hinges."""
    import pinocchio as pin

    parts = pin.JointModelComposite()
    for axis in (joint.axis1, joint.axis2):
        parts.addJoint(pin.JointModelRevoluteUnaligned(axis), pin.SE3.Identity())
    return parts
