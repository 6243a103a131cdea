"""Kinds of rows; ``biped.kernels.tree.joint_rows`` has their formulas."""

TRANSLATION = 0  # coordinate of the outboard point along an axis of the inboard body [m]
TWIST = 1  # twice a component of the relative quaternion's vector
PERPENDICULAR = 2  # cosine between an axis of the inboard and one of the outboard body
ANGLE = 3  # [rad] relative turn about an axis, continuous over turns
AZIMUTH = 4  # [rad] angle of an outboard axis about an inboard one, continuous over turns
COUNTER_AZIMUTH = 5  # [rad] minus the angle of an inboard axis about an outboard one, continuous over turns
HELIX = 6  # a translation less pitch times the angle about the same axis [m]
