from .gains import load_gains, save_gains
from .impedance import JointImpedance
from .joint_pd import JointPD
from .workspace import WorkspaceController, WorkspaceGains

__all__ = [
    "JointImpedance",
    "JointPD",
    "WorkspaceController",
    "WorkspaceGains",
    "load_gains",
    "save_gains",
]
