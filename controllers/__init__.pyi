from .computed_torque import ComputedTorque
from .cone_workspace import ConeWorkspaceController
from .gains import load_gains, save_gains
from .held_joints import HeldJoints
from .impedance import JointImpedance
from .joint_pd import JointPD
from .kernels.joint_pd import PdLaw, ServoLaw
from .law import control
from .lqr import LQR
from .person import Person
from .postural import Postural
from .reweighting import Reweighting
from .set_point import SetPointMotion, SetPointPath
from .stepping import BackwardSteps, LateralSteps, Stepping, StepTasks
from .whole_body import WholeBodyController
from .workspace import WorkspaceController, WorkspaceGains

__all__ = [
    "LQR", "BackwardSteps", "ComputedTorque", "ConeWorkspaceController", "HeldJoints", "JointImpedance", "JointPD",
    "LateralSteps", "PdLaw", "Person", "Postural", "Reweighting", "ServoLaw", "SetPointMotion", "SetPointPath",
    "StepTasks", "Stepping", "WholeBodyController", "WorkspaceController", "WorkspaceGains", "control", "load_gains",
    "save_gains",
]  # fmt: skip
