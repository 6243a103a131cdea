"""Kinds of rows; ``biped.kernels.tree.joint_rows`` has their formulas."""

TRANSLATION = 0  # how far the outboard point is along an axis of the inboard body [m]
TWIST = 1  # twice a component of the relative quaternion's vector
PERPENDICULAR = 2  # cosine between an axis of the inboard and one of the outboard body
ANGLE = 3  # [rad] of the relative turn about an axis, counted on over turns
AZIMUTH = 4  # [rad] of an outboard axis about an inboard one, counted on over turns
COUNTER_AZIMUTH = 5  # [rad] of the turn about an outboard axis, by an inboard one that it moves, counted on over turns
HELIX = 6  # a translation less pitch times the angle about the same axis [m]
