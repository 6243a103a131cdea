"""Stand by joint springs and dampers, which the integrator solves within its steps, also with steps of 2 ms."""

from biped import Fall, Push, human, simulate
from controllers import JointImpedance

model = human()
ankles = {"left_ankle_pitch": 2000.0, "right_ankle_pitch": 2000.0}
stiffness = dict.fromkeys(model.joint_names, 1000.0) | ankles
push = Push("trunk", direction=(0.0, 1.0, 0.0), impulse=10.0, start=0.5)
for step in (0.5e-3, 1e-3, 2e-3):
    run = simulate(
        model, JointImpedance(stiffness, damping=50.0), disturbances=[push], step=step, duration=3.0, fall=Fall()
    )
    print(f"h = {1e3 * step:.1f} ms: {run.verdict_line}, {run.summary['newton_mean']:.2f} iterations per step")
