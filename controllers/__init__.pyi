from .gains import load_gains, save_gains
from .held_joints import HeldJoints
from .impedance import JointImpedance
from .joint_pd import JointPD
from .law import control
from .workspace import WorkspaceController, WorkspaceGains

__all__ = [
    "HeldJoints",
    "JointImpedance",
    "JointPD",
    "WorkspaceController",
    "WorkspaceGains",
    "control",
    "load_gains",
    "save_gains",
]
