"""Push the standing human in the back, and see whether it keeps its balance."""

from biped import Fall, Push, State, human, simulate
from controllers import WorkspaceController

# The standing posture of Wendlandt (1997): bent knees keep the legs away from their singularity.
model = human()
bend = {"hip_pitch": 0.42, "knee_pitch": -0.84, "ankle_pitch": 0.42}
angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in bend.items()}
start = State.at(model, model.configuration(position=(0.0, 0.0, 1.155), angles=angles))

controller = WorkspaceController(target_position=(-0.01, 0.0, 1.14))
for impulse in (5.0, 10.0, 20.0, 40.0):
    push = Push("trunk", direction=(-1.0, 0.0, 0.0), impulse=impulse, start=1.0, duration=0.1, waveform="half-sine")
    run = simulate(model, controller, state=start, disturbances=[push], duration=4.0, fall=Fall())
    print(f"{impulse:4.0f} N·s: {run.verdict_line}, foot slid {1e3 * run.summary['foot_slip']:.1f} mm")
