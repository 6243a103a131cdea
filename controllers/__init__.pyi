from controllers.gains import load_gains as load_gains
from controllers.gains import save_gains as save_gains
from controllers.impedance import JointImpedance as JointImpedance
from controllers.joint_pd import JointPD as JointPD
from controllers.workspace import WorkspaceController as WorkspaceController
from controllers.workspace import WorkspaceGains as WorkspaceGains
